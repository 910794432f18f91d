"""What holds for every test.

Interrupts reach the tests' processes, however the tests were started: a shell's background jobs ignore them. No example
of a property has a deadline: the machine may be busy with something else. Tests start hundreds of processes: their
bytecode is kept, even where the environment says not to, for without it half of each start is compiling. A mutant must
fail, and nobody reads by what: its examples are not shrunk (`scripts/mutate`).
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.support.processes import make_trusting

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("cotally", deadline=None)
settings.register_profile("mutants", deadline=None, phases=[Phase.explicit, Phase.generate])
settings.load_profile("cotally")


@pytest.fixture(scope="session")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two parties that trust each other and have no data: to copy, never to run in."""
    return make_trusting(tmp_path_factory.mktemp("trusting"))
