"""The witness of a store, alone: what it refuses, how long it waits, and on which machines there is one."""

import errno
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from party.errors import FactorsError
from party.keys.factors import witness as witness_module
from party.keys.factors.witness import Machine, Witness
from tests.party.keys.factors.bench import Bench, failing, flip


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_witness_open_to_others_is_refused(bench: Bench) -> None:
    bench.fill(1)
    bench.witness.chmod(0o606)
    with pytest.raises(FactorsError, match="another user"):
        bench.store().take(1)


def test_a_witness_of_another_user_is_refused(bench: Bench) -> None:
    bench.fill(1)
    witness = Witness(bench.machine(), b"")
    witness.path = bench.witness
    with (
        patch("os.geteuid", return_value=os.geteuid() + 1),
        pytest.raises(FactorsError, match="another user"),
        witness.locked(0),
    ):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_witness_that_is_no_plain_file_is_refused(bench: Bench) -> None:
    bench.fill(1)
    path = bench.witness
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(FactorsError, match="another user"):
        bench.store().take(1)


@pytest.mark.parametrize("place", range(0, 184, 5))
def test_a_witness_changed_anywhere_counts_for_nothing(bench: Bench, place: int) -> None:
    bench.fill(1)
    assert bench.witness.stat().st_size == 44 + 64 + 32 == 140
    flip(bench.witness, place % 140)
    store = bench.store()
    assert store.take(1) == []
    assert store.discarded


def test_a_mark_that_is_written_in_part_is_an_error(bench: Bench) -> None:
    bench.fill(1)
    with patch("os.pwrite", return_value=1), pytest.raises(FactorsError, match="full"):
        bench.store().take(1)


@pytest.mark.parametrize(("patience", "attempts"), [(0, 1), (0.005, 2)])
def test_who_waits_for_another_process_stops_when_patience_ends(bench: Bench, patience: float, attempts: int) -> None:
    with patch("fcntl.flock", side_effect=[BlockingIOError] * attempts) as tried:
        with Witness(bench.machine(), b"key").locked(patience) as witness:
            assert witness is None
        assert tried.call_count == attempts


def test_a_witness_that_cannot_be_locked_at_all_is_an_error_at_once(bench: Bench) -> None:
    bench.fill(1)
    for operation in (lambda: bench.store().take(1), lambda: bench.store().append(bench.page())):
        with (
            patch("fcntl.flock", side_effect=failing("link", errno.ENOLCK)),
            pytest.raises(FactorsError, match="cannot be locked: No locks available"),
        ):
            operation()


def test_this_machine_is_described_the_same_twice() -> None:
    one, two = Machine.here(), Machine.here()
    assert (one.memory, one.boot) == (two.memory, two.boot)
    assert abs(one.clock - two.clock) < 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("_MOUNTS", None), ("_MOUNTS", "/dev/vda /dev/shm ext4 rw 0 0\n"), ("_MOUNTS", "tmpfs /tmp tmpfs rw 0 0\n"),
        ("_BOOT_ID", None), ("_BOOT_ID", "\n"),
    ],
)  # fmt: skip
def test_a_machine_without_such_memory_keeps_no_factors(tmp_path: Path, name: str, content: str | None) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_text(content)
    with patch.object(witness_module, name, path), pytest.raises(FactorsError, match="on Linux only"):
        Machine.here()
