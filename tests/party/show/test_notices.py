"""What the owner of a table is told of how it was read."""

import pytest

from party.data.notices import IdentifierLeftOut, SpelledAlike
from party.show.notices import telling_once


def test_a_table_that_is_read_again_has_nothing_new_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    tell = telling_once()
    tell([SpelledAlike("city", 2, 9)])
    tell([SpelledAlike("city", 2, 9), IdentifierLeftOut("phone")])
    tell([SpelledAlike("city", 3, 9)])
    told = capsys.readouterr().err.splitlines()
    assert [line.split("'")[1] for line in told] == ["city", "phone", "city"]
