"""A receiver of classes by naive Bayes that looks at all that it gets, and what it would read without each mask."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.ciphers.curve import ORDER, Points, add_points, are_finite, multiply_secretly, read_points
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.elgamal.values import CurveValues
from protocols.ciphers.port import AnyKeyHolder, Reply, Shape
from protocols.learning.contest import Contest
from protocols.messages import SealedComparisons
from protocols.role import Phase, Role, receive, run_pair
from protocols.terms import Cipher
from protocols.two_party.comparing import comparison_cells, tell_places
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.row_sums import RowPages, send_bits
from tests.support.binomial import lower_tail, upper_tail
from tests.support.models import bayes_of
from tests.support.parties import make_local
from tests.support.predictions import PARTIES

MODEL = bayes_of((3, 3, 3, 3), 3, seed=11)
CONTEST = Contest(MODEL, "alice")
ALARM = 1e-9


class Chance(Random):
    """A source of chance that can be asked again."""

    def randbelow(self, bound: int, /) -> int:
        return self.randrange(bound)


def side(name: str, seed: int = 1) -> PartyInputs:
    local = make_local(PARTIES, name)
    return replace(local, secrets=replace(local.secrets, randomness=Chance(seed)))


def key() -> AnyKeyHolder:
    return side("alice").secrets.keys[Cipher.CURVE]


def looking(codes: NDArray[np.int16]) -> Role[NDArray[np.bool_]]:
    """Play the asker's part, and return which cells are 0 (`rows x pairs x width`)."""
    own = CONTEST.bits(codes)
    layout = RowPages(len(codes), CONTEST.pairs * CONTEST.width, 1)
    yield from send_bits(layout, lambda rows: own[rows].reshape(len(rows), -1), key(), side("alice"), Phase.ROWS)
    found = []
    for rows in layout.pages(key().public):
        sealed = (yield from receive(SealedComparisons)).ciphertexts
        found.append(key().zeros(sealed, len(rows) * layout.bits).reshape(-1, CONTEST.pairs, CONTEST.width))
    return np.concatenate(found)


def looked(codes: NDArray[np.int16]) -> NDArray[np.bool_]:
    zeros, _ = run_pair(looking(codes), tell_places(CONTEST, codes, key().public, side("bob")))
    return zeros


def came_out(zeros: NDArray[np.bool_]) -> list[tuple[bool, ...]]:
    """Return for each row which of each pair of places wins."""
    return [tuple(bool(pair.any()) for pair in row) for row in zeros]


ROW = np.array([[0, 1, 2, 0]], dtype=np.int16)
TIMES = 240


@pytest.fixture(scope="module")
def often() -> NDArray[np.bool_]:
    """Return what comes of one row, asked so many times."""
    return looked(np.repeat(ROW, TIMES, axis=0))


def in_order() -> NDArray[np.bool_]:
    """Return what would come of the same row where nothing is shuffled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("protocols.two_party.comparing._orders", _in_order)
        return looked(np.repeat(ROW, 40, axis=0))


def every_row(times: int) -> NDArray[np.int16]:
    return np.tile(np.array(list(product(range(3), repeat=4)), dtype=np.int16), (times, 1))


def test_sums_of_scores_would_tell_the_other_sides_columns_of_every_row() -> None:
    """Of nine pairs of values of Bob's no two have the same sums: whoever hears the sums reads the row."""
    codes = every_row(1)
    sums = [tuple(row) for row in CONTEST.thresholds(codes).tolist()]
    of_values: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for row, told in zip(codes.tolist(), sums, strict=True):
        of_values.setdefault(told, set()).add((row[1], row[3]))
    assert len(of_values) == 9
    assert all(len(values) == 1 for values in of_values.values())


def test_places_come_out_as_if_drawn_by_lot_whatever_the_row(often: NDArray[np.bool_]) -> None:
    """Of one row, asked many times, each place wins a third of the time; in the classes' own order always one does."""
    orders, chance = Counter(came_out(often)), Fraction(1, 6)
    assert len(orders) == 6
    for times in orders.values():
        assert min(upper_tail(TIMES, chance, times), lower_tail(TIMES, chance, times)) > ALARM
    assert len(set(came_out(in_order()))) == 1


def _in_order(count: int, number: int, randomness: object) -> NDArray[np.intp]:
    del randomness
    return np.tile(np.arange(number, dtype=np.intp), (count, 1))


def test_where_a_comparison_is_decided_is_shuffled_away(often: NDArray[np.bool_]) -> None:
    """Unshuffled, the digit that decides halves what Y can be, again and again; shuffled, it is anywhere."""
    assert (often.sum(axis=2) <= 1).all()
    places = np.bincount(often.nonzero()[2], minlength=CONTEST.width)
    total, chance = int(places.sum()), Fraction(1, CONTEST.width)
    assert all(min(upper_tail(total, chance, n), lower_tail(total, chance, n)) > ALARM for n in places.tolist())
    assert len(set(in_order().nonzero()[2].tolist())) <= CONTEST.pairs


WIDTH, X, Y = 6, 0b010110, 0b011001


def plaintexts(threshold: int) -> list[int]:
    """Return what the cells of a comparison of X with this number hold."""
    told, higher = [], 0
    for digit in reversed(range(WIDTH)):
        x, y = X >> digit & 1, threshold >> digit & 1
        told.append(x - y + 1 + 3 * higher)
        higher += x != y
    return told


def chances(drawn: list[int], threshold: int) -> list[int]:
    """Return the asker's chance in each cell, if the other side's number is this one."""
    told, higher = [], 0
    for place, own in enumerate(drawn):
        told.append(own + 3 * higher)
        higher += -own if threshold >> (WIDTH - 1 - place) & 1 else own
    return told


@pytest.fixture
def cells() -> CurveValues:
    """Return the cells of one comparison, neither fresh nor shuffled; `drawn` is the chance in X's digits."""
    digits = [X >> digit & 1 for digit in reversed(range(WIDTH))]
    (page,) = key().encryption(Chance(7)).encrypt_pages([digits])
    cipher = key().public
    made: CurveValues = comparison_cells(cipher, cipher.read(page), np.array([Y]), np.array([True]), WIDTH)
    return made


def test_cells_that_are_not_multiplied_would_tell_every_digit_and_else_one_of_them_is_zero(cells: CurveValues) -> None:
    largest = 3 * WIDTH + 2
    plain = key().counts(key().public.seal([Reply(cells, 1)], largest, Chance(3)), [Shape(WIDTH, 1)], largest)
    guesses = range(1 << WIDTH)
    assert [guess for guess in guesses if plaintexts(guess) == plain] == [Y]
    zeros = key().zeros(key().public.seal_zeros(cells, Chance(3)), WIDTH)
    assert zeros.sum() == 1
    fitting = [guess for guess in guesses if (np.array(plaintexts(guess)) == 0).any() == zeros.any()]
    assert fitting == list(range(X + 1, 1 << WIDTH))


def test_cells_that_are_multiplied_and_not_fresh_would_tell_every_digit_by_the_askers_own_chance(
    cells: CurveValues,
) -> None:
    """A cell is `(k a G, (x a + m) k G)` with `a` of the asker's chance: `m a k G` of a guess fits both or not."""
    chance = Chance(7)
    drawn = [chance.randbelow(ORDER) for _ in range(WIDTH)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("protocols.ciphers.elgamal.sealing._fresh", _only_added_up)
        stale = key().public.seal_zeros(cells, Chance(3))
    assert read_by_chance(stale, drawn) == [Y]
    assert read_by_chance(key().public.seal_zeros(cells, Chance(3)), drawn) == []


def _only_added_up(public_key: object, values: CurveValues, source: object) -> Points:
    del public_key, source
    shifts = table_of(GENERATOR).multiply(values.numbers.tolist())
    second = add_points(np.ascontiguousarray(values.points[:, 1]), shifts)
    return np.stack([values.points[:, 0], second], axis=1)


def read_by_chance(sealed: bytes, drawn: list[int]) -> list[int]:
    """Return the numbers that fit all cells."""
    pairs, secret = read_points(sealed).reshape(-1, 2, 64), curve_secret()
    first, second = (np.ascontiguousarray(pairs[:, half]) for half in (0, 1))
    multiples = add_points(second, multiply_secretly(first, [ORDER - secret] * WIDTH))

    def fits(guess: int) -> bool:
        told = plaintexts(guess)
        if [value == 0 for value in told] != (~are_finite(multiples)).tolist():
            return False
        some = [place for place, value in enumerate(told) if value]
        scalars = [chances(drawn, guess)[place] % ORDER for place in some]
        left = multiply_secretly(first[some], [told[place] for place in some])
        return bool((left == multiply_secretly(multiples[some], scalars)).all())

    return [guess for guess in range(1 << WIDTH) if fits(guess)]


def curve_secret() -> int:
    holder = key()
    assert isinstance(holder, CurveKeyHolder)
    return holder.private_key.secret
