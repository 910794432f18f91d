"""No factor is used twice, whatever is copied, restored, restarted, forked, cut or killed."""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.errors import FactorsError
from party.keys.factors.witness import Mark
from tests.party.keys.factors.bench import BLOCK, Bench, CrashError, crash_before

ROOT = Path(__file__).parents[4]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def assert_empty(bench: Bench, folder: Path | None = None, blocks: int = 3) -> None:
    """Check that the pool is empty and says why, and that it can be filled again."""
    store = bench.store(folder)
    assert store.take(1) == []
    assert store.discarded == blocks * BLOCK
    store.append(bench.page())
    assert len(store.take(100)) == BLOCK


def copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", f"{source}/.", target], check=True)


def test_a_copied_folder_has_no_factors_and_the_first_one_keeps_its_own(bench: Bench, tmp_path: Path) -> None:
    store = bench.fill(3)
    shutil.copytree(bench.folder, tmp_path / "copy")
    copied = bench.store(tmp_path / "copy")
    assert copied.take(1) == []
    assert copied.discarded
    assert not (tmp_path / "copy" / "factors-paillier.store").exists()
    assert len(store.take(100)) == 3 * BLOCK


def test_a_file_of_the_same_number_on_another_device_is_another_file(bench: Bench) -> None:
    bench.fill(3)
    with bench.lock() as witness:
        mark = witness.read()
        assert mark is not None
        witness.write(replace(mark, device=mark.device + 1))
    assert_empty(bench)


def test_a_folder_that_is_renamed_keeps_its_factors(bench: Bench, tmp_path: Path) -> None:
    bench.fill(3)
    bench.folder.rename(tmp_path / "new")
    assert len(bench.store(tmp_path / "new").take(100)) == 3 * BLOCK


def test_on_another_machine_there_are_no_factors(bench: Bench, tmp_path: Path) -> None:
    bench.fill(3)
    bench.memory = tmp_path / "memory of another machine"
    bench.memory.mkdir()
    assert_empty(bench)


def test_after_a_restart_there_are_no_factors(bench: Bench) -> None:
    bench.fill(3)
    bench.witness.unlink()
    bench.boot = "c" * 36
    assert_empty(bench)


def test_memory_that_came_along_from_another_start_does_not_count(bench: Bench) -> None:
    bench.fill(3)
    bench.boot = "c" * 36
    assert_empty(bench)


@pytest.mark.parametrize("step", [-3600.0, -6.0, 6.0, 3600.0])
def test_when_the_clock_was_set_there_are_no_factors(bench: Bench, step: float) -> None:
    bench.fill(3)
    bench.clock += step
    assert_empty(bench)


def test_a_clock_that_is_corrected_by_little_keeps_them(bench: Bench) -> None:
    bench.fill(3)
    bench.clock += 4.0
    assert bench.store().left() == 3 * BLOCK


def restore_by_tar(bench: Bench, tmp_path: Path, between: Callable[[], None]) -> None:
    with tarfile.open(tmp_path / "backup.tar", "w") as tar:
        tar.add(bench.folder, "party")
    between()
    subprocess.run(["tar", "-xf", "backup.tar"], cwd=tmp_path, check=True)


def restore_by_copy(bench: Bench, tmp_path: Path, between: Callable[[], None]) -> None:
    copy(bench.folder, tmp_path / "snapshot")
    between()
    bench.folder.rename(tmp_path / "aside")
    copy(tmp_path / "snapshot", bench.folder)


def restore_in_place(bench: Bench, tmp_path: Path, between: Callable[[], None]) -> None:
    copy(bench.folder, tmp_path / "snapshot")
    between()
    copy(tmp_path / "snapshot", bench.folder)  # cp writes into the file that is there


@pytest.mark.parametrize("restore", [restore_by_tar, restore_by_copy, restore_in_place])
def test_a_half_used_store_that_is_restored_is_empty(
    bench: Bench, tmp_path: Path, restore: Callable[..., None]
) -> None:
    store = bench.fill(3)
    taken = store.take(1)
    bench.fill(1)
    restore(bench, tmp_path, lambda: taken.extend(bench.store().take(1)))
    assert len(taken) == 2
    assert_empty(bench)


def test_an_older_store_of_fewer_blocks_written_over_it_is_refused(bench: Bench, tmp_path: Path) -> None:
    store = bench.fill(1)
    restore_in_place(bench, tmp_path, lambda: store.append(bench.page()))
    with pytest.raises(FactorsError, match="delete it"):
        bench.store().take(1)


def test_an_older_store_of_another_id_written_over_it_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.fill(2)
    old = bench.path.read_bytes()
    bench.path.unlink()
    bench.fill(2)
    bench.path.write_bytes(old)
    bench.path.chmod(0o600)
    with pytest.raises(FactorsError, match="delete it"):
        bench.store().take(1)


def test_an_empty_store_that_is_gone_after_a_restart_is_not_worth_a_notice(bench: Bench) -> None:
    bench.fill(1).take(BLOCK)
    bench.boot = "c" * 36
    store = bench.store()
    assert (store.take(1), store.discarded) == ([], 0)


@pytest.mark.parametrize("name", ["take", "append", "append anew"])
@pytest.mark.parametrize("number", range(8))
def test_a_crash_at_any_call_loses_what_was_in_hand_at_most(bench: Bench, name: str, number: int) -> None:
    bench.fill(4)
    if name == "append anew":
        bench.path.unlink()  # NB: the next file often gets the same number
    page = bench.page()
    pid = os.fork()
    if pid == 0:
        try:
            with crash_before(number):
                bench.store().take(2 * BLOCK - 1) if name == "take" else bench.store().append(page)
        except CrashError:
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(0)
    killed = os.waitpid(pid, 0)[1] == signal.SIGKILL
    before, after = {"take": (16, 8), "append": (16, 20), "append anew": (0, 4)}[name]
    left = bench.store().left()
    assert left in ((before, after) if killed else (after,))
    bench.store().append(bench.page())
    taken = bench.store().take(100)
    assert len(set(taken)) == len(taken) == left + BLOCK


def test_the_mark_of_an_old_file_is_gone_before_a_new_one_could_get_its_number(bench: Bench) -> None:
    bench.fill(2)
    bench.path.unlink()
    with crash_before(2), pytest.raises(CrashError):
        bench.store().append(bench.page())
    assert not bench.path.exists()
    with bench.lock() as witness:
        assert witness.read() == Mark()


def test_a_crash_is_met_at_every_call_of_an_operation(bench: Bench) -> None:
    bench.fill(2)
    for number in range(5):
        with crash_before(number), pytest.raises(CrashError):
            bench.store().take(1)


WORKER = """
import sys
from pathlib import Path
from tests.party.keys.factors.bench import Bench, BLOCK, KEY, SECRET
from party.keys.factors.store import FactorStore
from party.keys.factors.witness import Machine

root, start = Path(sys.argv[1]), int(sys.argv[2])
store = FactorStore(root / "party", SECRET, KEY, lambda: Machine(root / "memory", "b" * 36, 1000.0), BLOCK)
number = start
while True:
    if sys.argv[3] == "make":
        page = b"".join(n.to_bytes(KEY.ciphertext_bytes, "big") for n in range(number, number + BLOCK))
        store.append(page)
        number += BLOCK
        print(number, flush=True)
    else:
        print(*(factor.hex() for factor in store.take(1)), flush=True)
"""


def run_and_kill(root: Path, kind: str, start: int, lines: int) -> list[str]:
    """Let a process make or take factors, and kill it in the midst of it after it said so many lines."""
    command = [sys.executable, "-c", WORKER, str(root), str(start), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        return said + process.stdout.readlines()


def test_killed_makers_and_takers_never_use_a_factor_twice(bench: Bench, tmp_path: Path) -> None:
    taken: list[bytes] = []
    for turn in range(3):
        start = 1 + 10**6 * turn
        before = bench.store().left()
        made = run_and_kill(tmp_path, "make", start, 10 + turn)
        assert bench.store().left() - before >= BLOCK * (10 + turn)
        said = run_and_kill(tmp_path, "take", 0, 20 + turn)
        taken += [bytes.fromhex(word) for line in said for word in line.split()]
        assert len(made) >= 10
    taken += bench.store().take(10**6)
    assert len(set(taken)) == len(taken) > 60


STEPS = st.one_of(
    st.tuples(st.just("make"), st.integers(1, 3)),
    st.tuples(st.just("take"), st.integers(1, 9)),
    st.tuples(st.just("crash in make"), st.integers(0, 7)),
    st.tuples(st.just("crash in take"), st.integers(0, 5)),
    st.tuples(st.sampled_from(["reopen", "back up", "write back", "put back", "restart", "cut", "grow"]), st.just(0)),
)


class World:
    """Does the steps, and notes all factors that were given."""

    def __init__(self, root: Path) -> None:
        self.bench = Bench(root)
        self.store = self.bench.store()
        self.given: list[bytes] = []
        self.backup: bytes | None = None

    def do(self, name: str, number: int) -> None:
        try:
            getattr(self, "_" + name.replace(" ", "_"))(number)
        except FactorsError:
            self.bench.path.unlink()
        except CrashError:
            self._reopen(0)

    def _make(self, blocks: int) -> None:
        for _ in range(blocks):
            self.store.append(self.bench.page())

    def _take(self, count: int) -> None:
        self.given += self.store.take(count)

    def _crash_in_make(self, number: int) -> None:
        with crash_before(number):
            self._make(1)

    def _crash_in_take(self, number: int) -> None:
        with crash_before(number):
            self._take(5)

    def _reopen(self, _: int) -> None:
        self.store = self.bench.store()

    def _restart(self, _: int) -> None:
        self.bench.boot = f"{int(self.bench.boot, 16) + 1:036x}"
        self._reopen(0)

    def _back_up(self, _: int) -> None:
        if self.bench.path.exists():
            self.backup = self.bench.path.read_bytes()

    def _write_back(self, _: int) -> None:
        if self.backup is not None:
            self.bench.path.write_bytes(self.backup)
            self.bench.path.chmod(0o600)

    def _put_back(self, _: int) -> None:
        if self.backup is not None:
            self.bench.path.unlink(missing_ok=True)
            self._write_back(0)

    def _cut(self, _: int) -> None:
        if self.bench.path.exists():
            os.truncate(self.bench.path, max(0, self.bench.path.stat().st_size - 7))

    def _grow(self, _: int) -> None:
        if self.bench.path.exists():
            os.truncate(self.bench.path, self.bench.path.stat().st_size + 7)


@settings(max_examples=150)
@given(st.lists(STEPS, max_size=25))
def test_no_sequence_of_accidents_gives_a_factor_twice(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        world = World(Path(root))
        for name, number in [("make", 3), *steps, ("take", 9)]:
            world.do(name, number)
        assert len(world.given) == len(set(world.given))
