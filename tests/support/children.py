"""Worker processes of a party, seen from outside."""

from collections.abc import Iterable

import psutil  # type: ignore[import-untyped]


def workers_of(pid: int) -> list[int]:
    """Return the worker processes that a party has."""
    children = psutil.Process(pid).children(recursive=True)
    return sorted(child.pid for child in children if any("spawn_main" in word for word in _words(child)))


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def gone(pids: Iterable[int]) -> bool:
    """Tell whether none of these processes runs; one that only waits for its parent has ended."""
    return not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
