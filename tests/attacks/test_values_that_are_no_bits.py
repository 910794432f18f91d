"""A receiver of classes by naive Bayes that encrypts other numbers than bits, and follows the protocol otherwise.

Each cell of a comparison is a sum of its numbers with signs and constants that the other side's number Y gives. So a
receiver can make the cell of a digit 0 for one way that the digits down to it may be, and for no other: it asks one
question per digit in place of `X < Y`, the last about all of Y, and hears how many of them come out true.
"""

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.ciphers.curve import ORDER, Points, add_points, multiply_secretly, read_points
from protocols.ciphers.elgamal.encryption import write_fresh
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.elgamal.values import CurveValues
from protocols.learning.contest import Contest
from protocols.messages import CiphertextPage, SealedComparisons
from protocols.role import Role, Send, receive, run_pair
from protocols.two_party.comparing import comparison_cells, tell_places
from protocols.two_party.row_sums import RowPages
from tests.attacks.test_compared_classes import Chance, curve_secret, key, side
from tests.support.models import bayes_of

CONTEST = Contest(bayes_of((3, 3, 3, 3), 2, seed=11), "alice")
WIDTH = CONTEST.width
ROWS = np.array([[1, first, 2, second] for first in range(3) for second in range(3)] * 12, dtype=np.int16)
OF_BOB = CONTEST.thresholds(ROWS)[:, 0]
NEVER = [Random(5).randrange(1 << 128, ORDER) for _ in range(WIDTH)]


def cell(numbers: list[int], place: int, threshold: int, *, below: bool) -> int:
    """Return what the cell of a digit holds (`protocols.two_party.comparing`)."""
    digits = [threshold >> place & 1 for place in reversed(range(WIDTH))]
    higher = sum(number * (1 - 2 * digit) + digit for number, digit in zip(numbers[:place], digits, strict=False))
    ahead = numbers[place] - digits[place]
    return ((ahead if below else -ahead) + 1 + 3 * higher) % ORDER


def asking(guess: int) -> list[int]:
    """Return numbers that make the last cell 0 where Y is this and the first class stands first, and no other ever."""
    numbers = [Random(place).randrange(1 << 200, ORDER) for place in range(WIDTH)]
    left = cell([*numbers[:-1], 0], WIDTH - 1, guess, below=True)
    return [*numbers[:-1], -left % ORDER]


def encrypted(numbers: list[int], source: Chance) -> bytes:
    """Encrypt any numbers, as `m -> (aG, aX + mG)`."""
    base, chance = table_of(GENERATOR), [1 + source.randbelow(ORDER - 1) for _ in numbers]
    own = multiply_secretly(base.multiply(chance), [curve_secret()] * len(numbers))
    second = add_points(own, base.multiply(numbers))
    return write_fresh(np.ascontiguousarray(np.stack([base.multiply(chance), second], axis=1)))


def looking(numbers: list[int]) -> Role[NDArray[np.bool_]]:
    """Play the asker's part with these numbers in every row, and return which cells are 0 (`rows x width`)."""
    layout, found = RowPages(len(ROWS), WIDTH, 1), []
    for rows in layout.pages(key().public):
        yield Send(CiphertextPage(encrypted(numbers * len(rows), Chance(3))))
        sealed = (yield from receive(SealedComparisons)).ciphertexts
        found.append(key().zeros(sealed, len(rows) * WIDTH).reshape(-1, WIDTH))
    return np.concatenate(found)


def looked(numbers: list[int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which cells are 0, and in which rows the first class stood first."""
    zeros, orders = run_pair(looking(numbers), tell_places(CONTEST, ROWS, key().public, side("bob")))
    return zeros, orders[:, 0] == 0


def test_numbers_that_are_no_bits_read_whether_the_others_number_is_the_one_that_is_guessed() -> None:
    """Which an honest receiver does not: it hears who wins, in an order that it does not know."""
    guess = int(OF_BOB[4])
    zeros, straight = looked(asking(guess))
    assert (zeros.any(axis=1) == ((guess == OF_BOB) & straight)).all()
    assert zeros.any()
    assert set(map(tuple, ROWS[zeros.any(axis=1)][:, [1, 3]])) == {tuple(ROWS[4, [1, 3]])}  # both columns of Bob's


def test_numbers_that_fit_no_guess_read_nothing() -> None:
    assert not looked(NEVER)[0].any()


def test_where_it_comes_out_true_is_not_told_and_so_at_most_how_many_questions_are() -> None:
    zeros, _ = looked(asking(int(OF_BOB[4])))
    assert set(zeros.sum(axis=1).tolist()) == {0, 1}
    assert len(set(zeros.nonzero()[1].tolist())) > 1  # the last cell was asked, and is anywhere


@pytest.fixture
def cells() -> tuple[list[int], CurveValues]:
    """Return the numbers of a wrong guess, and the cells that they give, neither fresh nor shuffled."""
    numbers, cipher = asking(int(OF_BOB[0])), key().public
    digits = cipher.read(encrypted(numbers, Chance(9)))
    made: CurveValues = comparison_cells(cipher, digits, OF_BOB[4:5], np.array([True]), WIDTH)
    return numbers, made


def test_of_questions_that_come_out_false_no_cell_says_more(cells: tuple[list[int], CurveValues]) -> None:
    """Cells that are not multiplied would name Y among all guesses; as they are sent none fits, as of any Y."""
    numbers, made = cells
    guesses = sorted(set(OF_BOB.tolist()))
    assert fitting(opened(made.points, made.numbers), numbers, guesses) == [int(OF_BOB[4])]
    sent = read_points(key().public.seal_zeros(made, Chance(3))).reshape(-1, 2, 64)
    assert fitting(opened(sent, np.zeros(WIDTH, dtype=np.int64)), numbers, guesses) == []


def opened(pairs: Points, added: NDArray[np.int64]) -> Points:
    """Return each plaintext times G."""
    first, second = (np.ascontiguousarray(pairs[:, half]) for half in (0, 1))
    shared = multiply_secretly(first, [ORDER - curve_secret()] * len(first))
    return add_points(add_points(second, shared), table_of(GENERATOR).multiply([int(each) for each in added]))


def fitting(multiples: Points, numbers: list[int], guesses: list[int]) -> list[int]:
    """Return the guesses of Y whose cells, in any order and each multiplied by one, are these."""
    base, found = table_of(GENERATOR), {bytes(each) for each in multiples}
    return [
        guess
        for guess in guesses
        if {bytes(each) for each in base.multiply([cell(numbers, c, guess, below=True) for c in range(WIDTH)])} == found
    ]
