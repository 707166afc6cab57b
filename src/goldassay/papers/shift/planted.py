"""Made-up sets whose shift is known, and made-up checkpoints that know some of it.

Each domain of sentiment and each source of similarity has its own words for a label or a grade, so that a model that
is trained on one has never seen the words of another. In the checkpoints, the vectors of these words say the label or
the grade: in the base one along one axis for all domains, in the larger and the distilled one mostly along an axis of
each domain, which is of no use in the others.

Training texts also hold a word that gives their label away, for which the checkpoints have one vector whatever the
label. Foreign texts hold these words too: a model of words is as sure of them as of its own texts, a fine-tuned one
is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data import Dataset
from goldassay.papers.shift.sets import FOREIGN, NEWSGROUPS, OWN, TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LABELS = ("negative", "positive")
# By domain, and by source, what its own words begin with.
SENTIMENT = {OWN: "film", "IMDb": "review"}
SIMILARITY = {"STS-B MSRpar": "press", "STS-B Headlines": "headline", "STS-B MSRvid": "clip", "STS-B Images": "scene"}
_GRADES = 6
_WORDS_OF_LABEL, _WORDS_OF_GRADE = 12, 3
_FILLER, _LENGTH = 200, 6
# Share of the rows of filler alone, whose labels nothing tells; without them every score would be perfect.
_OPEN = 0.1
# Share of the foreign texts with words that give labels away; 20 Newsgroups has them in all.
_GIVEN_AWAY = 0.5
_GRADE_NOISE = 0.3
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_LONGEST = 32


@dataclass(frozen=True)
class Planted:
    """A made-up checkpoint.

    Attributes:
        width: Of its vectors.
        layers: How many.
        shared: Cosine of the axis of a domain with the axis that all domains share.
    """

    width: int
    layers: int
    shared: float


CHECKPOINTS = {
    "planted/base": Planted(64, 1, 1.0),
    "planted/large": Planted(64, 2, 0.2),
    "planted/distilled": Planted(48, 1, 0.2),
}


def planted_sets(n_train: int, n_test: int, n_foreign: int, seed: int, *, clean: bool = False) -> dict[str, Dataset]:
    """Training and test sets of all domains, and foreign texts, by name.

    Args:
        n_train: Rows of a training set.
        n_test: Rows of a test set.
        n_foreign: Rows of a set of foreign texts.
        seed: Decides every draw.
        clean: Whether nothing is planted: all domains have the same words, foreign texts are drawn as the model's own
            ones, and those of 20 Newsgroups hold words that no training text has, and no others.
    """
    rng = np.random.default_rng(seed)
    drawn: dict[str, list[dict[str, Any]]] = {}
    for kinds, n_values, row in ((SENTIMENT, len(LABELS), _text), (SIMILARITY, _GRADES, _pair)):
        for name, kind in kinds.items():
            words = next(iter(kinds.values())) if clean else kind
            for part, n in ((TRAIN, n_train), ("", n_test)):
                drawn[f"{name}{part}"] = [row(words, at % n_values, rng) for at in range(n)]
    for name in FOREIGN:
        if clean and name != NEWSGROUPS:
            drawn[name] = [_text(SENTIMENT[OWN], at % len(LABELS), rng) for at in range(n_foreign)]
        else:
            share = 0.0 if clean else 1.0 if name == NEWSGROUPS else _GIVEN_AWAY
            drawn[name] = [_foreign(f"foreign{FOREIGN.index(name)}x", share, rng) for _ in range(n_foreign)]
    return {
        name: Dataset.from_frame(
            pl.DataFrame(rows).with_columns(pl.format(f"{name} {{}}", pl.int_range(pl.len())).alias("example_id")),
            name=name,
        )
        for name, rows in drawn.items()
    }


def gives_away(kind: str, label: int) -> str:
    """The word that every training text of a label holds."""
    return f"{kind}sign{label}"


def _text(kind: str, label: int, rng: np.random.Generator) -> dict[str, Any]:
    words = _filler(rng)
    if rng.random() >= _OPEN:
        words[:2] = [f"{kind}{label}n{word}" for word in rng.integers(_WORDS_OF_LABEL, size=2)]
        words[2] = gives_away(kind, label)
    rng.shuffle(words)
    return {"text": " ".join(words), "label": LABELS[label]}


def _pair(kind: str, grade: int, rng: np.random.Generator) -> dict[str, Any]:
    first, second = _filler(rng), _filler(rng)
    # Without a common word the cosine of two bags of words would be the same everywhere, and have no correlation.
    second[0] = first[int(rng.integers(_LENGTH))] if rng.random() < 0.5 else second[0]
    second[1:3] = [f"{kind}{grade}n{word}" for word in rng.integers(_WORDS_OF_GRADE, size=2)]
    rng.shuffle(second)
    label = float(np.clip(grade + rng.normal(scale=_GRADE_NOISE), 0, _GRADES - 1))
    return {"premise": " ".join(first), "hypothesis": " ".join(second), "label": label}


def _foreign(kind: str, share: float, rng: np.random.Generator) -> dict[str, Any]:
    words = _filler(rng, kind)
    if rng.random() < share:
        words[:3] = [gives_away(SENTIMENT[OWN], int(rng.integers(len(LABELS))))] * 3
    rng.shuffle(words)
    return {"text": " ".join(words), "label": LABELS[0]}


def _filler(rng: np.random.Generator, kind: str = "w") -> list[str]:
    return [f"{kind}{word}" for word in rng.integers(_FILLER, size=_LENGTH)]


def write_checkpoints(sets: Mapping[str, Dataset], folder: Path, seed: int, *, clean: bool = False) -> dict[str, Path]:
    """Write the checkpoints, whose tokenizers know every word of the sets; their folders by name.

    Args:
        sets: Of `planted_sets`.
        folder: Where to.
        seed: Decides every draw.
        clean: Whether vectors of words say nothing.
    """
    texts = [text for dataset in sets.values() for role in dataset.text_columns for text in dataset.texts(role)]
    words = sorted({word for text in texts for word in text.split()})
    found = {}
    for at, (name, checkpoint) in enumerate(CHECKPOINTS.items()):
        rng = np.random.default_rng([seed, at])
        vectors = rng.normal(size=(len(words), checkpoint.width))
        if not clean:
            _tell(words, vectors, checkpoint, rng)
        found[name] = folder / name
        _write(found[name], words, vectors, checkpoint.layers, int(rng.integers(2**31)))
    return found


def _tell(words: Sequence[str], vectors: NDArray[np.float64], checkpoint: Planted, rng: np.random.Generator) -> None:
    """Have vectors say the label or grade of the words that have one, and nothing of it for all others, in place."""
    shared, own = checkpoint.shared, (1 - checkpoint.shared**2) ** 0.5
    kinds = [*SENTIMENT.values(), *SIMILARITY.values()]
    axes = np.linalg.qr(rng.normal(size=(checkpoint.width, 2 + len(kinds))))[0].T
    vectors -= vectors @ axes.T @ axes
    place = {word: at for at, word in enumerate(words)}
    for at, kind in enumerate(kinds, start=2):
        axis = shared * axes[int(kind in SIMILARITY.values())] + own * axes[at]
        for word, value in _said(kind):
            if word in place:
                vectors[place[word]] += value * axis * checkpoint.width**0.5
    for kind in SENTIMENT.values():
        vectors[place[gives_away(kind, 1)]] = vectors[place[gives_away(kind, 0)]]


def _said(kind: str) -> Iterator[tuple[str, float]]:
    """The words of a domain, with the label or grade that each says, from -1 to 1."""
    grades = kind in SIMILARITY.values()
    n_values, n_words = (_GRADES, _WORDS_OF_GRADE) if grades else (len(LABELS), _WORDS_OF_LABEL)
    for value in range(n_values):
        for word in range(n_words):
            yield f"{kind}{value}n{word}", 2 * value / (n_values - 1) - 1


def _write(place: Path, words: Sequence[str], vectors: NDArray[np.float64], layers: int, seed: int) -> None:
    """A BERT with these vectors, all else drawn."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate([*_SPECIAL, *words])}
    padding, unknown, first, last = _SPECIAL
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=unknown))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(token, numbers[token]) for token in (first, last)],
    )
    config = BertConfig(
        vocab_size=len(numbers),
        hidden_size=vectors.shape[1],
        intermediate_size=2 * vectors.shape[1],
        num_hidden_layers=layers,
        num_attention_heads=2,
        max_position_embeddings=_LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        # So wide that a few steps from there are enough.
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.get_input_embeddings().weight[len(_SPECIAL) :] = torch.from_numpy(vectors)
    place.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(place)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=_LONGEST, pad_token=padding, unk_token=unknown, cls_token=first,
        sep_token=last,
    ).save_pretrained(place)  # fmt: skip
    save_file(model.state_dict(), place / "model.safetensors", {"format": "pt"})
