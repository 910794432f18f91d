"""Attacks on tables of two columns: columns that differ by one person, asked again and again, and numbers for bits."""

from dataclasses import replace
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from protocols.jobs import CrosstabTerms
from protocols.role import run_pair
from protocols.secret_tree import shares
from protocols.secret_tree.held_out import noise_of_table
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

    Of 3,000 owners, or half, false alarm 10**-9; a node with `[agree] epsilon = "2"` shows four such tables.
    """
    agreed = [asked(column)[0] for column in range(tables)]
    found = list[float]()
    for owner in few(range(3000), 2):
        secrets = replace(agreed[0].local.secrets, coins=owner.to_bytes(32, "big"))
        mine = [replace(each, local=replace(each.local, secrets=secrets)) for each in agreed]
        found.append(sum(leads(each, column) for column, each in enumerate(mine)))
    assert max(map(abs, found)) <= tables / 2
    truth = 1 if CODES[AIM, 0] else -1
    right = sum(lead * truth > 0 or (lead == 0 and owner % 2 == 0) for owner, lead in enumerate(found))
    bound = Fraction(exp(tables / 2) / (1 + exp(tables / 2))).limit_denominator(1000)
    assert right <= ShareTest(len(found), bound, 1e-9).high
    assert right >= least * len(found)


@pytest.mark.parametrize("deviates", [False, True])
def test_who_sends_numbers_for_bits_reads_one_person_of_a_table_whatever_the_noise(
    monkeypatch: pytest.MonkeyPatch, *, deviates: bool
) -> None:
    """Epsilon holds against who follows the protocol: e^(1/2) allows .62 of 12. The control sends bits."""
    right = 0
    for aim in range(12):
        if deviates:
            monkeypatch.setattr(shares, "BitsAsNumbers", NumbersForBits(aim, RECORDS))
        agreed, bobs = run_pair(*sides(CASE, CrosstabTerms("b0", "a0", HALF), "bob"))
        left = np.reshape(agreed[1], (2, 2)) - np.reshape(bobs[0].noise(), (2, 2))
        right += int(left[1, 0] > left[0, 0]) == CODES[aim, 0]
    assert (right == 12) == deviates
