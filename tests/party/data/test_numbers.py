"""SortedNumbers sorted as doubles are those sorted as decimals; what doubles could confuse is not left to them."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data import numbers
from party.data.numbers import DIGITS_OF_A_DOUBLE, Doubles, SortedNumbers, decimal_text, doubles, sorted_numbers

TEXTS = st.from_regex(r"-?(0|[1-9][0-9]{0,6})(\.[0-9]{1,6})?", fullmatch=True)


@given(st.dictionaries(TEXTS, st.integers(1, 9), min_size=1, max_size=40))
def test_doubles_give_what_decimals_give(counts: dict[str, int]) -> None:
    texts, records = [*counts], np.array([*counts.values()])
    short = doubles(texts)
    assert short is not None
    each = np.repeat(short, records)
    fast = Doubles.among(each)
    slow, places = sorted_numbers(texts, records, Decimal)
    assert [*fast.values] == [*slow.values]
    assert fast.records.tolist() == slow.records.tolist()
    for edges in ([*slow.values][::3], [Decimal("-1e9")], [Decimal("1e9")], [Decimal(0), Decimal("0.0000001")]):
        assert fast.sizes(edges) == slow.sizes(edges)
        assert slow.bins(edges).tolist() == [sum(edge < value for edge in edges) for value in slow.values]
        assert fast.bins_of(each, edges).tolist() == np.repeat(slow.bins(edges)[places], records).tolist()


@given(st.sets(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=9), st.integers(1, 12), st.booleans())
def test_numbers_that_may_be_codes_or_row_numbers_are_told_by_their_doubles(
    some: set[Decimal], length: int, count: bool
) -> None:
    first = min(some)
    values = [first + i for i in range(length)] if count else [round(value) for value in some]
    held = Doubles.among(np.array([float(value) for value in values]))
    texts = {decimal_text(Decimal(value)) for value in values}
    assert held.digits == (len(min(texts)) if all(map(str.isdigit, texts)) and len({*map(len, texts)}) == 1 else None)
    assert held.may_count_up or not count


def test_fifteen_digits_are_told_apart_as_doubles_and_more_are_not_tried() -> None:
    texts = ["999999999999998", "999999999999999", "0.0000000000001", "-99999999999999"]
    found = doubles(texts)
    assert found is not None
    assert len(set(found.tolist())) == 4
    assert np.finfo(np.float64).precision == DIGITS_OF_A_DOUBLE
    assert doubles([*texts, "0.30000000000000001"]) is None


def test_doubles_tell_what_decimals_tell() -> None:
    assert all(Doubles.among(np.array(each)).may_count_up for each in ([5.0], [7.0, 9.0, 8.0], [-1.0, 0.0]))
    assert not any(
        Doubles.among(np.array(each)).may_count_up for each in ([7.0, 9.0], [1.0, 2.0, 4.0], [0.1, 0.2, 0.3])
    )
    for text in ("1e3", "+1", "nan", "inf", "1_0", " 1", "1,5", "", ".", "-", "1.2.3", "\u0663", "007", "-01", "1\n2"):
        assert doubles(["1", text]) is None
    held = SortedNumbers.of(Counter({Decimal(5): 2, Decimal(1): 3, Decimal(9): 1}))
    assert [held.nth(n) for n in range(1, 8)] == list(map(Decimal, (1, 1, 1, 5, 5, 9, 9)))
    assert [held.nth_from_above(n) for n in range(1, 8)] == list(map(Decimal, (9, 5, 5, 1, 1, 1, 1)))


def test_few_numbers_are_read_exactly_to_find_the_edges_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Decimal:
        read.append(text)
        return Decimal(text)

    monkeypatch.setattr(numbers, "Decimal", counted)
    texts = list(map(str, range(10_000)))
    each = doubles(texts)
    assert each is not None
    Doubles.among(each).sizes([Decimal(2500), Decimal(5000)])
    assert 0 < len(read) < 100
