"""What tests give to worker processes; light, since every worker imports it.

Tasks wait for each other and for the test by files in a folder, never by time: a busy machine changes nothing.
"""

import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

_LOOK_SECONDS = 0.005
_END_SECONDS = 60.0


def meet(task: tuple[Path, int]) -> int:
    """Say who does this task, once as many as named are at it in this folder: each by a worker of its own."""
    folder, expected = task
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
    _wait_until(lambda: len(list(folder.iterdir())) >= expected)
    return os.getpid()


def echo(task: tuple[Path, str, int]) -> int:
    """Return the number: at once for no word, else when the folder has a file of this name.

    At the beginning and at the end a task leaves a file: `begun PID` and `ended NUMBER`.
    """
    folder, awaited, number = task
    (folder / f"begun {os.getpid()}").touch()
    _wait_until(lambda: not awaited or (folder / awaited).exists())
    (folder / f"ended {number}").touch()
    return number


def _wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something to hold; a test that forgot about it fails by what is said after so long a time."""
    end = time.monotonic() + _END_SECONDS
    while not holds() and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)


def exhaust_memory(task: int) -> None:
    """Fail as Python does when there is no memory."""
    raise MemoryError(task)


def inherited(name: str) -> object:
    """Return what this process finds under a name that its party has put into a module."""
    return getattr(secrets, name, None)


def own_version(_package: str) -> str:
    """Return a version that every process has for itself."""
    return str(os.getpid())


def has_loaded(module: str) -> bool:
    """Tell whether this process has loaded a module."""
    return module in sys.modules
