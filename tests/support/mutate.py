"""Takes each check of a module away in turn: the tests of the module must fail every time (`scripts/mutate`).

Its tests are the files that carry its name in the folder that mirrors its own, and then those that import it. They run
in copies of the tree, one per worker, whose other modules stay as they are. First they must pass without a mutant, or
to fail would mean nothing. A mutant that has tests wait five times as long as usual counts as caught.
"""

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Final

from tests.support.mutants import REDUNDANT, ROOT, Check, checks_of, without

_PARTS: Final = ("party", "protocols", "tests", "proto", "scripts", "pyproject.toml", "README.md", ".github", "LICENSE")
_PYTEST: Final = (sys.executable, "-Bm", "pytest", "-qx", "-p", "no:cacheprovider", "--hypothesis-profile", "mutants")
CAUGHT: Final = "caught"
SPARE: Final = "redundant"
SURVIVED: Final = "SURVIVED"
_PATIENCE: Final = 900.0
_LEAST_PATIENCE: Final = 60.0
_LONGER: Final = 5
_WORKERS: Final = 2
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


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


def modules() -> list[str]:
    """Return the modules of the product that have checks."""
    every = (path for folder in ("party", "protocols") for path in sorted((ROOT / folder).rglob("*.py")))
    return [name for path in every if checks_of(name := str(path.relative_to(ROOT)))]


def covering(module: str) -> list[str]:
    """Return the test files that carry a module's name, and then those that import it."""
    path = Path(module)
    own = [ROOT / "tests" / path.parent / f"test_{path.stem}.py"]
    imported = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    found = [each for each in own if each.is_file()]
    name = imported.rpartition(".")[2]
    near = [each for each in every if each not in own and name in each.read_text("utf-8")]
    found += [each for each in near if imported in _imports(each)]
    quick = [each for each in found if "integration" not in each.parts]  # real processes take minutes
    return [str(each.relative_to(ROOT)) for each in quick or found]


def _imports(test: Path) -> set[str]:
    """Return what a test file imports: modules, and what may be modules of packages."""
    names = set()
    for node in ast.walk(ast.parse(test.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}", *(f"{node.module}.{each.name}" for each in node.names)}
    return names


def _fails(folder: Path, tests: Sequence[str], patience: float) -> str | None:
    """Return which test fails first in this copy of the tree, if one does."""
    paths = os.pathsep.join([str(folder), str(folder / "party" / "api")])
    command = [*_PYTEST, "--basetemp", str(folder / "temporary"), *tests]
    run = partial(subprocess.run, capture_output=True, text=True, check=False)
    try:
        ended = run(command, cwd=folder, env=os.environ | {"PYTHONPATH": paths}, timeout=patience)
    except subprocess.TimeoutExpired:
        return "a test that waits"
    if ended.returncode == 0:
        return None
    name = _FAILED.search(ended.stdout)
    return name[1] if name else "a test that cannot begin"


def _try(module: str, checks: Sequence[Check], where: str) -> list[Found]:
    """Try a module as it is, and then without each of these checks."""
    folder = Path(mkdtemp(dir=where))
    for name in _PARTS:
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / name, ignore=ignored) if source.is_dir() else shutil.copy(source, folder)
    tests = covering(module)
    found: list[Found] = []
    for check in (None, *checks):
        if check is not None:
            (folder / module).write_text(without(check), "utf-8")
        patience = max(_LEAST_PATIENCE, _LONGER * found[0].seconds) if found else _PATIENCE
        began = time.monotonic()
        failed = _fails(folder, tests, patience)
        found.append(Found(module, check, failed, time.monotonic() - began))
        if check is None and failed:
            break
    shutil.rmtree(folder)
    return found


def tried(checks: Sequence[Check]) -> Iterator[Found]:
    """Yield what becomes of each module as it is, and of it without each of these checks, as it is known."""
    with TemporaryDirectory(prefix="cotally-mutants-") as where, ThreadPoolExecutor(_WORKERS) as pool:
        of_modules = {module: list(each) for module, each in groupby(checks, lambda check: check.module)}
        for done in as_completed([pool.submit(_try, module, each, where) for module, each in of_modules.items()]):
            yield from done.result()


def main(words: Sequence[str]) -> int:
    """Try all checks of the named modules, or of all; with a number first, this many of them drawn by chance.

    A module may be named with a line, `party/files.py:40`: then the checks of that line.
    """
    most = int(words[0]) if words and words[0].isdigit() else None
    places = [word.partition(":") for word in words if not word.isdigit()] or [(each, "", "") for each in modules()]
    checks = [c for module, _, line in places for c in checks_of(module) if line in ("", str(c.line))]
    if most is not None:
        checks = sorted(random.sample(checks, min(most, len(checks))), key=checks.index)
    every = []
    for found in tried(checks):
        every.append(found)
        _show(found)
    return _sum_up(every)


def _show(found: Found) -> None:
    if found.check is None:
        line = f"{found.module}: {'WITHOUT A MUTANT FAILS ' + found.failed if found.failed else 'as it is, all pass'}"
    else:
        by = f", by {found.failed}" if found.failed else ""
        line = f"{found.became} {found.module}:{found.check.line} {found.check.text[:160]}{by}"
    sys.stdout.write(f"{line} ({found.seconds:.0f} s)\n")
    sys.stdout.flush()


def _sum_up(every: Sequence[Found]) -> int:
    """Write the table, module by module; return 1 if a check can be taken away unseen, or a module's tests fail."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for found in every:
        if found.check is not None:
            counts[found.module][found.became] += 1
            counts["all"][found.became] += 1
    kinds = (CAUGHT, SPARE, SURVIVED)
    sys.stdout.write(f"{'checks':>9}{''.join(f'{kind:>10}' for kind in kinds)}  module\n")
    for module, became in sorted(counts.items(), key=lambda row: (row[0] == "all", row[0])):
        sys.stdout.write(f"{became.total():9}{''.join(f'{became[kind]:10}' for kind in kinds)}  {module}\n")
    return 1 if counts["all"][SURVIVED] or any(each.check is None and each.failed for each in every) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
