"""Options of the demo that are read from text."""

from fractions import Fraction

import pytest

from party.cli.outputs import fraction
from party.demo.options import parse_omegas, parse_ways
from protocols.errors import InputError
from protocols.terms import ALL, DEPTH


@pytest.mark.parametrize("text", ["", "0", "1,,2", "1;2", "-1", "ALL", "65536", "1" * 5000, "²"])
def test_what_is_no_list_of_windows_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="omega must list"):
        parse_omegas(text)


def test_windows_are_read_in_their_order() -> None:
    assert parse_omegas("3, 1,all") == (3, 1, ALL)


@pytest.mark.parametrize("text", ["", "rsa", "dot_product:paillier", "paillier,,", ","])
def test_what_is_no_list_of_ways_of_counting_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=r"^ways must list ways of counting, such as paillier, oblivious_transfer"
    ) as caught:
        parse_ways(text)
    assert caught.value.field == "ways"


@pytest.mark.parametrize("text", ["", "0", "65536", "-1", "ANY", "1" * 5000, "²"])
def test_what_is_no_depth_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="max_depth must be an integer from 1 to"):
        DEPTH.parse(text, "max_depth")


def test_a_number_that_is_not_exact_is_refused() -> None:
    assert fraction("--theta", "0.45") == Fraction(9, 20)
    with pytest.raises(InputError, match="--theta must be an exact number"):
        fraction("--theta", "1e-1")
