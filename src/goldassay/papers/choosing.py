"""Which of a study's sets and models are run: those that are asked for, and of these those that have what they need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.papers.recipe import PRETRAINED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.papers.recipe import Scale, Training
    from goldassay.papers.workplace import Workplace

LEFT_OUT = "left out"


@dataclass(frozen=True)
class NotRun:
    """A model that is not trained on a set, or not tested on one.

    Attributes:
        model: What tables call it.
        train: Name of the training set.
        test: Name of the test set.
        why: "left out", or "needs MNLI train".
        needs: Names of what is lacking.
    """

    model: str
    train: str
    test: str
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Sets and models by name.

    Attributes:
        only: Those that are run; all if there are none.
        without: Those that are not run.
    """

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def check(self, scale: Scale) -> None:
        """Refuse names that nothing of a study's size has.

        Raises:
            InputError: Lists the names that exist.
        """
        known = names_of(scale)
        for key, names in (("only", self.only), ("without", self.without)):
            strange = [name for name in names if name not in known]
            if strange:
                raise InputError(
                    f"{option(key)} {strange[0]}: the study has no such set or model at this scale",
                    mend=f"it has {', '.join(known)}",
                )

    def narrowed(self, scale: Scale) -> Scale:
        """The size with the trainings that are asked for.

        A training is asked for by its model and, where sets are named, by its training set or one of its test sets; by
        a test set it is tested on those that are named alone.
        """
        models = {label for training in scale.trainings for label in training.models}
        named_models = {name for name in self.only if name in models}
        named_sets = set(self.only) - named_models
        found = []
        for training in scale.trainings:
            labels = [label for label in training.models if label not in self.without]
            if named_models:
                labels = [label for label in labels if label in named_models]
            tests = [name for name in training.tests if name not in self.without]
            if named_sets and training.train not in named_sets:
                tests = [name for name in tests if name in named_sets]
            if labels and tests and training.train not in self.without:
                found.append(_part_of(training, labels, tests))
        return replace(scale, trainings=tuple(found))


def names_of(scale: Scale) -> tuple[str, ...]:
    """Names of all sets and models of a study's size, sets first."""
    trained = [name for training in scale.trainings for name in (training.train, *training.tests)]
    models = [label for training in scale.trainings for label in training.models]
    return tuple(dict.fromkeys([*scale.sets, *scale.files, *trained, *models]))


def runnable(whole: Scale, work: Workplace, is_there: Callable[[str], bool]) -> tuple[Scale, list[NotRun]]:
    """Of the size that is asked for what can be run, and what of the whole size is not, with why.

    Args:
        whole: The size as it is declared.
        work: Its sets are read and prepared; `work.scale` is what is asked for.
        is_there: Whether a checkpoint is at hand, by its name.
    """
    lacks = {}
    kept = []
    for training in work.scale.trainings:
        needs = {label: _needs(training, label, network, work, is_there) for label, network in training.models.items()}
        tests = [name for name in training.tests if name not in work.lacking]
        for label in training.models:
            for test in training.tests:
                lacks[label, training.train, test] = (*needs[label], *work.roots(test))
        labels = [label for label, lacking in needs.items() if not lacking]
        if labels and tests:
            kept.append(_part_of(training, labels, tests))
    done = {(label, each.train, test) for each in kept for label in each.models for test in each.tests}
    missing = {}
    for training in whole.trainings:
        for label in training.models:
            for test in training.tests:
                key = label, training.train, test
                if key not in done:
                    needed = tuple(dict.fromkeys(lacks.get(key, ())))
                    why = f"needs {' and '.join(needed)}" if needed else LEFT_OUT
                    missing[key] = NotRun(*key, why, needed)
    return replace(work.scale, trainings=tuple(kept)), list(missing.values())


def _needs(
    training: Training, label: str, network: str, work: Workplace, is_there: Callable[[str], bool]
) -> tuple[str, ...]:
    """What a model of a training lacks, by name."""
    options: Mapping[str, Any] = {**training.options, **training.of.get(label, {})}
    found = [*work.roots(training.train)]
    if options.get("dev") is not None:
        found += work.roots(options["dev"])
    if options.get("vectors") in work.absent:
        found.append(options["vectors"])
    if network == PRETRAINED:
        found += [] if work.pretrained else [f"{option('pretrained')}"]
    elif not found and "/" in network and not is_there(network):
        found.append(network)
    return tuple(found)


def _part_of(training: Training, labels: Iterable[str], tests: Sequence[str]) -> Training:
    return replace(training, models={label: training.models[label] for label in labels}, tests=tuple(tests))


def needed_by(not_run: Iterable[NotRun]) -> dict[str, list[NotRun]]:
    """What is lacking, each with what is not run for want of it."""
    found: dict[str, list[NotRun]] = {}
    for each in not_run:
        for name in each.needs:
            found.setdefault(name, []).append(each)
    return found
