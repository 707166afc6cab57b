"""The words of the specimen: scales of values on which it is certain what implies and what excludes what.

A scale sorts values into kinds: an oak table is of wood, an oak table is not of metal. Every kind of a scale
excludes every other one, so that for two values of one scale the relation is a matter of looking it up.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Values of one property.

    Attributes:
        kinds: What each kind is called, and the values that belong to it, in the words that a sentence uses.
        exact: Whether values of the same kind exclude each other, too: 1725 is not 1748, but nobody can be sure
            that what is scarlet may not be called crimson.
    """

    kinds: dict[str, tuple[str, ...]]
    exact: bool = True

    def kind_of(self, value: str) -> str:
        """The kind that a value belongs to; a kind belongs to itself."""
        if value in self.kinds:
            return value
        return next(kind for kind, values in self.kinds.items() if value in values)


COLOR = Scale(
    {
        "red": ("scarlet", "crimson", "ruby"),
        "blue": ("navy", "azure", "cobalt"),
        "green": ("emerald", "olive", "lime"),
        "brown": ("chestnut", "chocolate", "hazel"),
    },
    exact=False,
)
MATERIAL = Scale(
    {
        "wood": ("oak", "pine", "walnut"),
        "metal": ("steel", "copper", "tin"),
        "stone": ("marble", "granite", "slate"),
    }
)
FIBER = Scale(
    {
        "a plant fiber": ("cotton", "linen", "hemp"),
        "an animal fiber": ("silk", "mohair", "cashmere"),
    }
)
COUNTRY = Scale(
    {
        "Europe": ("Norway", "Portugal", "Poland"),
        "Africa": ("Kenya", "Ghana", "Morocco"),
        "Asia": ("Japan", "Nepal", "Vietnam"),
        "South America": ("Peru", "Chile", "Brazil"),
    }
)
LANGUAGE = Scale(
    {
        "a European language": ("Swedish", "Polish", "Greek"),
        "an Asian language": ("Thai", "Korean", "Japanese"),
        "an African language": ("Zulu", "Yoruba", "Swahili"),
    }
)
WEEKDAY = Scale(
    {
        "on a weekday": ("on a Monday", "on a Tuesday", "on a Thursday"),
        "on a weekend": ("on a Saturday", "on a Sunday"),
    }
)
MONTH = Scale(
    {
        "in the first half of the year": ("in February", "in April", "in June"),
        "in the second half of the year": ("in August", "in October", "in December"),
    }
)
CLOCK = Scale(
    {
        "before noon": ("at 8:15", "at 9:40", "at 10:30"),
        "in the afternoon": ("at 13:20", "at 14:45", "at 15:10"),
        "in the evening": ("at 19:05", "at 20:25", "at 20:50"),
    }
)
YEAR = Scale(
    {
        "the eighteenth century": ("1725", "1748", "1783"),
        "the nineteenth century": ("1817", "1852", "1894"),
        "the twentieth century": ("1911", "1936", "1978"),
    }
)
NUMBER = Scale(
    {
        "fewer than five": ("exactly two", "exactly three", "exactly four"),
        "more than five but fewer than ten": ("exactly six", "exactly seven", "exactly eight"),
        "more than ten": ("exactly eleven", "exactly twelve", "exactly fifteen"),
    }
)
SHARE = Scale(
    {
        "more than half": ("exactly two thirds", "exactly nine tenths", "all"),
        "less than half": ("exactly one tenth", "exactly a quarter", "none"),
    }
)
RANK = Scale(
    {
        "in the top five": ("second", "third", "fourth"),
        "between sixth and tenth": ("seventh", "eighth", "ninth"),
        "outside the top ten": ("twelfth", "fifteenth", "twentieth"),
    }
)
SHIRT = Scale(
    {
        "an even number": ("the number 8", "the number 14", "the number 26"),
        "an odd number": ("the number 7", "the number 15", "the number 23"),
    }
)
AGE = Scale(
    {
        "under thirty": ("twenty-four", "twenty-six", "twenty-nine"),
        "between thirty and sixty": ("thirty-five", "forty-two", "fifty-one"),
        "over sixty": ("sixty-six", "seventy-three", "eighty"),
    }
)
PRICE = Scale(
    {
        "less than fifty dollars": ("twenty dollars", "thirty dollars", "forty dollars"),
        "more than a hundred dollars": ("two hundred dollars", "three hundred dollars", "five hundred dollars"),
    }
)
WEIGHT = Scale(
    {
        "less than five kilograms": ("two kilograms", "three kilograms", "four kilograms"),
        "more than five kilograms": ("eight kilograms", "twelve kilograms", "twenty kilograms"),
    }
)
HEIGHT = Scale(
    {
        "less than a meter": ("thirty centimeters", "fifty centimeters", "eighty centimeters"),
        "more than a meter": ("two meters", "three meters", "five meters"),
    }
)
DURATION = Scale(
    {
        "less than an hour": ("fifteen minutes", "half an hour", "forty minutes"),
        "more than an hour": ("ninety minutes", "two hours", "three hours"),
    }
)
STAY = Scale(
    {
        "less than a week": ("two days", "three days", "five days"),
        "between a week and a month": ("ten days", "two weeks", "three weeks"),
        "more than a month": ("six weeks", "two months", "half a year"),
    }
)
VEHICLE = Scale(
    {
        "by water": ("by ferry", "by canoe", "by yacht"),
        "by land": ("by train", "by bus", "by bicycle"),
        "by air": ("by plane", "by helicopter", "by balloon"),
    }
)
PLACE = Scale(
    {
        "indoors": ("in the kitchen", "in the attic", "in the cellar"),
        "outdoors": ("in the orchard", "in the meadow", "on the lawn"),
    }
)
INSTRUMENT = Scale(
    {
        "a string instrument": ("the cello", "the violin", "the harp"),
        "a wind instrument": ("the flute", "the oboe", "the trumpet"),
        "a percussion instrument": ("the xylophone", "the tambourine", "the gong"),
    }
)
PET = Scale(
    {
        "a bird": ("a parrot", "a canary", "a pigeon"),
        "a reptile": ("a gecko", "an iguana", "a tortoise"),
        "a rodent": ("a hamster", "a gerbil", "a mouse"),
    }
)
JOB = Scale(
    {
        "in medicine": ("as a surgeon", "as a dentist", "as a midwife"),
        "in education": ("as a teacher", "as a tutor", "as a lecturer"),
        "in transport": ("as a pilot", "as a bus driver", "as a ferryman"),
    },
    exact=False,
)
FOOD = Scale(
    {
        "fish": ("salmon", "tuna", "herring"),
        "meat": ("beef", "pork", "mutton"),
        "fruit": ("cherries", "plums", "pears"),
        "cheese": ("cheddar", "gouda", "feta"),
    }
)
TEMPERATURE = Scale({"cold": ("chilled", "iced", "frozen"), "hot": ("steaming", "sizzling", "scalding")}, exact=False)
KIN = Scale(
    {
        "a woman": ("the aunt", "the grandmother", "the niece"),
        "a man": ("the uncle", "the grandfather", "the nephew"),
    },
    exact=False,
)
THEME = Scale(
    {
        "animals": ("whales", "wolves", "bees"),
        "plants": ("orchids", "ferns", "mosses"),
        "machines": ("pumps", "turbines", "cranes"),
    }
)
