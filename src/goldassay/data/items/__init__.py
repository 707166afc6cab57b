"""What is audited besides labelled texts, one file a kind: how it is recognized, its parts, its right answers."""

from goldassay.data.items.choice_shapes import ROLES, find_shape
from goldassay.data.items.choices import ChoiceItems, read_choices

__all__ = ["ROLES", "ChoiceItems", "find_shape", "read_choices"]
