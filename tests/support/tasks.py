"""What tests give to worker processes; light, since every worker imports it."""

import os
import secrets
import time


def echo_after(task: tuple[float, int]) -> int:
    """Wait, and return the number."""
    seconds, number = task
    time.sleep(seconds)
    return number


def pid_after(seconds: float) -> int:
    """Wait, and say who did."""
    time.sleep(seconds)
    return os.getpid()


def exhaust_memory(task: int) -> None:
    """Fail as Python does when there is no memory."""
    raise MemoryError(task)


def inherited(name: str) -> object:
    """Return what this process finds under a name that its party has put into a module."""
    return getattr(secrets, name, None)


def own_version(_package: str) -> str:
    """Return a version that every process has for itself."""
    return str(os.getpid())
