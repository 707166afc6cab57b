"""What the rows of a table are, one file a kind: how it is recognized, its parts, its right answers."""

from goldassay.data.kinds.choice_shapes import ROLES, find_shape
from goldassay.data.kinds.choices import ChoiceItems, Choices, read_choices
from goldassay.data.kinds.extractive_answers import ExtractiveAnswers
from goldassay.data.kinds.item_kinds import CHOICES, PREFERENCES, ItemKind
from goldassay.data.kinds.items import read_items
from goldassay.data.kinds.judgments import JudgedPairs, Judgments, read_judgments
from goldassay.data.kinds.kind import Kind, Match, Strength
from goldassay.data.kinds.labelled_texts import LabelledTexts
from goldassay.data.kinds.preference_shapes import PREFERENCE_ROLES, find_preferences
from goldassay.data.kinds.preferences import Preferences, read_preferences
from goldassay.data.kinds.recognition import Recognition, recognize

DATA_KINDS: tuple[Kind, ...] = (LabelledTexts(), Choices(), Preferences(), JudgedPairs(), ExtractiveAnswers())

__all__ = [
    "CHOICES",
    "DATA_KINDS",
    "PREFERENCES",
    "PREFERENCE_ROLES",
    "ROLES",
    "ChoiceItems",
    "Choices",
    "ExtractiveAnswers",
    "ItemKind",
    "JudgedPairs",
    "Judgments",
    "Kind",
    "LabelledTexts",
    "Match",
    "Preferences",
    "Recognition",
    "Strength",
    "find_preferences",
    "find_shape",
    "read_choices",
    "read_items",
    "read_judgments",
    "read_preferences",
    "recognize",
]
