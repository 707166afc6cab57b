"""Checkpoints of families of transformers, two tiny layers each, with tokenizers of their kinds, made on the spot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_WIDTH, _POSITIONS = 32, 64
_COMMON = {
    "hidden_size": _WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": _POSITIONS,
    "num_labels": 3,
}
# Model type, kind of tokenizer, settings.
_DISTILBERT = {"dim": _WIDTH, "hidden_dim": 48, "n_layers": 2, "n_heads": 2, "max_position_embeddings": _POSITIONS}
_XLNET = {"d_model": _WIDTH, "d_inner": 48, "n_layer": 2, "n_head": 2}
_GPT2 = {"n_embd": _WIDTH, "n_inner": 48, "n_layer": 2, "n_head": 2, "n_positions": _POSITIONS}
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("bert", "wordpiece", _COMMON),
    # BERT's layers with a multilingual tokenizer, which has no token types.
    "minilm": ("bert", "xlm_roberta", _COMMON),
    "distilbert": ("distilbert", "wordpiece", {**_DISTILBERT, "num_labels": 3}),
    "roberta": ("roberta", "roberta", {**_COMMON, "max_position_embeddings": _POSITIONS + 2, "type_vocab_size": 1}),
    "xlm_roberta": (
        "xlm-roberta",
        "xlm_roberta",
        {**_COMMON, "max_position_embeddings": _POSITIONS + 2, "type_vocab_size": 1},
    ),
    "albert": ("albert", "albert", {**_COMMON, "embedding_size": 16}),
    "xlnet": ("xlnet", "xlnet", {**_XLNET, "num_labels": 3}),
    # Read from left to right, without a number for padding or a token between two texts.
    "gpt2": ("gpt2", "gpt2", {**_GPT2, "num_labels": 3}),
    "llama": ("llama", "gpt2", {**_COMMON, "num_key_value_heads": 2}),
}
# Encoders with decoders, which the library gives a classifier, but no vectors of tokens.
_BART = {
    "d_model": _WIDTH, "max_position_embeddings": _POSITIONS,
    **{f"{part}_{name}": number for part in ("encoder", "decoder")
       for name, number in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 48))},
}  # fmt: skip
_T5 = {"d_model": _WIDTH, "d_kv": 16, "d_ff": 48, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
WITH_DECODERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bart": ("bart", "roberta", {**_BART, "num_labels": 3}),
    "t5": ("t5", "albert", {**_T5, "num_labels": 3}),
}


def family_checkpoint(folder: Path, family: str, texts: Sequence[str]) -> Path:
    """A checkpoint as the family's own look: configuration, weights, and a tokenizer learnt from texts."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    kind, tokens, settings = (FAMILIES | WITH_DECODERS)[family]
    place = folder / f"tiny-{family}"
    tokenizer = _TOKENIZERS[tokens](list(texts))
    tokenizer.model_max_length = _POSITIONS
    special = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = AutoConfig.for_model(
        kind,
        **{**settings, **special, "vocab_size": len(tokenizer), "bos_token_id": tokenizer.bos_token_id},
        # Fresh weights as small as usual answer nearly the same to everything, which would prove nothing.
        initializer_range=0.3,
    )
    torch.manual_seed(1)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def _wordpiece(texts: list[str]) -> Any:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizer

    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(texts, vocab_size=200, min_frequency=1, show_progress=False)
    return BertTokenizer(vocab=trained.get_vocab())


def _pieces(texts: list[str], first: list[str]) -> list[tuple[str, float]]:
    """A unigram vocabulary as sentencepiece learns it, with special pieces in front."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=first, unk_token="<unk>", show_progress=False)
    trained.train_from_iterator(texts, trainer)
    return [(piece, score) for piece, score in json.loads(trained.to_str())["model"]["vocab"]]


def _albert(texts: list[str]) -> Any:
    from transformers import AlbertTokenizer

    return AlbertTokenizer(vocab=_pieces(texts, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]))


def _xlnet(texts: list[str]) -> Any:
    from transformers import XLNetTokenizer

    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    return XLNetTokenizer(vocab=_pieces(texts, special))


def _xlm_roberta(texts: list[str]) -> Any:
    from transformers import XLMRobertaTokenizer

    return XLMRobertaTokenizer(vocab=_pieces(texts, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))


def _merges(texts: list[str], special: list[str]) -> dict[str, Any]:
    """Byte pairs."""
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=320, min_frequency=1, special_tokens=special, show_progress=False)
    model = json.loads(trained.to_str())["model"]
    return {"vocab": model["vocab"], "merges": [tuple(each) for each in model["merges"]]}


def _roberta(texts: list[str]) -> Any:
    from transformers import RobertaTokenizer

    return RobertaTokenizer(**_merges(texts, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))


def _gpt2(texts: list[str]) -> Any:
    from transformers import GPT2Tokenizer

    return GPT2Tokenizer(**_merges(texts, ["<|endoftext|>"]))


_TOKENIZERS = {
    "wordpiece": _wordpiece,
    "albert": _albert,
    "xlnet": _xlnet,
    "xlm_roberta": _xlm_roberta,
    "roberta": _roberta,
    "gpt2": _gpt2,
}
