"""What the owner of a table is told of how it was read."""

import pytest

from party.data.notices import About
from party.show.notices import _SENTENCES, telling_once


def test_a_table_that_is_read_again_has_nothing_new_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    tell = telling_once()
    tell([About.SPELLED_ALIKE(column="city", values=2, cells=9)])
    tell([About.SPELLED_ALIKE(column="city", values=2, cells=9), About.IDENTIFIER(column="phone")])
    tell([About.SPELLED_ALIKE(column="city", values=3, cells=9)])
    told = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in told] == ["city", "phone", "city"]


def test_every_notice_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(About)
