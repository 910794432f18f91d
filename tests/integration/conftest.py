"""What tests over real sockets share: two parties that trust each other, and threads."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

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
