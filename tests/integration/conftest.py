"""What tests over real sockets share: two parties that trust each other, threads, and one browser."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from selenium import webdriver

from tests.support.browser import chromium
from tests.support.rpc import Parties, make_parties
from tests.support.timer import SkippingTimer


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both parties' folders."""
    return tmp_path_factory.mktemp("parties")


@pytest.fixture(scope="module")
def parties(directory: Path) -> Parties:
    """Alice and Bob."""
    return make_parties(directory)


@pytest.fixture
def start() -> Iterator[Callable[..., "Future[object]"]]:
    """Run a function in a thread of its own."""
    with ThreadPoolExecutor(4) as pool:
        yield pool.submit


@pytest.fixture
def timer() -> SkippingTimer:
    """Time that the test may move ahead."""
    return SkippingTimer()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """A browser with a small window; a page of one test has another origin than that of the next."""
    with chromium(tmp_path_factory.mktemp("profile"), "--window-size=390,844") as opened:
        opened.set_script_timeout(120)
        yield opened
