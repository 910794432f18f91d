"""Who of several classes wins, by numbers of which each side holds one part (DESIGN 13), as a pair of roles.

    encrypted bits        from the asker: of its number in each row and pair of classes (`learning.contest`)
    sealed comparisons    to the asker: for each of them which is larger

A comparison is that of Damgard-Geisler-Kroigaard 2007, section 4. Of X, whose digits are encrypted, and Y, the first
digit in which they differ tells. For each digit, with what the higher ones say,

    cell = x - y + 1 + 3 * (how many higher digits differ)

is 0 where X < Y and this is the first digit that differs, and nowhere else; `y - x + 1 + ...` the same of X > Y. The
answerer multiplies each cell by a secret number, makes it fresh, and shuffles the cells of a comparison: the asker
learns whether one of them is 0, and no more of Y.

Which class beats which would tell more than who wins. So the answerer puts the classes of each row into an order of its
own, drawn anew (Bost 2015): of classes that stand in an order that nobody knows, the asker learns which place beats
which, and that is as good as drawn by lot. It knows the place of the winner, and only the answerer who stands there.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder, Ciphertexts, Values
from protocols.errors import DeviationError
from protocols.learning.contest import Contest
from protocols.messages import SealedComparisons
from protocols.randomness import Randomness
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables.arrays import Index
from protocols.tables.table import Rows
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.row_sums import RowPages, receive_bits, send_bits


def learn_places(
    contest: Contest, codes: Rows, key: AnyKeyHolder, local: PartyInputs, phase: Phase = Phase.ROWS
) -> Role[Index]:
    """Return the place of the winner in each row's order, which only the peer knows.

    Discloses: to the peer, how many rows there are, and fresh ciphertexts.

    Raises:
        DeviationError: No order of the classes gives these answers.
    """
    layout = _layout(contest, codes)
    yield from send_bits(layout, lambda rows: _flat(contest.bits(codes[rows])), key, local, phase)
    places: list[Index] = []
    for rows in layout.pages(key.public) if contest.pairs else ():
        sealed = (yield from receive(SealedComparisons)).ciphertexts
        cells = key.zeros(sealed, len(rows) * layout.bits).reshape(len(rows), contest.pairs, contest.width)
        places.append(_winners(np.asarray(cells.any(axis=2)), len(contest.classes)))
        yield Progress(phase, int(rows[-1]) + 1, layout.rows)
    return np.concatenate(places) if places else np.zeros(len(codes), dtype=np.intp)


def tell_places(
    contest: Contest, codes: Rows, cipher: AnyCiphertexts, local: PartyInputs, phase: Phase = Phase.ROWS
) -> Role[Index]:
    """Compare the classes of each row for the peer, and return the order that they stand in (`rows x classes`).

    Discloses: to the peer, for each row in what order the classes come out, by places that it cannot name: as good as
        drawn by lot. If it has encrypted other than bits, how many cells of each comparison are 0, each of which it can
        let stand for one guess of our number's higher digits, the last for one of all of it.
    """
    layout, randomness = _layout(contest, codes), local.secrets.randomness
    orders = _orders(len(codes), len(contest.classes), randomness)
    for rows in layout.pages(cipher) if contest.pairs else ():
        digits = cipher.read((yield from receive_bits(layout, rows, cipher)))
        which, straight = contest.places(orders[rows])
        pairs = (np.arange(len(rows))[:, None] * contest.pairs + which).ravel()
        thresholds = np.take_along_axis(contest.thresholds(codes[rows]), which, axis=1) - ~straight
        compared = cipher.take(digits, _runs(pairs, contest.width))
        cells = comparison_cells(cipher, compared, thresholds.ravel(), straight.ravel(), contest.width)
        mixed = np.arange(pairs.size)[:, None] * contest.width + _orders(pairs.size, contest.width, randomness)
        yield Send(SealedComparisons(cipher.seal_zeros(cipher.take(cells, mixed.ravel()), randomness)))
        yield Progress(phase, int(rows[-1]) + 1, layout.rows)
    return orders


def comparison_cells(
    cipher: Ciphertexts[Values], digits: Values, thresholds: NDArray[np.int64], below: NDArray[np.bool_], width: int
) -> Values:
    """Return the cells of comparisons, not yet fresh, comparison by comparison (`comparisons x width`).

    Args:
        cipher: Of the digits.
        digits: Encrypted bits of each X, the highest first (`comparisons x width`).
        thresholds: Each Y.
        below: Whether a cell is 0 where X is below Y; else where it is above.
        width: How many digits a number has.
    """
    count = len(thresholds)
    rows, places = np.arange(count, dtype=np.intp), np.arange(count * width, dtype=np.intp).reshape(count, width)
    bits = thresholds[:, None] >> np.arange(width)[::-1] & 1
    signed = cipher.join([digits, cipher.negate(digits)])
    differ = cipher.add_numbers(cipher.take(signed, (places + places.size * bits).ravel()), bits.ravel())
    own = cipher.take(signed, (places + places.size * ~below[:, None]).ravel())
    own = cipher.add_numbers(own, (1 + np.where(below[:, None], -bits, bits)).ravel())
    higher, columns = cipher.sums(count).totals(), []
    for place in places.T:
        cell, after = cipher.sums(count), cipher.sums(count)
        cell.add(higher, rows)
        cell.add(cipher.take(own, place), rows)
        columns.append(cell.totals())
        after.add(higher, rows)
        after.add(cipher.take(differ, np.repeat(place, 3)), np.repeat(rows, 3))
        higher = after.totals()
    by_comparison = np.arange(width) * count + rows[:, None]
    return cipher.take(cipher.join(columns), by_comparison.ravel())


def _runs(starts: Index, width: int) -> Index:
    """Return the positions of whole runs of this width."""
    runs: Index = (starts[:, None] * width + np.arange(width)).ravel()
    return runs


def _layout(contest: Contest, codes: Rows) -> RowPages:
    return RowPages(len(codes), contest.pairs * contest.width, 1)


def _flat(digits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return digits.reshape(len(digits), -1)


def _winners(second_wins: NDArray[np.bool_], classes: int) -> Index:
    """Return the place that beats all others in each row, from which of each pair of places wins.

    Raises:
        DeviationError: The places of a row do not come out one after the other.
    """
    wins = np.zeros((len(second_wins), classes), dtype=np.intp)
    for pair, (first, second) in enumerate(combinations(range(classes), 2)):
        wins[:, first] += ~second_wins[:, pair]
        wins[:, second] += second_wins[:, pair]
    if (np.sort(wins, axis=1) != np.arange(classes)).any():
        raise DeviationError
    winners: Index = wins.argmax(axis=1)
    return winners


def _orders(count: int, number: int, randomness: Randomness) -> Index:
    """Return `0 .. number - 1` in so many orders, each drawn uniformly (Fisher and Yates)."""
    orders = np.tile(np.arange(number, dtype=np.intp), (count, 1))
    for order in orders:
        for last in range(number - 1, 0, -1):
            other = randomness.randbelow(last + 1)
            order[last], order[other] = order[other], order[last]
    return orders
