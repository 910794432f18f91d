"""What a worker process does: take a task, show meanwhile that it lives, answer; and end when the party does."""

import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

BEAT_SECONDS = 1.0
_ORPHANED = 143


def serve(connection: "Connection[Any, Any]") -> None:
    """Answer each `(function, task)` by `(True, result)` or `(False, error)` until the party hangs up.

    An interruption from the keyboard is the party's to deal with. Without memory even for that, it ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, name="watch", daemon=True).start()
    line = _Line(connection)
    try:
        while True:
            function, task = connection.recv()
            with line.beating():
                answer = _answer(function, task)
            connection.send(answer)
    except (EOFError, OSError, MemoryError, ImportError):  # without memory to take a task or its code, or to answer
        return


class _Line:
    """Sends a sign of life every second while a task is done."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._busy = False
        threading.Thread(target=self._beat, name="beat", daemon=True).start()

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Send signs for as long as the context lasts, and none later: what is sent then is the answer."""
        self._busy = True
        try:
            yield
        finally:
            with self._sending:
                self._busy = False

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._sending, suppress(OSError):  # the party has gone: the main thread sees that, too
                if self._busy:
                    self._connection.send(None)


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
