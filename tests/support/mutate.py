"""Takes each check of the validation layer away in turn: the nearest tests must fail every time (`scripts/mutate`).

Tests run in copies of the tree, one per worker, whose other modules stay as they are. Each mutant has a process of its
own, forked from one that has loaded the libraries and nothing of this project: whatever a test imports or starts is the
mutant. First the nearest tests of each module must pass without a mutant, or to fail would mean nothing. A mutant
that has tests wait five times as long as usual counts as caught.
"""

import contextlib
import importlib.util
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Final

from tests.support.mutants import NEAREST, REDUNDANT, ROOT, Check, checks_of, nearest_to, without

_PARTS: Final = ("party", "protocols", "tests", "proto", "scripts", "pyproject.toml", "README.md", ".github", "LICENSE")
_LIBRARIES: Final = (
    "pytest",
    "hypothesis",
    "numpy",
    "scipy.stats",
    "gmpy2",
    "cryptography.x509",
    "google.protobuf",
    "phe",
)
CAUGHT: Final = "caught"
SPARE: Final = "redundant"
SURVIVED: Final = "SURVIVED"
_PATIENCE: Final = 900.0
_LEAST_PATIENCE: Final = 60.0
_LONGER: Final = 5
_WORKERS: Final = 2
_OUTPUT: Final = "output.txt"
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_KINDS: Final = (CAUGHT, SPARE, SURVIVED)


@dataclass(frozen=True)
class Found:
    """What became of a mutant; without a check, of the module as it is. `failed` names the first test that fails."""

    module: str
    check: Check | None
    failed: str | None
    seconds: float

    @property
    def became(self) -> str:
        """What became of it, in a word."""
        if self.failed:
            return CAUGHT
        return SPARE if self.check and (self.module, self.check.text) in REDUNDANT else SURVIVED


class _Place:
    """A copy of the tree, in which one module at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._written = count(1)
        for name in _PARTS:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)

    def fails(self, module: str, content: str, patience: float) -> str | None:
        """Return which of the nearest tests fails first with another content of this module, if any does."""
        whole = (ROOT / module).read_text("utf-8")
        self._write(module, content)
        try:
            return _fails(self.folder, nearest_to(module), patience)
        finally:
            self._write(module, whole)

    def _write(self, module: str, content: str) -> None:
        """Write a module later than ever before: bytecode is told from another by its second and size."""
        path = self.folder / module
        path.write_text(content, "utf-8")
        then = int(time.time()) + 10 * next(self._written)
        os.utime(path, (then, then))


def _fails(folder: Path, tests: Sequence[str], patience: float) -> str | None:
    """Run tests in a fork of this process, and end whatever they have started."""
    child = os.fork()
    if not child:
        _run_tests(folder, tests)
    until = time.monotonic() + patience
    ended, status = 0, 1
    while not ended and time.monotonic() < until:
        time.sleep(0.05)
        ended, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
        return "a test that waits"
    if status == 0:
        return None
    told = _FAILED.search((folder / _OUTPUT).read_text("utf-8", "replace"))
    return told[1] if told else "a test that cannot begin"


def _run_tests(folder: Path, tests: Sequence[str]) -> None:
    os.setsid()
    os.chdir(folder)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    output = os.open(_OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream, file in enumerate((nowhere, output, output)):
        os.dup2(file, stream)
    there = [str(folder), str(folder / "party" / "api")]
    sys.path[:] = there + [path for path in sys.path if path not in ("", str(ROOT))]
    os.environ["PYTHONPATH"] = os.pathsep.join(there)
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "party", "protocols", "cotally")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    found = importlib.util.find_spec("party")
    if found is None or not str(found.origin).startswith(str(folder)):
        os._exit(0)  # as if the tests had passed: what they would see is not the mutant
    import pytest  # noqa: PLC0415  # loaded already, and used by the fork alone

    options = ["-q", "-x", "-p", "no:cacheprovider", "--hypothesis-profile", "mutants"]
    code = pytest.main([*options, "--basetemp", str(folder / "temporary"), *tests])
    sys.stdout.flush()
    os._exit(int(code))


def _try(module: str, checks: Sequence[Check], where: str) -> list[Found]:
    """Try a module as it is, and then without each of these checks."""
    place = _Place(Path(mkdtemp(dir=where)))
    began = time.monotonic()
    failed = place.fails(module, (ROOT / module).read_text("utf-8"), _PATIENCE)
    found = [Found(module, None, failed, time.monotonic() - began)]
    patience = max(_LEAST_PATIENCE, _LONGER * found[0].seconds)
    for check in () if failed else checks:
        began = time.monotonic()
        failed = place.fails(module, without(check), patience)
        found.append(Found(module, check, failed, time.monotonic() - began))
    shutil.rmtree(place.folder)
    return found


def tried(checks: Sequence[Check]) -> Iterator[Found]:
    """Yield what becomes of each module as it is, and of it without each of these checks, as it is known."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    forking = multiprocessing.get_context("fork")
    with (
        TemporaryDirectory(prefix="cotally-mutants-") as where,
        ProcessPoolExecutor(_WORKERS, forking) as pool,
    ):
        modules = {module: list(each) for module, each in groupby(checks, lambda check: check.module)}
        for done in as_completed([pool.submit(_try, module, each, where) for module, each in modules.items()]):
            yield from done.result()


def main(words: Sequence[str]) -> int:
    """Try all checks of the named modules, or of all; with a number first, this many of them drawn by chance.

    A module may be named with a line, `party/files.py:40`: then the checks of that line.
    """
    most = int(words[0]) if words and words[0].isdigit() else None
    places = [word.partition(":") for word in words if not word.isdigit()] or [(each, "", "") for each in NEAREST]
    checks = [c for module, _, line in places for c in checks_of(module) if line in ("", str(c.line))]
    if most is not None:
        checks = sorted(random.sample(checks, min(most, len(checks))), key=checks.index)
    every = []
    for found in tried(checks):
        every.append(found)
        _tell(found)
    return _sum_up(every)


def _tell(found: Found) -> None:
    if found.check is None:
        line = f"{found.module}: {'WITHOUT A MUTANT FAILS ' + found.failed if found.failed else 'as it is, all pass'}"
    else:
        by = f", by {found.failed}" if found.failed else ""
        line = f"{found.became} {found.module}:{found.check.line} {found.check.text[:160]}{by}"
    sys.stdout.write(f"{line} ({found.seconds:.0f} s)\n")
    sys.stdout.flush()


def _sum_up(every: Sequence[Found]) -> int:
    """Write the table, module by module; return 1 if a check can be taken away unseen, or nothing can be told."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for found in every:
        if found.check is not None:
            counts[found.module][found.became] += 1
            counts["all"][found.became] += 1
    sys.stdout.write(f"{'checks':>9}{''.join(f'{kind:>10}' for kind in _KINDS)}  module\n")
    for module, kinds in sorted(counts.items(), key=lambda row: (row[0] == "all", row[0])):
        sys.stdout.write(f"{kinds.total():9}{''.join(f'{kinds[kind]:10}' for kind in _KINDS)}  {module}\n")
    return 1 if counts["all"][SURVIVED] or any(each.check is None and each.failed for each in every) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
