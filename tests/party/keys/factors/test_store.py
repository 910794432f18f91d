"""What a store gives, keeps and refuses on one machine without accidents; and every kind of damage."""

import errno
import os
import resource
import struct
from pathlib import Path
from unittest.mock import patch

import pytest

from party.errors import FactorsError
from party.keys.factors.seal import HEADER_BYTES, Seal, derive_key
from party.keys.factors.store import FactorStore
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierCiphertexts
from protocols.ciphers.paillier.keys import PublicKey
from tests.party.keys.factors.bench import BLOCK, KEY, SECRET, Bench, failing, flip, numbers, recorded

NONCE, TAG = 12, 16
SEALED = NONCE + BLOCK * KEY.ciphertext_bytes + TAG
OTHER_KEY = PaillierCiphertexts(PublicKey(Integer(0xF00000000000002B * 0xF800000000000057)))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def assert_refused(bench: Bench, count: int = 100, match: str = "damaged") -> None:
    for operation in (lambda: bench.store().take(count), lambda: bench.store().append(bench.page())):
        with pytest.raises(FactorsError, match=match) as caught:
            operation()
        assert str(bench.path) in str(caught.value)


def test_every_factor_comes_out_once_and_then_no_more_do(bench: Bench) -> None:
    bench.fill(3)
    store = bench.store()
    assert store.left() == 12
    taken = store.take(5) + store.take(1) + store.take(20)
    assert numbers(taken) == list(range(1, 13))
    assert (store.take(1), store.left(), bench.store().left()) == ([], 0, 0)


def test_whole_blocks_are_marked_and_the_rest_of_one_is_given_next(bench: Bench) -> None:
    store = bench.fill(3)
    first = store.take(1)
    assert (store.left(), bench.store().left()) == (11, 8)
    with recorded() as calls:
        rest = store.take(3)
    assert calls == []
    assert numbers(first + rest) == [9, 10, 11, 12]


def test_a_party_without_a_store_has_no_factors_and_leaves_no_trace(bench: Bench) -> None:
    store = bench.store()
    assert (store.take(3), store.left(), store.discarded) == ([], 0, 0)
    assert not list(bench.folder.iterdir()) + list(bench.memory.iterdir())


def test_factors_are_marked_used_in_memory_then_durably_on_disk_before_they_are_given(bench: Bench) -> None:
    store = bench.fill(2)
    with recorded() as calls:
        store.take(1)
    assert calls == ["mark", "mark", "ftruncate", "fsync", "mark"]  # the first one is that of opening


def test_an_empty_store_is_only_looked_at(bench: Bench) -> None:
    store = bench.fill(1)
    store.take(BLOCK)
    with recorded() as calls:
        assert store.take(1) == []
    assert calls == ["mark"]


def test_a_block_is_on_disk_before_it_counts(bench: Bench) -> None:
    store = bench.fill(1)
    page = bench.page()
    with recorded() as calls:
        store.append(page)
    assert calls == ["mark", "mark", "mark", "fsync", "mark"]  # the block is as short as a mark here


def test_files_are_the_owners_alone(bench: Bench) -> None:
    bench.fill(1)
    assert {path.stat().st_mode & 0o777 for path in (bench.path, bench.witness)} == {0o600}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602])
def test_a_store_open_to_others_is_refused(bench: Bench, mode: int) -> None:
    bench.fill(1)
    bench.path.chmod(mode)
    assert_refused(bench, match="open to other users")


def test_neither_file_shows_a_factor_and_no_text_does(bench: Bench) -> None:
    page = os.urandom(BLOCK * KEY.ciphertext_bytes)
    store = bench.store()
    store.append(page)
    for data in (bench.path.read_bytes(), bench.witness.read_bytes()):
        assert not any(page[start : start + 8] in data for start in range(0, len(page), 8))
    assert repr(store) == "FactorStore(PaillierCiphertexts(128 bits))"
    assert repr(Seal(SECRET, KEY, BLOCK, bytes(16))) == "Seal(PaillierCiphertexts(128 bits))"


def test_no_two_blocks_have_the_same_nonce_not_even_at_one_place(bench: Bench) -> None:
    nonces = set()
    store = bench.store()
    for _ in range(5):
        store.append(bench.page())
        nonces.add(bench.path.read_bytes()[HEADER_BYTES : HEADER_BYTES + NONCE])
        store.take(BLOCK)
    assert len(nonces) == 5


def test_a_block_must_be_whole(bench: Bench) -> None:
    for page in (b"", bench.page()[1:], bench.page() + b"x"):
        with pytest.raises(FactorsError, match="4 factors"):
            bench.store().append(page)


@pytest.mark.parametrize("place", range(HEADER_BYTES))
def test_a_header_changed_anywhere_is_refused(bench: Bench, place: int) -> None:
    bench.fill(2)
    flip(bench.path, place)
    assert_refused(bench, match=r"damaged|not a store of factors|another key")


@pytest.mark.parametrize("block", [0, 1])
@pytest.mark.parametrize("place", [0, NONCE - 1, NONCE, SEALED // 2, SEALED - TAG - 1, SEALED - TAG, SEALED - 1])
def test_a_block_changed_anywhere_is_refused_with_all_that_would_come_with_it(
    bench: Bench, block: int, place: int
) -> None:
    bench.fill(2)
    flip(bench.path, HEADER_BYTES + block * SEALED + place)
    with pytest.raises(FactorsError, match="damaged") as caught:
        bench.store().take(2 * BLOCK)
    assert str(bench.path) in str(caught.value)


def test_no_block_can_be_moved_or_repeated(bench: Bench) -> None:
    bench.fill(3)
    data = bench.path.read_bytes()
    head, blocks = data[:HEADER_BYTES], [data[HEADER_BYTES + i * SEALED :][:SEALED] for i in range(3)]
    for order in ([1, 0, 2], [0, 0, 2], [1, 1, 2], [2, 1, 0], [0, 2, 2], [0, 2, 1]):
        with bench.path.open("r+b") as file:
            file.write(head + b"".join(blocks[i] for i in order))
        with pytest.raises(FactorsError, match="damaged"):
            bench.store().take(3 * BLOCK)


def test_a_block_of_before_does_not_fit_in_the_place_of_a_new_one(bench: Bench) -> None:
    store = bench.fill(2)
    old = bench.path.read_bytes()
    store.take(BLOCK)
    store.append(bench.page())
    assert len(bench.path.read_bytes()) == len(old)
    with bench.path.open("r+b") as file:
        file.write(old)
    assert_refused(bench)


@pytest.mark.parametrize("lost", [1, SEALED - 1, SEALED, 2 * SEALED])
def test_a_store_cut_short_is_refused(bench: Bench, lost: int) -> None:
    bench.fill(2)
    os.truncate(bench.path, bench.path.stat().st_size - lost)
    assert_refused(bench)


def test_a_file_of_another_kind_is_not_taken_for_a_store_of_another_key(bench: Bench) -> None:
    bench.fill(1)
    flip(bench.path, 0)
    assert_refused(bench, match="not a store of factors")


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1])
def test_a_file_that_is_no_store_is_refused_and_kept(bench: Bench, size: int) -> None:
    bench.fill(1)
    os.truncate(bench.path, size)
    assert_refused(bench, match="not a store of factors")
    assert bench.path.exists()


def test_another_secret_opens_nothing(bench: Bench) -> None:
    bench.fill(1)
    seal = Seal(SECRET, KEY, BLOCK, bench.path.read_bytes()[:HEADER_BYTES][-16:])
    block = bench.path.read_bytes()[HEADER_BYTES:]
    assert seal.open(block, 0, bytes(16))
    for other in (Seal(b"t" * 32, KEY, BLOCK, seal.store), Seal(SECRET, KEY, BLOCK, bytes(16))):
        with pytest.raises(FactorsError, match="damaged"):
            other.open(block, 0, bytes(16))


def test_a_block_is_bound_to_its_header_number_and_the_block_below() -> None:
    seal = Seal(SECRET, KEY, BLOCK, bytes(16))
    block = seal.close(b"factors", 3, b"b" * 16)
    assert seal.open(block, 3, b"b" * 16) == b"factors"
    same_cipher = Seal(SECRET, OTHER_KEY, BLOCK, bytes(16))
    for other, number, below in ((seal, 4, b"b" * 16), (seal, 3, b"c" * 16), (same_cipher, 3, b"b" * 16)):
        with pytest.raises(FactorsError, match="block"):
            other.open(block, number, below)


def test_every_store_has_a_key_of_its_own() -> None:
    one, two = Seal(SECRET, KEY, BLOCK, bytes(16)), Seal(SECRET, KEY, BLOCK, b"i" * 16)
    block = one.close(b"factors", 0, bytes(16))
    one._box = two._box
    with pytest.raises(FactorsError, match="block"):
        one.open(block, 0, bytes(16))


def test_keys_are_derived_for_one_purpose_each() -> None:
    keys = [derive_key(SECRET, b"seal", bytes(16)), derive_key(SECRET, b"witness", bytes(16))]
    keys += [derive_key(SECRET, b"seal", b"i" * 16), SECRET]
    assert len(set(keys)) == 4


def test_factors_of_another_key_are_refused(bench: Bench) -> None:
    bench.fill(1)
    with pytest.raises(FactorsError, match="another key"):
        bench.store(key=OTHER_KEY).take(1)


def test_a_link_in_the_place_of_either_file_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    bench.fill(1)
    for path in (bench.path, bench.witness):
        moved = path.rename(tmp_path / "moved")
        path.symlink_to(moved)
        with pytest.raises(FactorsError, match="Too many levels of symbolic links"):
            bench.store().take(1)
        path.unlink()
        moved.rename(path)


def test_an_error_of_the_disk_while_marking_loses_the_factors_and_never_gives_them_again(bench: Bench) -> None:
    store = bench.fill(3)
    for name in ("fsync", "ftruncate"):
        with patch(f"os.{name}", failing(name, errno.EIO)), pytest.raises(FactorsError, match="Input/output error"):
            store.take(1)
    assert numbers(bench.store().take(100) + store.take(100)) == [1, 2, 3, 4]


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_full_memory_is_an_error_and_nothing_is_given_twice(bench: Bench, after: int) -> None:
    store = bench.fill(3)
    with patch("os.pwrite", failing("pwrite", errno.ENOSPC, after)):
        try:
            first = store.take(1)
        except FactorsError as error:
            assert "No space left" in str(error)  # noqa: PT017
            first = []
    taken = first + store.take(100) + bench.store().take(100)
    assert len(taken) == len(set(taken)) >= 2 * BLOCK


def test_a_full_disk_is_a_clear_error_and_the_store_stays_as_it_was(bench: Bench) -> None:
    bench.fill(2)
    limit = bench.path.stat().st_size + SEALED // 2
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            bench.store().append(bench.page())
        except FactorsError as error:
            code = 0 if "File too large" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    store = bench.store()
    assert store.left() == 2 * BLOCK
    store.append(bench.page())
    assert numbers(store.take(100)) == [*range(1, 9), *range(9, 13)]


def test_a_folder_that_cannot_be_written_is_a_clear_error(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(FactorsError, match=r"factors-paillier\.store: its folder does not exist"):
        FactorStore(tmp_path / "absent", SECRET, KEY, bench.machine, BLOCK).append(bench.page())


def test_two_processes_share_a_store_and_get_different_factors(bench: Bench) -> None:
    one, two = bench.fill(6), bench.store()
    taken = one.take(3) + two.take(3)
    two.append(bench.page())
    taken += one.take(9) + two.take(100) + one.take(100)
    assert numbers(taken) == list(range(1, 29))


def test_while_another_process_is_at_it_none_are_taken_and_none_added(bench: Bench) -> None:
    store = bench.fill(2)
    with bench.lock(), patch("party.keys.factors.store._TAKE_PATIENCE", 0.05):
        assert store.take(1) == []
        with patch("party.keys.factors.store._OTHER_PATIENCE", 0.05), pytest.raises(FactorsError, match="in use"):
            store.append(bench.page())
    assert len(store.take(100)) == 2 * BLOCK


def test_a_forked_child_has_no_factors_and_its_parent_still_has_all(bench: Bench) -> None:
    store = bench.fill(2)
    taken = store.take(1)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, struct.pack(">II", len(store.take(1)) + len(store.take(100)), store.left()))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert struct.unpack(">II", os.read(reader, 8)) == (0, 0)
    assert numbers(taken + store.take(100)) == list(range(1, 9))
