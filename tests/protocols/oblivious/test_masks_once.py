"""No (offset, transfer, use) comes twice: the chooser forms its mask once, and the sender those of both keys once."""

import numpy as np
import pytest

from protocols.oblivious import aes, extension
from protocols.oblivious.extension import Transfers, set_up
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import bits_as_numbers
from protocols.role import run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import extend, meet, multiply, random_bits
from tests.support.mask_recorder import ONCE, MaskRecorder


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "_PAGE_BYTES", 1 << 14)  # holds 896 transfers at k = 1


def whole_run(one: Transfers, other: Transfers) -> None:
    """Choose twice, over more than a page, and use both vectors again and again, in both directions."""
    for chooser, sender in ((one.chooser, other.sender), (other.chooser, one.sender)):
        for sizes in ((2_000, 100), (300,)):
            chosen, both = extend(chooser, sender, [random_bits(size, size) for size in sizes])
            widths = [[9, 30, 30, 1, 64]] * len(sizes)
            sources = [bits_as_numbers([random_bits(size, 1)] * 5, widths[0]) for size in sizes]
            for _ in range(2):
                multiply(chosen, both, widths, sources)
            for own, keys in zip(chosen, both, strict=True):
                own.strings(2)
                keys.strings(2)


def test_no_mask_is_formed_twice_in_whole_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    whole_run(*meet(1))
    assert recorder.offsets == 2
    assert recorder.times() == ONCE


def test_a_side_that_is_put_back_forms_no_mask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One side draws as before, as a machine does that is put back: nonce, secrets and offset are the same."""
    recorder = MaskRecorder(monkeypatch)
    for seed in (1, 2, 3):
        whole_run(*run_pair(set_up(1, Chance(0)), set_up(1, Chance(seed))))
    assert recorder.offsets == 6
    assert recorder.times() == ONCE


def test_a_counter_that_starts_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: uses that are not dealt by one counter."""
    recorder = MaskRecorder(monkeypatch)
    one, other = meet(4)
    (chosen,), (both,) = extend(one.chooser, other.sender, [random_bits(50, 1)])
    for _ in range(2):
        again = ChosenKeys(chosen.choices, chosen.chosen), BothKeys(both.zero, both.offset)
        multiply([again[0]], [again[1]], [[5]], [bits_as_numbers([np.ones(50, bool)], [5])])
    assert recorder.times() == {(6, 2), (6, 4)}


@pytest.mark.parametrize(("depth", "blocks"), [(1, 15), (4, 14)])  # of the first vector, two pages or one
def test_no_stream_is_read_twice(monkeypatch: pytest.MonkeyPatch, depth: int, blocks: int) -> None:
    read: list[tuple[bytes, int]] = []
    formed = aes.stream

    def recorded(seed: bytes, first: int, length: int) -> object:
        read.extend((seed, block) for block in range(first, first + length // 16))
        return formed(seed, first, length)

    monkeypatch.setattr(extension, "stream", recorded)
    one, _ = meet(depth)
    for size in (1000, 1, 129):
        for _ in one.chooser.extend([random_bits(size, size)]):
            pass
    assert len(read) == len(set(read)) == (128 // depth) * 2**depth * blocks
