"""Transactions are sets over a universe, or they are refused."""

import numpy as np
import pytest

from protocols.association.transactions import Randomized, Transactions
from protocols.errors import InputError


@pytest.mark.parametrize(
    ("baskets", "problem"),
    [
        ([[0], [1, 2, 1]], "transaction 1 must hold each item once"),
        ([[0], [], [4]], "transaction 2 holds an item outside the universe of 4"),
        ([[0], [-1]], "transaction 1 holds an item outside"),
        ([[2**40]], "transaction 0 holds an item outside"),
    ],
)
def test_an_item_twice_or_outside_the_universe_is_refused(baskets: list[list[int]], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Transactions.of(baskets, 4)


@pytest.mark.parametrize(
    ("starts", "items", "problem"),
    [
        ([0, 2], [1, 0], "transaction 0 must hold each item once, and its items must rise"),
        ([0, 1, 1, 3], [3, 2, 2], "transaction 2 must hold each item once"),
        ([0, 3], [0, 1], "starts"),
        ([1, 2], [0, 1], "starts"),
        ([], [], "starts"),
        ([0, 2, 1, 2], [0, 1], "must not fall"),
        ([0, 1, 2], [0, 9], "transaction 1 holds an item outside"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(starts: list[int], items: list[int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Transactions(4, np.array(starts, dtype=np.int64), np.array(items, dtype=np.int32))


def test_transactions_are_kept_as_they_are_given_and_there_may_be_none() -> None:
    made = Transactions.of([[3, 1], [], [0], []], 4)
    assert made.sets() == list(map(frozenset, ([1, 3], [], [0], [])))
    assert made.sizes.tolist() == [2, 0, 1, 0]
    assert made.row(0).tolist() == [1, 3]
    assert made.matrix(np.array([2, 0])).astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 1]]
    assert repr(made) == "<Transactions 4 over 4 items>"
    assert len(Transactions.of([], 0)) == 0
    assert Transactions.of([[]], 0).sets() == [frozenset()]
    assert Transactions.of([[3], [0], [], [2], [1, 3]], 4).sizes.tolist() == [1, 1, 0, 1, 2]
    for universe in (-1, 2**31):
        with pytest.raises(InputError, match="a universe has"):
            Transactions.of([], universe)
    for sizes in ([1], [1, -1], [1, 1, 1]):
        with pytest.raises(InputError, match="one original size each"):
            Randomized(Transactions.of([[0], [1]], 2), np.array(sizes))
