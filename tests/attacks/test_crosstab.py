"""Attacks on tables of two columns: columns that differ by one person, asked again and again, and numbers for bits."""

from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from protocols.jobs import CrosstabTerms
from protocols.role import run_pair
from protocols.secret_tree import shares
from protocols.secret_tree.held_out import facts_read, noise_of_table
from protocols.two_party.crosstab import Crossed
from tests.attacks.test_chosen_tree import NumbersForBits, lead
from tests.protocols.two_party.test_crosstab import sides
from tests.support.binomial import ShareTest
from tests.support.examples import few
from tests.support.parties import Case, make_terms

HALF = Fraction(1, 2)
RECORDS, AIM = 60, 7
CODES = np.random.default_rng(3).integers(0, 2, (RECORDS, 6)).astype(np.uint8)
CODES[:, 1:5] = np.arange(RECORDS)[:, None] % 2  # Bob's columns are one, but for his person in every second of them
CODES[AIM, 1:5] = 0, 1, 0, 1
CASE = Case({"alice": (2,), "bob": (2,) * 4}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, make_terms())


def asked(column: int, noise: Fraction | None = HALF, owner: int = 0) -> tuple[Crossed, tuple[int, ...]]:
    """Return Alice's side of a table that Bob asks, hers under another secret for each owner, and its cells."""
    (agreed, table), _ = run_pair(*sides(CASE, CrosstabTerms(f"b{column}", "a0", noise), "bob"))
    secrets = replace(agreed.local.secrets, coins=owner.to_bytes(32, "big"))
    return replace(agreed, local=replace(agreed.local, secrets=secrets)), table


def leads(agreed: Crossed, column: int) -> float:
    """Return by how much a table speaks for the value 1 of Bob's person to who knows all else, as its logarithm."""
    place, value = int(CODES[AIM, column + 1]), int(CODES[AIM, 0])
    seen = np.reshape(agreed.noise(), (2, 2))[:, place] + np.eye(2, dtype=int)[value]
    return lead(noise_of_table(HALF), tuple(seen.tolist()))


def test_exact_tables_of_two_columns_that_differ_by_a_person_name_her_value_and_noise_of_its_own_does_not() -> None:
    """The control: exact tables, subtracted. With noise either table says the same however often it is asked."""
    (_, with_her), (_, without) = (asked(column, None) for column in (1, 0))
    differs = np.reshape(with_her, (2, 2)) - np.reshape(without, (2, 2))
    assert differs[:, 1].tolist() == np.eye(2, dtype=int)[CODES[AIM, 0]].tolist()
    assert {asked(0)[1] for _ in range(3)} == {asked(0)[1]}


@pytest.mark.parametrize(("tables", "least"), [(1, 0.53), (4, 0.58)])
def test_tables_of_columns_that_differ_by_a_person_say_no_more_of_her_than_an_epsilon_each(
    tables: int, least: float
) -> None:
    """Who knows all others, and its own noise, is right for `odds / (1 + odds)` at most, odds of `exp(tables / 2)`.

    Of 3,000 owners, or a third, false alarm 10**-9; a node with `[agree] epsilon = "2"` shows four such tables.
    """
    agreed = [asked(column)[0] for column in range(tables)]
    found = list[float]()
    for owner in few(range(3000), 3):
        secrets = replace(agreed[0].local.secrets, coins=owner.to_bytes(32, "big"))
        mine = [replace(each, local=replace(each.local, secrets=secrets)) for each in agreed]
        found.append(sum(leads(each, column) for column, each in enumerate(mine)))
    assert max(map(abs, found)) <= tables / 2
    truth = 1 if CODES[AIM, 0] else -1
    right = sum(lead * truth > 0 or (lead == 0 and owner % 2 == 0) for owner, lead in enumerate(found))
    bound = Fraction(exp(tables / 2) / (1 + exp(tables / 2))).limit_denominator(1000)
    assert right <= ShareTest(len(found), bound, 1e-9).high
    assert right >= least * len(found)


WIDE = np.column_stack([np.random.default_rng(9).integers(0, 2, 400), np.arange(400) % 16, np.arange(400) % 2])
"""Alice's column, of two values, Bob's of sixteen, and a class that nobody asks about."""


def wide_table(noise: Fraction) -> tuple[list[int], Crossed]:
    """Return what is left of the 32 cells, hers of value 0 first, without Bob's noise, and what both know."""
    case = Case({"alice": (2,), "bob": (16,)}, ("bob",), 2, WIDE.astype(np.uint8), {"alice": 1, "bob": 1}, make_terms())
    _, (agreed, cells) = run_pair(*sides(case, CrosstabTerms("b0", "a0", noise), "bob"))
    return [cell - own for cell, own in zip(cells, agreed.noise(), strict=True)], agreed


@pytest.mark.parametrize("deviates", [False, True])
def test_who_sends_numbers_for_bits_reads_a_person_in_each_cell_of_a_table_whatever_the_noise(
    monkeypatch: pytest.MonkeyPatch, *, deviates: bool
) -> None:
    """Epsilon holds against who follows the protocol: e^(1/2) allows .62 of 32. The control sends bits."""
    aims = np.random.default_rng(1).permutation(400)[:32].tolist()
    monkeypatch.setattr(Crossed, "adds_up", lambda *_: True)  # who sends last makes it add up
    if deviates:
        monkeypatch.setattr(shares, "BitsAsNumbers", NumbersForBits([31], 400, iter(aims)))
    left, _ = wide_table(HALF)
    right = sum((left[cell] >= 16) == (WIDE[aim, 0] == cell // 16) for cell, aim in enumerate(aims))
    assert (right >= 31) == deviates


@pytest.mark.parametrize("noise", [HALF, Fraction(1, 100)])
@pytest.mark.parametrize("deviates", [False, True])
def test_by_three_openings_with_one_noise_numbers_for_bits_read_twelve_people_in_each_cell(
    monkeypatch: pytest.MonkeyPatch, noise: Fraction, *, deviates: bool
) -> None:
    """The first opening, of nothing, is our noise; by each other one six people of a cell are read without it.

    At most 25 and 34 of a cell are possible: three times 10 and 15 bits less those of noise. The control sends bits.
    """
    aims = np.random.default_rng(2).permutation(400)[:384].reshape(2, 192).tolist()
    monkeypatch.setattr(Crossed, "adds_up", lambda *_: True)  # Alice never hears of an opening that is cut off
    tables, weights = list[list[int]](), [1 << bit for bit in range(6)]
    for numbers, read in (([], []), (weights, aims[0]), (weights, aims[1])):
        if deviates:
            monkeypatch.setattr(shares, "BitsAsNumbers", NumbersForBits(numbers, 400, iter(read)))
        cells, agreed = wide_table(noise)
        tables.append(cells)
    right, alone = 0, tables[0]
    for seen, read in zip(tables[1:], aims, strict=True):
        for at, aim in enumerate(read):
            cell, bit = divmod(at, 6)
            right += bool(seen[cell] - alone[cell] >> bit & 1) == (WIDE[aim, 0] == cell // 16)
    assert (right == 384) == deviates
    assert agreed.law is not None
    assert facts_read(400, 32, agreed.law, 3) >= 384
