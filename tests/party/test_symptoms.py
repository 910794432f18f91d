"""The page of symptoms shows what is on the screen."""

import re
from pathlib import Path

import pytest

PARTY = Path(__file__).parents[2] / "party"
SEEN = [
    text
    for line in (PARTY / "SYMPTOMS.md").read_text().splitlines()
    if line.startswith("| `")
    for text in re.findall("`([^`]+)`", line.split(" | ")[0])
]


def test_the_page_has_symptoms() -> None:
    assert len(SEEN) >= 15


@pytest.mark.parametrize("text", SEEN)
def test_each_symptom_is_said_somewhere(text: str) -> None:
    sources = "".join(path.read_text() for path in (*PARTY.rglob("*.py"), *(PARTY.parent / "protocols").rglob("*.py")))
    for piece in re.split(r"\b(?:PEER|ADDRESS|HOSTS|HOST|FIELD|DIR)\b|\.\.\.|\d+ s", text):
        assert piece.strip(" :,") in sources, piece
