"""What is audited besides labelled texts, one file a kind: how it is recognized, its parts, its right answers."""

from goldassay.data.items.choice_shapes import ROLES, find_shape
from goldassay.data.items.choices import ChoiceItems, read_choices
from goldassay.data.items.kinds import CHOICES, PREFERENCES, Kind
from goldassay.data.items.preference_shapes import PREFERENCE_ROLES, find_preferences
from goldassay.data.items.preferences import read_preferences

__all__ = [
    "CHOICES",
    "PREFERENCES",
    "PREFERENCE_ROLES",
    "ROLES",
    "ChoiceItems",
    "Kind",
    "find_preferences",
    "find_shape",
    "read_choices",
    "read_preferences",
]
