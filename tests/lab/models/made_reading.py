"""Made questions with a known answer, as SQuAD and as ReCoRD have them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

PEOPLE = ("Ada Bell", "Bob Reed", "Cy Marsh", "Dee Stone", "Eve Wood", "Fay Hill")
THINGS = ("red door", "old mill", "seven keys", "one boat", "blue glass", "white salt")


def made_record(n: int = 16, seed: int = 0) -> dict[str, Any]:
    """Articles in which each of six people holds one thing, a line each; a query asks who holds one of them.

    Whoever is right is mentioned twice, and a thing that is no entity stands nearest to what is asked.
    """
    rng = np.random.default_rng(seed)
    articles = []
    for number in range(n):
        people, things = rng.permutation(PEOPLE).tolist(), rng.permutation(THINGS).tolist()
        lines = [f"{person} holds the {thing} ." for person, thing in zip(people, things, strict=True)]
        asked = int(rng.integers(len(people)))
        text = "\n".join([*lines, f"@highlight\n{people[asked]} was seen ."])
        entities = [
            {"start": at, "end": at + len(person) - 1} for person in people for at in _places(text, person)
        ]  # fmt: skip
        answers = [
            {"start": at, "end": at + len(people[asked]) - 1, "text": people[asked]}
            for at in _places(text, people[asked])
        ]
        query = {"id": f"q{number}", "query": f"It is @placeholder who holds the {things[asked]}", "answers": answers}
        articles.append(
            {
                "id": f"a{number}",
                "source": ("CNN", "Daily mail")[number % 2],
                "passage": {"text": text, "entities": entities},
                "qas": [query],
            }
        )
    return {"version": "1.0", "data": articles}


def write_record(place: Any, **given: Any) -> Any:
    """Write such a file."""
    place.write_text(json.dumps(made_record(**given)), encoding="utf-8")
    return place


def _places(text: str, wanted: str) -> list[int]:
    found, at = [], text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found
