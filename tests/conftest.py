"""What holds for every test.

Interrupts reach the tests' processes, however the tests were started: a shell's background jobs ignore them. No example
of a property has a deadline: the machine may be busy with something else.
"""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.processes import make_trusting

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("cotally", deadline=None)
settings.load_profile("cotally")


@pytest.fixture(scope="session")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two parties that trust each other and have no data: to copy, never to run in."""
    return make_trusting(tmp_path_factory.mktemp("trusting"))
