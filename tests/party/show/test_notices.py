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


def test_columns_that_are_binned_or_merged_are_counted_in_one_line_and_the_rest_is_left_to_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    treated = [About.TREATED(column=name, remarks=[About.ONE_VALUE()]) for name in ("age", "city")]
    telling_once()([treated[0], About.IDENTIFIER(column="phone"), treated[1]])
    first, last = capsys.readouterr().err.splitlines()
    assert "'phone'" in first
    assert last == "cotally: note: 2 columns are binned, merged or filled in: `cotally check` shows how"


def test_every_notice_has_a_sentence() -> None:
    assert set(_SENTENCES) == set(About)
