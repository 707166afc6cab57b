"""What is trained on a corpus: networks on all of it, on parts of it without patterns, and InferSent debiased."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goldassay.papers.recipe import Training
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# As the printed tables call them.
ALL, DEBIAS, RANDOM = "all", "debias", "rand"
NETWORKS = {"InferSent": "infersent", "DAM": "dam", "ESIM": "esim"}
DEBIASED = "InferSent"

GUIDED, ADVERSARIAL = f"{DEBIASED}+Guidance", f"d{DEBIASED}"
ADVERSARIAL_GUIDED = f"{ADVERSARIAL}+Guidance"
REWEIGHTED = f"{ADVERSARIAL_GUIDED}+Reweight"
PRODUCT, MIXIN, CONFIDENCE = (f"{DEBIASED}+{name}" for name in ("product", "learned mixin", "confidence"))
# The paper's own, and three that others proposed.
OF_THE_PAPER = (GUIDED, ADVERSARIAL, ADVERSARIAL_GUIDED, REWEIGHTED)
BESIDE = (PRODUCT, MIXIN, CONFIDENCE)


@dataclass(frozen=True)
class Corpus:
    """One of the two corpora, and what is done with it.

    Attributes:
        name: As the printed tables call it.
        test: The set that models are evaluated on, as this study calls it.
        printed: The one of the printed tables.
        threshold: Above which a pattern makes an example easy or hard.
        bounds: Of the mining; the least support is scaled to the training set (`questions.artifacts.choices`).
        published: By class, where its published examples may lie in the folder of data.
        others_hard: Name of the set of hard examples that others published, or None.
        dev: The set that decides the best epoch, or None to train all.
        networks: Trained on all rows and on parts; names as in `NETWORKS`.
        thresholds: Of the patterns that down-sampled training sets are without.
        variants: Debiased networks, and what is set for each.
        further: Networks that are trained on all rows only, as `Training.models`.
        released: Models of others, by their column in a table of released answers on the test set.
    """

    name: str
    test: str
    printed: str
    threshold: float
    bounds: Bounds = DEFAULT
    published: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others_hard: str | None = None
    dev: str | None = None
    networks: tuple[str, ...] = tuple(NETWORKS)
    thresholds: tuple[float, ...] = ()
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    further: Mapping[str, str] = field(default_factory=dict)
    released: Mapping[str, str] = field(default_factory=dict)

    @property
    def train(self) -> str:
        """Its training set."""
        return f"{self.name} train"

    @property
    def mined(self) -> str:
        """The folder of its patterns, below that of the study."""
        return f"mined/{self.name}"

    def parts(self, samples: int) -> tuple[str, ...]:
        """All down-sampled training sets, with so many random ones of each size."""
        return tuple(
            name
            for threshold in self.thresholds
            for name in (self.part(DEBIAS, threshold), *(self.part(RANDOM, threshold, at) for at in range(samples)))
        )

    def part(self, mode: str, threshold: float, sample: int = 0) -> str:
        """A down-sampled training set."""
        which = f" {sample}" if mode == RANDOM else ""
        return f"{self.train} {mode} {threshold}{which}"


@dataclass(frozen=True)
class Protocol:
    """How often what is trained.

    Attributes:
        corpora: The corpora.
        seeds: Runs on all rows, and on each training set without patterns.
        samples: Random training sets of the same size.
        initializations: Runs on each of these.
    """

    corpora: tuple[Corpus, ...]
    seeds: int
    samples: int
    initializations: int

    def trainings(
        self, options: Mapping[str, Any], of: Mapping[str, Mapping[str, Any]], further: Mapping[str, Any] | None = None
    ) -> tuple[Training, ...]:
        """All trainings.

        Args:
            options: Keys of [training] for all of them.
            of: Further keys for single networks.
            further: Keys for the networks that see all rows only; `options` if there are none.
        """
        return tuple(
            training for corpus in self.corpora for training in self._of(corpus, options, of, further or options)
        )

    def _of(
        self,
        corpus: Corpus,
        options: Mapping[str, Any],
        of: Mapping[str, Mapping[str, Any]],
        further: Mapping[str, Any],
    ) -> Iterator[Training]:
        tests, networks = (corpus.test,), {name: NETWORKS[name] for name in corpus.networks}
        chosen_by = {} if corpus.dev is None else {"dev": corpus.dev}
        options, further = {**options, **chosen_by}, {**further, **chosen_by}
        yield Training(corpus.train, tests, networks, self.seeds, options=options, of=of)
        for threshold in corpus.thresholds:
            yield Training(corpus.part(DEBIAS, threshold), tests, networks, self.seeds, options=options, of=of)
            for sample in range(self.samples):
                part, first = corpus.part(RANDOM, threshold, sample), sample * self.initializations
                seeds = tuple(range(first, first + self.initializations))
                yield Training(part, tests, networks, seeds, options=options, of=of)
        if corpus.variants:
            models = dict.fromkeys(corpus.variants, NETWORKS[DEBIASED])
            single = {name: {**of.get(DEBIASED, {}), **own} for name, own in corpus.variants.items()}
            yield Training(corpus.train, tests, models, self.seeds, options=options, of=single)
        if corpus.further:
            yield Training(corpus.train, tests, corpus.further, self.seeds, options=further, of=of)


def variants(corpus: str, *, adversarial: Mapping[str, Any], reweight: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The debiased networks, and what is set for each.

    Args:
        corpus: Whose patterns guide.
        adversarial: Settings of the objective that all adversarial ones share.
        reweight: And what reweighting adds.
    """
    by_pattern = {"bias": f"mined/{corpus}"}
    against = {"objective": "adversarial", "objective_changes": dict(adversarial)}
    by_probe = {"bias": "quick_probe"}
    return {
        GUIDED: {"objective": "guided_cross_entropy", **by_pattern},
        ADVERSARIAL: against,
        ADVERSARIAL_GUIDED: {**against, **by_pattern},
        REWEIGHTED: {
            **against, **by_pattern, "objective_changes": {**adversarial, "reweight": True, **reweight},
        },
        PRODUCT: {"objective": "product_of_experts", **by_probe},
        MIXIN: {"objective": "learned_mixin", **by_probe},
        CONFIDENCE: {"objective": "confidence_regularization", **by_probe},
    }  # fmt: skip
