"""One session with fixed chance: what crosses is on file, and is what the papers say, worked out in plain integers."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from protocols.messages import ChoicePage, CorrectionPage
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer
from protocols.oblivious.extension import Chooser
from protocols.oblivious.products import bits_as_numbers
from protocols.oblivious.seeds import grow
from protocols.role import Message, Transcript
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious import plain
from tests.protocols.oblivious.parts import extend, meet, multiply
from tests.protocols.oblivious.plain_curve import as_bytes, plus, times
from tests.protocols.oblivious.test_hash_to_points import swift
from tests.support.duel import replay

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


@pytest.mark.parametrize("depth", KNOWN["sessions"])
def test_a_session_is_the_one_on_file(depth: str) -> None:
    crossed, (ours, theirs) = played(int(depth))
    known = KNOWN["sessions"][depth]
    assert [digest(message) for message in crossed.sent_by_a] == known["chooser"]
    assert [digest(message) for message in crossed.sent_by_b] == known["sender"]
    assert (ours, theirs) == (known["shares_of_chooser"], known["shares_of_sender"])


def test_the_first_transfers_are_those_of_plain_integers() -> None:
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


def test_plain_aes_and_trees_are_those_of_the_papers() -> None:
    """FIPS 197, appendix C.1."""
    assert plain.aes(bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == (
        "69c4e0d86a7b0430d8cdb78070b4c55a"
    )
    for depth in (1, 2, 4, 8):
        pairs = pairs_of_keys()
        trees, hints = grow(b"a session", pairs, depth)
        assert (trees, [hints.hints, hints.sums, hints.digest]) == plain.grown(b"a session", pairs, depth)


@pytest.mark.parametrize("depth", [1, 2, 4])
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


def test_corrections_are_differences_of_masks_and_numbers() -> None:
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
