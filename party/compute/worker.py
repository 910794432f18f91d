"""What a worker process does: take a task, do it, answer; and end when the party does."""

import os
import signal
import threading
import traceback
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

_ORPHANED = 143


def serve(connection: "Connection[Any, Any]") -> None:
    """Answer each `(function, task)` by `(True, result)` or `(False, error)` until the party hangs up.

    An interruption from the keyboard is the party's to deal with. Without memory even for that, it ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, name="watch", daemon=True).start()
    try:
        while True:
            function, task = connection.recv()
            connection.send(_answer(function, task))
    except (EOFError, OSError, MemoryError, ImportError):  # without memory to take a task or its code, or to answer
        return


def _answer(function: Any, task: Any) -> tuple[bool, Any]:
    try:
        return True, function(task)
    except Exception as error:  # noqa: BLE001  # raised again in the party, which knows what it means
        error.add_note("In a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return False, error


def _watch() -> None:
    """End, even in the middle of a task, when the party is gone, however it went."""
    party = parent_process()
    assert party is not None  # noqa: S101  # `serve` is the target of a process
    wait([party.sentinel])
    os._exit(_ORPHANED)
