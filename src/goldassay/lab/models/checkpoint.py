"""Checkpoints of the transformers library, from a folder or from the hub: safetensors only, and no code of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.core.errors import InputError
from goldassay.lab.models.network import on_accelerator

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor, nn

# Tokenizers say "no limit" by a number beyond any length.
_NO_LIMIT = 1 << 20
_TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")
# What a class of the library does, and the name of its list of kinds of checkpoints.
_DOES = {
    "AutoModelForSequenceClassification": ("classify texts", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES"),
    "AutoModelForQuestionAnswering": ("answer questions", "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES"),
}
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "dropout",
             "attention_dropout", "seq_classif_dropout", "summary_last_dropout", "classifier_dropout_prob",
             "qa_dropout")  # fmt: skip


def open_tokenizer(place: str, *, parted: bool = True) -> Any:
    """A checkpoint's tokenizer, of the kind that knows where in the text each token stands.

    Args:
        place: A folder, or a name on the hub.
        parted: Whether texts that are read one after the other must be told apart.

    Raises:
        InputError: There is none, or none of that kind.
    """
    from transformers import AutoTokenizer

    _describe_nothing()
    if Path(place).is_dir() and not any((Path(place) / name).exists() for name in _TOKENIZER_FILES):
        raise InputError(
            "the checkpoint has no tokenizer", file=place, mend="put its tokenizer.json beside config.json"
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"its tokenizer cannot be loaded ({_first_line(error)})",
            file=place,
            mend="check the name, or give a folder with config.json, model.safetensors and tokenizer.json",
        ) from error
    if not tokenizer.is_fast:
        raise InputError("its tokenizer cannot say which text a token is of", file=place, mend="add a tokenizer.json")
    if parted:
        _part_texts(tokenizer, place)
    return tokenizer


def _part_texts(tokenizer: Any, place: str) -> None:
    """Have an end of text put behind each text, where a tokenizer puts nothing between two."""
    from tokenizers.processors import Sequence, TemplateProcessing

    if tokenizer.num_special_tokens_to_add(pair=True):
        return
    end = tokenizer.eos_token or tokenizer.sep_token
    if end is None:
        raise InputError(
            "its tokenizer puts nothing between two texts", file=place, mend="give it an eos_token or a sep_token"
        )
    ends = TemplateProcessing(
        single=f"$A:0 {end}:0",
        pair=f"$A:0 {end}:0 $B:1 {end}:1",
        special_tokens=[(end, tokenizer.convert_tokens_to_ids(end))],
    )
    backend = tokenizer.backend_tokenizer
    backend.post_processor = Sequence([backend.post_processor, ends]) if backend.post_processor else ends


def open_config(place: str, dropout: float | None = None, **settings: Any) -> Any:
    """A checkpoint's configuration.

    Args:
        place: Folder or hub name.
        dropout: In place of the checkpoint's own rates; None leaves them.
        settings: Others to replace.

    Raises:
        InputError: There is no checkpoint.
    """
    from transformers import AutoConfig

    _describe_nothing()
    try:
        config = AutoConfig.from_pretrained(place, **settings)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"no checkpoint can be loaded from there ({_first_line(error)})",
            file=place,
            mend="check the name, or give a folder with config.json, model.safetensors and tokenizer.json",
        ) from error
    if dropout is not None:
        for name in _DROPOUTS:
            if isinstance(getattr(config, name, None), float):
                setattr(config, name, dropout)
    return config


def check_kind(kind: Any, place: str, config: Any) -> None:
    """Refuse a checkpoint of a kind that a class does not know, such as one for images or speech.

    Args:
        kind: See `open_weights`; classes that know every kind refuse none.
        place: Folder or hub name.
        config: Of `open_config`.

    Raises:
        InputError: Its kind cannot do what the class is for.
    """
    from transformers.models.auto import modeling_auto

    if kind.__name__ in _DOES:
        does, known = _DOES[kind.__name__]
        if config.model_type not in getattr(modeling_auto, known):
            raise InputError(
                f"checkpoints of the kind {config.model_type!r} cannot {does}",
                file=place,
                mend="give one that can, such as BERT's or RoBERTa's",
            )


def open_weights(kind: Any, place: str, config: Any) -> Any:
    """A model with a checkpoint's weights in 32 bits; what the checkpoint lacks is drawn anew.

    Args:
        kind: One of the library's automatic classes, such as `AutoModel`.
        place: Folder or hub name.
        config: Of `open_config`.

    Raises:
        InputError: There are no weights in safetensors, or the checkpoint is of a kind that the class does not know.
    """
    import torch
    from safetensors import SafetensorError

    check_kind(kind, place, config)
    _describe_nothing()
    try:
        return kind.from_pretrained(
            place, config=config, use_safetensors=True, dtype=torch.float32, ignore_mismatched_sizes=True
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(
            f"its weights cannot be loaded ({_first_line(error)})",
            file=place,
            mend="give a checkpoint that holds model.safetensors",
        ) from error


def token_limit(config: Any, tokenizer: Any) -> int:
    """Most tokens that a checkpoint takes."""
    limits = [int(min(tokenizer.model_max_length, _NO_LIMIT))]
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        # RoBERTa and its kin count positions from behind the padding's number on.
        shifted = any(kind in config.model_type for kind in ("roberta", "camembert"))
        limits.append(positions - (config.pad_token_id or 0) - 1 if shifted else positions)
    return min(limits)


def has_types(config: Any) -> bool:
    """Whether a model was trained with a type for each of two texts.

    Asked of the model: some tokenizers leave types out all the same (ALBERT's, XLNet's).
    """
    return getattr(config, "type_vocab_size", 0) > 1 or config.model_type == "xlnet"


# They look at all tokens from each, and take a mask that was made for them beforehand.
_SEE_ALL = ("albert", "bert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta")


def attention_mask(model: Any, real: Tensor, n_real: int) -> Tensor | None:
    """Which tokens a model is to look at, as it takes it best, where B inputs of at most L tokens are given.

    To a mask (B, L) most models look whether it leaves nothing out, for which an accelerator must be waited for. There
    it is given as they would make of it, None where nothing is left out.

    Args:
        model: Of the transformers library.
        real: 1 at tokens and 0 at padding, (B, L).
        n_real: Tokens.
    """
    sees_all = model.config.model_type in _SEE_ALL and not getattr(model.config, "is_decoder", False)
    if not on_accelerator(real.device) or not sees_all:
        return real
    if n_real == real.numel():
        return None
    from transformers.masking_utils import create_bidirectional_mask

    like = torch.empty((), dtype=model.dtype, device=real.device).expand(*real.shape, model.config.hidden_size)
    mask: Tensor | None = create_bidirectional_mask(model.config, like, real, allow_is_bidirectional_skip=False)
    return mask


def skip_padding(words: nn.Embedding) -> None:
    """Keep the padding's vector out of sparse gradients without looking for it among the tokens.

    torch takes the padding's rows out of a sparse gradient, and an accelerator must be waited for to know how many are
    left. There they stay, as 0.
    """
    padding = words.padding_idx
    if padding is None:
        return

    def before(module: Any, _: Any) -> None:
        module.padding_idx = None if on_accelerator(module.weight.device) else padding

    def after(module: Any, inputs: tuple[Tensor, ...], vectors: Tensor) -> None:
        if module.padding_idx is None and vectors.requires_grad:
            left_out = (inputs[0] == padding).unsqueeze(-1)
            vectors.register_hook(lambda gradient: gradient.masked_fill(left_out, 0))

    words.register_forward_pre_hook(before)
    words.register_forward_hook(after)


def to_the_right(table: NDArray[Any], real: NDArray[np.bool_]) -> NDArray[Any]:
    """Rows with their filling, which lies behind, in front, (N, L)."""
    turned = np.argsort(real, axis=1, kind="stable")
    return np.take_along_axis(table, turned, axis=1)


def _describe_nothing() -> None:
    """Keep the library from writing to the terminal: what is wrong is said as an error, the rest is on purpose."""
    from transformers import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
