"""What is open for as long as a `with` block lasts, however that ends."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class Closing(ABC):
    """A context that closes itself at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held."""


@contextmanager
def beside(thread: threading.Thread, over: threading.Event) -> Iterator[None]:
    """Let a thread work for as long as the context lasts; it looks at `over`."""
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
