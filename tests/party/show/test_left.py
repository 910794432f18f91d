"""What is left of a data set's budget, in words."""

from dataclasses import replace
from fractions import Fraction

import pytest

from party.node.check import Past
from party.settings.party import Acceptance
from party.show.left import epsilon_lines, left_lines
from protocols.terms import ALL, Cipher, Method

TOLD = Past({}, 2, 30, Fraction(3, 2))
REFUSED = "which refuses it"
SAME = "a run that is the same as an earlier one spends nothing more"


@pytest.fixture
def agree() -> Acceptance:
    return Acceptance(
        methods=tuple(Method), odds=None, omega=ALL, ciphers=tuple(Cipher), smallest_key_bits=2048, max_depth=None,
        min_leaf=1,
    )  # fmt: skip


def test_what_was_told_stands_beside_what_may_be(agree: Acceptance) -> None:
    bounded = replace(agree, epsilon=Fraction(3), life=replace(agree.life, runs=5, counts=20))
    assert left_lines(TOLD, bounded) == [
        "Told so far: 2 runs on different terms; 3 of 5 are left.",
        "Told so far: 30 counts; 0 of 20 are left.",
        "Epsilon spent on counts: 1.5; [agree] epsilon allows 3.",
    ]
    spent = left_lines(Past({}, 1, 1, Fraction(0)), replace(agree, life=replace(agree.life, runs=1, counts=20)))
    refused = "a run on other terms is refused, one on the same terms is not"
    assert spent[0] == f"Told so far: 1 run on different terms; 0 of 1 are left: {refused}."
    assert spent[1] == "Told so far: 1 count; 19 of 20 are left."
    assert left_lines(replace(TOLD, epsilon=None), bounded)[-1].startswith("Epsilon spent on counts: no bound")


def test_nothing_is_said_of_what_is_neither_told_nor_bounded(agree: Acceptance) -> None:
    nothing = Past({}, 0, 0, Fraction(0))
    assert left_lines(nothing, replace(agree, life=replace(agree.life, runs=None, counts=None))) == []
    assert left_lines(nothing, replace(agree, life=replace(agree.life, runs=1, counts=None))) == [
        "Told so far: 0 runs on different terms; 1 of 1 are left."
    ]
    told = left_lines(Past({}, 1, 4, None), replace(agree, life=replace(agree.life, runs=None, counts=None)))
    assert [line.split(";")[0] for line in told] == [
        "Told so far: 1 run on different terms",
        "Told so far: 4 counts",
        "Epsilon spent on counts: no bound, as counts without noise were told",
    ]


@pytest.mark.parametrize(
    ("noise", "spent", "allowed", "said"),
    [
        (Fraction(1), Fraction(3, 2), Fraction(3), f"1 and leaves 0.5 of [agree] epsilon; {SAME}."),
        (Fraction(1), Fraction(5, 2), Fraction(3), f"1, 0.5 more than [agree] epsilon leaves, {REFUSED}; {SAME}."),
        (Fraction(1), None, Fraction(3), "1, but no epsilon bounds what was told before: [agree] epsilon refuses it."),
        (Fraction(1), Fraction(9), None, f"1; {SAME}."),
    ],
)  # fmt: skip
def test_what_a_run_spends_and_leaves_is_told(
    agree: Acceptance, noise: Fraction, spent: Fraction | None, allowed: Fraction | None, said: str
) -> None:
    bounded = replace(agree, epsilon=allowed)
    assert epsilon_lines(noise, replace(TOLD, epsilon=spent), bounded) == [f"This run spends epsilon {said}"]


def test_a_run_without_noise_spends_no_epsilon(agree: Acceptance) -> None:
    assert epsilon_lines(None, TOLD, agree) == []
