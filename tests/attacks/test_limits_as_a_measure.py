"""A limit is a measure in the hand of who may choose it: what is told as nothing has a branch below it (DESIGN 14)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from protocols.learning import ranking
from protocols.learning.merit import estimated_merits
from protocols.messages import EstimatedGains
from protocols.role import Transcript
from protocols.two_party import mined
from tests.support.parties import Case, make_terms, play

RECORDS = 200
BOBS = np.random.default_rng(10).integers(0, 2, (RECORDS, 2))


def case(method: str, held: int, min_leaf: int) -> Case:
    """Return the case in which Alice's column holds so many people, nearly all of one class."""
    people = np.arange(RECORDS)
    label = np.where(people < held, people % 20 == 0, people % 2)
    codes = np.column_stack([people < held, BOBS, label]).astype(np.uint8)
    terms = make_terms(method=method, omega=1, theta=Fraction(2, 3), min_leaf=min_leaf, max_depth=1, test=Fraction(0))
    return Case({"alice": (2,), "bob": (2, 2)}, ("alice",), 2, codes, {"alice": 1, "bob": 1}, terms)


def has_a_gain(held: int, min_leaf: int) -> bool:
    """Tell whether Alice tells one of her column, whatever the window counts."""
    sent = Transcript()
    play(case("hybrid", held, min_leaf), sent)
    return next(message.values[0] > 0 for message in sent.sent_by_a if isinstance(message, EstimatedGains))


def splits(held: int, min_leaf: int) -> bool:
    """Tell whether the tree that Alice mines splits by her column."""
    return play(case("randomized", held, min_leaf))[0].tree.columns == {0}


@contextmanager
def exact_limits() -> Iterator[None]:
    """Compare branches with the limit as they are."""
    with (
        patch.object(ranking, "estimated_merits", lambda *args: estimated_merits(*args[:3])),
        patch.object(mined, "RoundedCounts", lambda counts, _: counts),
    ):
        yield


def measured(passes: Callable[[int, int], bool], held: int) -> int:
    """Return the last limit that the branch passes, of as many runs as there are limits."""
    passed = [limit for limit in range(34, 42) if passes(held, limit)]
    assert passed == list(range(34, max(passed) + 1))
    return max(passed)


@pytest.mark.parametrize("passes", [has_a_gain, splits])
def test_runs_with_every_limit_would_read_a_count_outside_the_window_and_read_it_as_rounded(
    passes: Callable[[int, int], bool],
) -> None:
    """A gain's step is 1/64 of two hundred people here, a mined count's four: 37, 38 and 39 read the same."""
    with exact_limits():
        assert [measured(passes, held) for held in (37, 38, 39)] == [37, 38, 39]
    assert len({measured(passes, held) for held in (37, 38, 39)}) == 1
