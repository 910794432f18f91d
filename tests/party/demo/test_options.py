"""Options of the demo that are read from text."""

from fractions import Fraction

import pytest

from party.cli.outputs import fraction
from party.demo.options import parse_omegas, parse_ways
from protocols.errors import InputError
from protocols.terms import ALL, DEPTH


def test_windows_are_read_in_order_and_what_is_none_is_refused() -> None:
    for text in ("", "0", "1,,2", "1;2", "-1", "ALL", "65536", "1" * 5000, "²"):
        with pytest.raises(InputError, match="omega must list"):
            parse_omegas(text)
    assert parse_omegas("3, 1,all") == (3, 1, ALL)
    for text in ("", "rsa", "dot_product:paillier", "paillier,,", ","):
        with pytest.raises(
            InputError, match=r"^ways must list ways of counting, such as oblivious_transfer, paillier"
        ) as caught:
            parse_ways(text)
        assert caught.value.field == "ways"
    for text in ("", "0", "65536", "-1", "ANY", "1" * 5000, "²"):
        with pytest.raises(InputError, match="max_depth must be an integer from 1 to"):
            DEPTH.parse(text, "max_depth")
    assert fraction("--theta", "0.45") == Fraction(9, 20)
    with pytest.raises(InputError, match="--theta must be an exact number"):
        fraction("--theta", "1e-1")
