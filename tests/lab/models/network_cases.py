"""All networks at a size that trains in a moment, and what tests of each need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Task
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from pathlib import Path

SMALL: dict[str, dict[str, Any]] = {
    "bag_of_words": {"projection": 16, "min_count": 1},
    "word_average": {"vectors": 16, "hidden": 16, "min_count": 1},
    "lstm": {"vectors": 16, "units": 12, "layers": 2, "hidden": 16, "min_count": 1},
    "ngram_average": {"vectors": 16, "hidden": 16, "min_count": 1, "longest_gram": 2},
    "bilstm": {"vectors": 16, "units": 12, "hidden": 16, "min_count": 1},
    "convnet": {"vectors": 16, "filters": 8, "min_count": 1},
    "dam": {"vectors": 16, "units": 16, "min_count": 1},
    "esim": {"vectors": 16, "units": 12, "min_count": 1},
    "infersent": {"vectors": 16, "units": 12, "hidden": 16, "separate": True, "min_count": 1},
    "contextual_esim": {"layers": 2, "units": 12},
    "transformer": {},
}


def texts_of(dataset: Any) -> tuple[list[str], ...]:
    return tuple(dataset.texts(role) for role in dataset.text_columns)


def small_network(name: str, folder: Path, *, n: int = 64, dropout: float = 0.0, seed: int = 0) -> Any:
    """A network of the registry, for the pairs of `made_pairs(n)`."""
    data = made_pairs(n)
    place = str(tiny_checkpoint(folder, data)) if name == "transformer" else name
    kind = load_network(place)
    own = {"encoder": str(tiny_checkpoint(folder, data))} if name == "contextual_esim" else {}
    sizes = replace(kind.configurations["desk"].sizes, **SMALL[name], **own, dropout=dropout)
    torch.manual_seed(seed)
    return kind.build(Task(data.text_columns, data.label_names), texts_of(data), sizes, place).eval()


def tiny_checkpoint(folder: Path, data: Any, family: str = "bert", max_positions: int = 64, **settings: Any) -> Path:
    """A checkpoint of a transformer of two tiny layers, with a tokenizer of the data's words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast

    place = folder / f"tiny-{family}"
    if (place / "config.json").exists():
        return place
    words = sorted({word for text in texts_of(data)[0] + texts_of(data)[1] for word in text.split()})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    # XLNet classifies by its last token; its tokenizers pad in front, as this one does.
    names["padding_side"] = "left" if family == "xlnet" else "right"
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=max_positions, **names)
    torch.manual_seed(1)
    # XLNet has no limit, and refuses to be given one.
    limit = {} if family == "xlnet" else {"max_position_embeddings": max_positions}
    config = AutoConfig.for_model(
        family,
        **{
            "vocab_size": len(vocabulary),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 48,
            "pad_token_id": 0,
            "hidden_dropout_prob": 0.1,
            "num_labels": 3,
            **limit,
            **settings,
        },
    )
    model = AutoModelForSequenceClassification.from_config(config)
    place.mkdir(parents=True)
    model.save_pretrained(place)
    fast.save_pretrained(place)
    return place
