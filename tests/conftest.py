"""What holds for every test.

Interrupts reach the tests' processes, however the tests were started: a shell's background jobs ignore them. No example
of a property has a deadline: the machine may be busy with something else. Tests start many processes: their bytecode is
kept, even where the environment says not to, for without it half of each start is compiling. What tests write stands in
memory, where that is possible: a disk makes each of thousands of small files safe before it goes on. A mutant must
fail, and nobody reads by what: its examples are not shrunk (`scripts/mutate`).

Tests with the mark `full` run under `--all` alone (`scripts/test --all`), and properties then have more examples.
"""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import Phase, settings

from tests.support.examples import FULL
from tests.support.processes import Pair, make_pair, make_trusting
from tests.support.tic_tac_toe import ALICE, BOB, table

if TYPE_CHECKING:
    from selenium import webdriver

MEMORY = Path("/dev/shm")  # the folder of which all is in memory
ENOUGH = 1 << 31

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["LANGUAGE"] = "C"  # each declared option would look for the folders of translations
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other keep a processor from other tests
signal.signal(signal.SIGINT, signal.default_int_handler)
if (
    os.access(MEMORY, os.W_OK)
    and shutil.disk_usage(MEMORY).free > ENOUGH
    and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC  # a test compiles a library there
):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
settings.register_profile("cotally", deadline=None, max_examples=15)
settings.register_profile(FULL, deadline=None)
settings.register_profile("mutants", deadline=None, phases=[Phase.explicit, Phase.generate])
settings.load_profile("cotally")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--all`."""
    parser.addoption("--all", action="store_true", help="run the full-size forms of tests too")


def pytest_configure(config: pytest.Config) -> None:
    """Let properties have more examples where all is run."""
    config.addinivalue_line("markers", "full: a full-size form, for --all")
    if config.getoption("--all"):
        settings.load_profile(FULL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the full-size forms out."""
    if not config.getoption("--all"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("full")])
        items[:] = [item for item in items if not item.get_closest_marker("full")]


def pytest_collection_finish() -> None:
    """Look for no garbage in what was imported and collected, which is there to the end."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def shortened(pytestconfig: pytest.Config) -> Iterator[None]:
    """Do once for all tests, or for a moment, what a run does for long before it begins; under `--all` as in use."""
    from protocols.ciphers.paillier.arithmetic import is_prime
    from tests.protocols.oblivious.parts import sessions_made_before

    with ExitStack() as stack:
        if not pytestconfig.getoption("--all"):
            stack.enter_context(sessions_made_before())
            stack.enter_context(patch("protocols.ciphers.paillier.keys.is_prime", cache(is_prime)))
            for name, least in (("_LEAST_SECONDS", 0.01), ("_TRANSFERS", 1 << 12), ("_PAGE", 16)):
                stack.enter_context(patch(f"party.forecast.speed.{name}", least))
        yield


@pytest.fixture(scope="session")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two parties that trust each other and have no data: to copy, never to run in."""
    return make_trusting(tmp_path_factory.mktemp("trusting"))


@pytest.fixture
def pair(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Two parties of their own for a test, each with its columns of tic-tac-toe."""
    return make_pair(trusting, tmp_path_factory.mktemp("made") / "parties", table(ALICE), table(BOB))


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator["webdriver.Chrome"]:
    """A browser with a small window; a page of one test has another origin than that of the next."""
    from tests.support.browser import chromium

    with chromium(tmp_path_factory.mktemp("profile"), "--window-size=390,844") as opened:
        opened.set_script_timeout(120)
        yield opened
