"""One session with fixed chance: what crosses is on file, and is what the papers say, worked out in plain integers.

What each side sees is what a simulator makes that knows nothing of the other: lengths, and shares of ones.

Each test states its false alarm: 10**-9 for all its shares together. A control shows that a view that is off is seen.
"""

import hashlib
import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.messages import ChoicePage, CorrectionPage
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer, simulate_points
from protocols.oblivious.bits import lanes_of, transposed
from protocols.oblivious.curve import (
    FORM_BYTES,
    ORDER,
    NotAPointError,
    Points,
    add_points,
    are_finite,
    hash_to_points,
    multiply_secretly,
    negate_points,
    read_points,
    write_points,
)
from protocols.oblivious.extension import Chooser, Sender
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import bits_as_numbers
from protocols.oblivious.seeds import Follower, grow
from protocols.role import Message, Transcript
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious import plain
from tests.protocols.oblivious.parts import extend, meet, multiply, random_bits, usual
from tests.protocols.oblivious.plain import ROOT, P, as_bytes, plus, swift, times
from tests.support.binomial import ShareTest
from tests.support.duel import replay
from tests.support.examples import at_most, few
from tests.support.simulators import simulate_page

KNOWN = json.loads((Path(__file__).parents[2] / "vectors/oblivious_transfer.json").read_text("utf-8"))
CHOICES = [np.array([bit == "1" for bit in text]) for text in KNOWN["choices"]]
NUMBERS = [np.array([[bit == "1" for bit in text] for text in rows]) for rows in KNOWN["numbers"]]
WIDTHS = KNOWN["widths"]


def played(depth: int) -> tuple[Transcript, tuple[list[list[int]], list[list[int]]]]:
    """Run one whole session: two vectors are chosen, and multiplied twice."""
    crossed = Transcript()
    one, other = meet(depth, KNOWN["seed"], crossed)
    chosen, both = extend(one.chooser, other.sender, CHOICES, crossed)
    sources = [bits_as_numbers(list(rows), widths) for rows, widths in zip(NUMBERS, WIDTHS, strict=True)]
    multiply(chosen, both, WIDTHS, sources, crossed)
    ours, theirs = multiply(chosen, both, WIDTHS, sources, crossed)
    return crossed, (ours.shares, theirs.shares)


def digest(message: Message) -> str:
    return hashlib.sha256(b"".join(vars(message).values())).hexdigest()


@pytest.mark.parametrize("depth", few([*KNOWN["sessions"]], 2))
def test_a_session_is_the_one_on_file(depth: str) -> None:
    crossed, (ours, theirs) = played(int(depth))
    known = KNOWN["sessions"][depth]
    assert [digest(message) for message in crossed.sent_by_a] == known["chooser"]
    assert [digest(message) for message in crossed.sent_by_b] == known["sender"]
    assert (ours, theirs) == (known["shares_of_chooser"], known["shares_of_sender"])


@pytest.mark.parametrize("depth", few([4, 2, 1], 3))
def test_pages_keys_and_masks_are_those_of_the_papers(depth: int) -> None:
    trees, _ = grow(b"a session", pairs_of_keys(), depth)
    chance = Chance(9)
    chooser = Chooser(b"a session", depth, trees, chance)
    for start, choices in ((0, CHOICES[0]), (256, CHOICES[1])):
        end = replay(chooser.extend([choices]), [])
        assert end.result is not None
        sent, (keys,) = end.sent, end.result
        filling = [int(bit) for bit in np.binary_repr(chance.draws[-1], 256 - len(choices))[::-1]]
        matrix, check, rows = plain.page(b"a session", depth, trees, start, [*map(int, choices), *filling])
        assert sent == [ChoicePage(matrix, check)]
        masks = keys.strings(2)
        for at in (0, 1, len(choices) - 1):
            expected = [plain.mask(b"a session", start + at, use, rows[at]) for use in (0, 1)]
            assert masks[at].tobytes() == b"".join(expected)


def test_the_first_transfers_corrections_aes_and_trees_are_those_of_the_papers() -> None:
    chance, choices = Chance(KNOWN["seed"]), [number % 3 % 2 for number in range(TRANSFERS)]
    secret, point = make_offer(Chance(8))
    assert point == as_bytes(times(secret))
    points, keys = choose(b"a session", read_offer(point), choices, chance)
    pairs = answer_choices(b"a session", secret, points)
    assert keys == [pair[choice] for pair, choice in zip(pairs, choices, strict=True)]
    assert len({key for pair in pairs for key in pair}) == 2 * TRANSFERS
    for number in (0, 1, TRANSFERS - 1):
        own = [points[66 * number + 33 * side :][:33] for side in (0, 1)]
        choice, scalar = choices[number], chance.draws[number]
        shifted = plus(plain.read(own[choice]), plain.oracle(b"a session", number, choice, own[1 - choice]))
        assert shifted == times(1 + scalar)
        assert own[1 - choice] == swift(chance.draws[TRANSFERS + number].to_bytes(64, "big"))
        assert pairs[number] == plain.sender_keys(b"a session", secret, points, number)
    # FIPS 197, appendix C.1.
    assert plain.aes(bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == (
        "69c4e0d86a7b0430d8cdb78070b4c55a"
    )
    for depth in (1, 2, 4, 8):
        pairs = pairs_of_keys()
        trees, hints = grow(b"a session", pairs, depth)
        assert (trees, [hints.hints, hints.sums, hints.digest]) == plain.grown(b"a session", pairs, depth)
    one, other = meet(2)
    (chosen,), (both,) = extend(one.chooser, other.sender, CHOICES[:1])
    ((zero, one_),) = both.masks([0])
    crossed = Transcript()
    rows, widths = NUMBERS[0], WIDTHS[0]
    multiply([chosen], [both], [widths], [bits_as_numbers(list(rows), widths)], crossed)
    (page,) = crossed.sent_by_b
    assert isinstance(page, CorrectionPage)
    words = unpacked(page.corrections, len(chosen), widths)
    for at, word in enumerate(words):
        numbers = zip(*(plain.fields(masks[at].tobytes(), widths) for masks in (zero, one_)), rows[:, at], strict=True)
        assert word == [(a - b + int(bit)) % 2**width for (a, b, bit), width in zip(numbers, widths, strict=True)]


def pairs_of_keys() -> list[tuple[bytes, bytes]]:
    return [(bytes([number]) * 16, bytes([number + 128]) * 16) for number in range(TRANSFERS)]


def unpacked(data: bytes, count: int, widths: list[int]) -> list[list[int]]:
    """Read numbers that cross bit by bit: 64 records of one bit each to eight bytes, by rows that hold every 64th."""
    used, columns = sum(widths), -(-count // 64)
    planes = [data[8 * columns * place :][: 8 * columns] for place in range(used)]
    words = []
    for at in range(count):
        row, column = divmod(at, columns)
        value = sum((planes[p][8 * column + row // 8] >> row % 8 & 1) << p for p in range(used))
        words.append(plain.fields(value.to_bytes(8, "little"), widths))
    return words


ALARM = 1e-9
VIEW_CHOICES = {"nothing": np.zeros(4000, bool), "everything": np.ones(4000, bool), "some": random_bits(4000, 5)}


def bits_of(data: bytes, width: int) -> NDArray[np.uint8]:
    """Return a row of bits for each string of this many bytes."""
    return np.unpackbits(np.frombuffer(data, np.uint8).reshape(-1, width), axis=1)


def off(*samples: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return the columns of bits whose share of ones is not one half, of all samples and all their neighbours' sums."""
    tests, found = sum(2 * sample.shape[1] for sample in samples), []
    for number, sample in enumerate(samples):
        test = ShareTest(len(sample), Fraction(1, 2), ALARM / tests)
        low, high = test.low, test.high
        pairs = sample ^ np.roll(sample, 1, axis=1)
        for columns in (sample, pairs):
            found += [(number, at) for at, hits in enumerate(columns.sum(axis=0).tolist()) if not low <= hits <= high]
    return found


def points_of(data: bytes) -> NDArray[np.uint8]:
    """Return the bits of points: whether y is odd, and x but for its first bytes."""
    return bits_of(data, 33)[:, 7:]


@pytest.mark.parametrize("choice", [0, 1])
def test_points_of_the_first_transfers_look_the_same_whatever_is_chosen(choice: int) -> None:
    _, offer = make_offer(Chance(1))
    real, _ = choose(b"s", read_offer(offer), [choice] * 128, Chance(2))
    for _ in range(7):
        real += choose(b"s", read_offer(offer), [choice] * 128, Chance(len(real)))[0]
    simulated = simulate_points(2 * 128 * 8, Chance(3))
    assert len(real) == len(simulated)
    halves = [b"".join(real[at : at + 33] for at in range(33 * side, len(real), 66)) for side in (0, 1)]
    assert off(*map(points_of, halves)) == off(points_of(simulated)) == []


def seen(sender: Sender, first: int, page: Message) -> list[NDArray[np.uint8]]:
    """Return what the sender makes of a page: masked choices of each tree, and these less the streams it knows."""
    assert isinstance(page, ChoicePage)
    matrix = np.frombuffer(page.matrix, np.uint8).reshape(128 // sender.depth, -1)
    known, _ = sender._columns(first, 8 * matrix.shape[1])
    return [np.unpackbits(matrix, axis=1).T, np.unpackbits(matrix ^ known, axis=1).T]


@pytest.mark.parametrize("case", VIEW_CHOICES)
def test_a_page_of_choices_looks_the_same_whatever_is_chosen(case: str) -> None:
    one, other = meet(4)
    crossed, simulated = Transcript(), []
    for first in range(0, 3 * 4224, 4224):
        extend(one.chooser, other.sender, [VIEW_CHOICES[case]], crossed)
        simulated.append(other.sender.simulate(first, 4224, Chance(first)))
    for pages in (crossed.sent_by_a, simulated):
        hashes = b""
        for number, page in enumerate(pages):
            assert off(*seen(other.sender, 4224 * number, page)) == []
            assert isinstance(page, ChoicePage)
            assert (len(page.matrix), len(page.check)) == (32 * 4224 // 8, 129 * 16)
            hashes += page.check[:16]  # of the choices; those of the columns follow from it and from what is known
        assert ShareTest(3 * 128, Fraction(1, 2), ALARM).accepts(int(bits_of(hashes, 16).sum()))


def test_hints_of_trees_look_uniform_and_a_simulated_page_passes_the_check() -> None:
    pairs = [(bytes([n]) * 16, bytes([n + 128]) * 16) for n in range(128)]
    missing = [n % 2 for n in range(128)]
    keys = [pair[1 - side] for pair, side in zip(pairs, missing, strict=True)]
    real, simulated = [], []
    for run in range(40):
        follower = Follower(run.to_bytes(2, "big"), 4, missing, keys)
        real.append(grow(follower.session, pairs, 4)[1])
        simulated.append(follower.simulate(Chance(run)))
        assert len(follower.follow(simulated[-1])) == len(follower.follow(real[-1])) == 32
    for hints in (real, simulated):
        told, sums = (b"".join(getattr(each, name) for each in hints) for name in ("hints", "sums"))
        assert off(bits_of(told, 16), bits_of(sums, 32)) == []
    assert [len(each.hints + each.sums + each.digest) for each in real] == [
        len(each.hints + each.sums + each.digest) for each in simulated
    ]
    _, other = meet(4)
    assert replay(other.sender.extend([4000]), [other.sender.simulate(0, 4224, Chance(9))]).result


def test_corrections_look_uniform_to_who_knows_the_chosen_keys() -> None:
    """The chooser takes its own masks away, too: what is left has the mask that it lacks."""
    for case, held in few([*product(VIEW_CHOICES, [0, 1])], 3):
        widths = [13, 13, 13, 13, 12]
        columns = [np.full(4000, bool(held))] * len(widths)
        chosen, both = extend(*usual(4), [VIEW_CHOICES[case]])
        crossed = Transcript()
        multiply(chosen, both, [widths], [bits_as_numbers(columns, widths)], crossed)
        (page,) = crossed.sent_by_b
        assert isinstance(page, CorrectionPage)
        simulated = simulate_page(len(page.corrections), Chance(4))
        (lanes,) = lanes_of(widths)
        own = next(chosen[0].masks([0]))[:, 0] & lanes.used
        for each in (page, simulated):
            words = np.frombuffer(each.corrections, np.uint64).reshape(64, -1)
            told = transposed(words).reshape(-1)[:4000]
            views = [told, lanes.subtract(told, own), lanes.add(told, own)]
            assert off(*(bits_of(view.astype("<u8").tobytes(), 8) for view in views)) == []


def test_a_mask_that_is_used_twice_is_seen() -> None:
    """The control: the difference of two corrections under one mask is no mask."""
    widths = [13, 13, 13, 13, 12]
    (chosen,), (both,) = extend(*usual(4), [VIEW_CHOICES["some"]])
    pages = []
    for column in (np.zeros(4000, bool), np.ones(4000, bool)):
        again = BothKeys(both.zero, both.offset)  # counts its uses from the start
        crossed = Transcript()
        once = ChosenKeys(chosen.choices, chosen.chosen)
        multiply([once], [again], [widths], [bits_as_numbers([column] * 5, widths)], crossed)
        (page,) = crossed.sent_by_b
        assert isinstance(page, CorrectionPage)
        pages.append(np.frombuffer(page.corrections, np.uint8))
    assert off(bits_of((pages[0] ^ pages[1]).tobytes(), 8)) != []


CURVE_KNOWN = json.loads((Path(__file__).parents[2] / "vectors/secp256k1_multiples.json").read_text())["x"]
GENERATOR = as_bytes(times(1))
scalars = st.integers(1, ORDER - 1) | st.integers(1, 300) | st.integers(ORDER - 300, ORDER - 1)


def multiples(*numbers: int) -> Points:
    """Return these multiples of the generator; that by 0 is at infinity."""
    points = np.zeros((len(numbers), FORM_BYTES), dtype=np.uint8)
    for point, number in zip(points, numbers, strict=True):
        if number % ORDER:
            point[:] = read_points(as_bytes(times(number % ORDER)))
    return points


@settings(max_examples=at_most(20))
@given(st.lists(scalars, min_size=1, max_size=3))
def test_multiples_are_those_of_plain_integers(numbers: list[int]) -> None:
    products = multiply_secretly(multiples(*[1] * len(numbers)), numbers)
    assert write_points(products) == b"".join(as_bytes(times(number)) for number in numbers)


@settings(max_examples=at_most(20))
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=5))
def test_sums_are_those_of_the_numbers_and_may_meet_at_infinity(rows: list[list[int]]) -> None:
    sums = add_points(*(multiples(*column) for column in zip(*rows, strict=True)))
    assert (sums == multiples(*map(sum, rows))).all()
    assert are_finite(sums).tolist() == [sum(row) != 0 for row in rows]


def test_multiples_are_those_of_scalars() -> None:
    data = write_points(multiples(*map(int, CURVE_KNOWN)))
    assert [data[start + 1 : start + 33].hex() for start in range(0, len(data), 33)] == list(CURVE_KNOWN.values())
    assert data == b"".join(as_bytes(times(int(number))) for number in CURVE_KNOWN)
    assert write_points(multiples(1)) == GENERATOR
    products = multiply_secretly(multiples(1, 2, ORDER - 1), [ORDER - 1, 12345, 2])
    assert (products == multiples(-1, 24690, -2)).all()
    for scalar in (0, ORDER, 2**256 - 1):
        with pytest.raises(NotAPointError):
            multiply_secretly(multiples(1), [scalar])


HOSTILE = {
    "not on the curve": b"\x02" + (5).to_bytes(32, "big"),  # 5**3 + 7 is no square
    "x is 0": b"\x02" + bytes(32),
    "x not reduced": b"\x02" + (P + 1).to_bytes(32, "big"),
    "x all ones": b"\x03" + b"\xff" * 32,
    "infinity as SEC 1 writes it": b"\x00",
    "infinity, filled up": bytes(33),
    "sign byte of an uncompressed point": b"\x04" + GENERATOR[1:],
    "sign byte of a hybrid point": b"\x06" + GENERATOR[1:],
    "sign byte 0": b"\x00" + GENERATOR[1:],
    "sign byte 1": b"\x01" + GENERATOR[1:],
    "sign byte 5": b"\x05" + GENERATOR[1:],
    "a byte short": GENERATOR[:-1],
    "a byte long": GENERATOR + b"\x00",
    "without the sign byte": GENERATOR[1:],
}


def test_points_come_back_from_bytes_and_are_added_place_by_place_infinity_among_them() -> None:
    points = multiples(1, 2, 2**200)
    assert (read_points(write_points(points)) == points).all()
    assert read_points(b"").shape == (0, FORM_BYTES)
    assert write_points(read_points(b"")) == b""
    for data in HOSTILE.values():
        for page in (data, GENERATOR + data, data + GENERATOR):
            with pytest.raises(NotAPointError):
                read_points(page)
    assert [pow(x**3 + 7, (P - 1) // 2, P) for x in (5, 1)] == [P - 1, 1]  # Euler's criterion
    assert are_finite(read_points(b"\x02" + (1).to_bytes(32, "big"))).all()
    sums = add_points(multiples(1, 2, 0, 0, 5), multiples(4, 0, 3, 0, -5))
    assert (sums == multiples(5, 2, 3, 0, 0)).all()
    points = multiples(1, 0, 9)
    assert (negate_points(points) == multiples(-1, 0, -9)).all()
    assert (points == multiples(1, 0, 9)).all()
    points = multiples(1, 2, 3, 4)[::2]
    assert (add_points(points, points) == multiples(2, 6)).all()
    with pytest.raises(NotAPointError):
        multiply_secretly(multiples(1, 0), [5, 5])
    with pytest.raises(NotAPointError):
        write_points(multiples(3, 0))


@given(st.binary(min_size=64, max_size=64))
@example(bytes(64))
@example(b"\xff" * 64)
def test_any_bytes_stand_for_the_point_of_plain_integers(seed: bytes) -> None:
    assert write_points(hash_to_points([seed])) == swift(seed)


def test_bytes_stand_for_the_published_points() -> None:
    assert ROOT * ROOT % P == P - 3
    assert ROOT == 0x0A2D2BA93507F1DF233770C2A797962CC61F6D15DA14ECD47D8D27AE1CD5F852
    # BIP 324, `ellswift_decode_test_vectors.csv`, first line.
    published = "edd1fd3e327ce90cc7a3542614289aee9682003e9cf7dcc9cf2ca9743be5aa0c"
    assert write_points(hash_to_points([bytes(64)]))[1:].hex() == published
    for number in (0, 1, 5):
        seeds = [bytes([place]) * 64 for place in range(number)]
        assert write_points(hash_to_points(seeds)) == b"".join(map(swift, seeds))
