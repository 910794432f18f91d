"""What a partner can make of our estimated gains: of the full numbers our columns, of those that cross no more than of
our copy (DESIGN 14)."""

from dataclasses import replace
from fractions import Fraction
from math import log2, sqrt

import numpy as np
import pytest

from protocols.counts import Answer
from protocols.learning.merit import estimated_merits
from protocols.learning.ranking import FINEST_STEP
from protocols.messages import EstimatedGains
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Transcript
from protocols.tables.arrays import Floats
from protocols.terms import TO_THE_END
from protocols.two_party.rounding import count_step, gain_step
from tests.support.cases import correlated
from tests.support.parties import Case, make_terms, play

RECORDS = 200
THETA = Fraction(7, 10)
WARNER = RelatedDesign.of_odds((2,), ((0,),), THETA)
TWO_GROUPS = RelatedDesign.of_odds((2, 3), ((0,), (1,)), THETA)
PLAIN = RelatedDesign.of_odds((2,), (), THETA)


def copy_error(records: float) -> float:
    """Return the standard error of a count from one Warner column."""
    return sqrt(records * 0.7 * 0.3) / 0.4


@pytest.mark.parametrize("records", [1, 2, 50, 1000, 26_049, 10**6])
def test_a_step_is_the_power_of_two_at_or_below_a_quarter_of_the_copys_error(records: int) -> None:
    step = count_step([WARNER], records)
    assert log2(step).is_integer()
    assert step <= copy_error(records) / 4 < 2 * step
    bits = gain_step([WARNER])(records)
    assert log2(bits).is_integer()
    assert bits <= max(step / records, FINEST_STEP)
    assert bits == 1 or step / records < 2 * bits


def test_the_group_that_hides_least_decides_and_groups_that_hide_nothing_do_not() -> None:
    assert count_step([WARNER, TWO_GROUPS], 900) == min(count_step([each], 900) for each in (WARNER, TWO_GROUPS))
    single = RelatedDesign.of_odds((1, 2), ((0,), (1,)), THETA)
    assert count_step([single], 900) == count_step([WARNER], 900)
    assert count_step([PLAIN, PLAIN], 900) == 0
    assert gain_step([PLAIN])(900) == FINEST_STEP


def peer_table(cell: int, ones: int, sent_ones: int) -> Floats:
    """Return the table that the sender estimates over a class that the receiver has sent disguised.

    Args:
        cell: The sender's records with its column 1 that the receiver's copy has in class 1.
        ones: The sender's records with its column 1.
        sent_ones: Records that the receiver's copy has in class 1; the receiver knows them.
    """
    sent = np.array([[RECORDS - ones - sent_ones + cell, sent_ones - cell], [ones - cell, cell]], dtype=np.float64)
    undo = np.array([[0.7, -0.3], [-0.3, 0.7]]) / 0.4
    table: Floats = sent @ undo
    return table


def estimated_gain(table: Floats) -> float:
    ((bits,),) = estimated_merits([Answer((table,))], [RECORDS], TO_THE_END)
    return bits


def tables_that_fit(told: float, sent_ones: int, step: float) -> list[tuple[int, int]]:
    """List the sender's tables whose gain, told as a multiple of `step`, is what was told: the receiver's attack."""
    found = []
    for ones in range(RECORDS + 1):
        for cell in range(max(0, ones + sent_ones - RECORDS), min(ones, sent_ones) + 1):
            bits = estimated_gain(peer_table(cell, ones, sent_ones))
            if round(bits / step) == told:
                found.append((cell, ones))
    return found


def test_exact_gains_invert_to_the_senders_table_and_gains_as_they_cross_do_not() -> None:
    cell, ones, sent_ones = 61, 90, 110
    bits = estimated_gain(peer_table(cell, ones, sent_ones))
    exact = 2.0**-40
    mirrored = (sent_ones - cell, RECORDS - ones)  # the same with the names of the two values swapped
    assert tables_that_fit(round(bits / exact), sent_ones, exact) == [(cell, ones), mirrored]
    step = gain_step([WARNER])(RECORDS)
    fits = tables_that_fit(round(bits / step), sent_ones, step)
    assert (cell, ones) in fits
    errors = np.array([found - cell * share / ones for found, share in fits])
    assert len(fits) > 100
    assert np.ptp(errors) > copy_error(RECORDS) / 4


def test_gains_cross_as_few_multiples_at_every_window() -> None:
    """At omega 1 the gains of all columns cross; in all they hold a few bits a candidate, not sixty-four."""
    codes = correlated((2, 2, 2, 2, 2), RECORDS, seed=5, flips=0.6)
    case = Case(
        {"alice": (2, 2), "bob": (2, 2)},
        ("alice",),
        2,
        codes,
        {"alice": 1, "bob": 1},
        make_terms(theta=THETA, omega=1, test=Fraction(0)),
    )
    sent = Transcript()
    play(case, sent)
    gains = [message.values for message in sent.sent_by_a if isinstance(message, EstimatedGains)]
    root = gain_step([WARNER])(RECORDS)
    assert len(gains[0]) == 4
    assert max(value for values in gains for value in values) <= 2 / root + 1
    assert all(value >= 0 for values in gains for value in values)


@pytest.mark.parametrize("owners", [("alice",), ("bob",), ("alice", "bob")])
def test_ranked_by_copies_both_sides_grow_one_tree_and_no_gain_crosses(owners: tuple[str, ...]) -> None:
    codes = correlated((2, 3, 2, 3, 2), RECORDS, seed=6, flips=0.5)
    case = Case(
        {"alice": (2, 3), "bob": (2, 3)},
        owners,
        2,
        codes,
        {"alice": 2, "bob": 1},
        make_terms(theta=Fraction(9, 10), omega=2, rank="copies"),
    )
    sent = Transcript()
    a, b = play(case, sent)
    assert a == b
    assert not any(isinstance(m, EstimatedGains) for m in (*sent.sent_by_a, *sent.sent_by_b))


def test_copies_find_the_attribute_that_matters() -> None:
    """Of four columns one is the class itself: the copies rank it first, at every node's level of noise here."""
    rng = np.random.default_rng(8)
    columns = rng.integers(0, 2, (4000, 4))
    codes = np.column_stack([columns, columns[:, 2]]).astype(np.uint8)
    case = Case(
        {"alice": (2, 2), "bob": (2, 2)},
        ("alice",),
        2,
        codes,
        {"alice": 1, "bob": 1},
        make_terms(theta=Fraction(4, 5), omega=1, rank="copies", test=Fraction(0)),
    )
    tree = play(case)[0].tree
    assert tree.size == 3
    assert tree.columns == {2}
    same = play(replace(case, terms=replace(case.terms, omega=None)))[0].tree
    assert same == tree
