"""Ports to the places of heavy arithmetic: this thread, other threads, other processes or other machines.

* *Encryption* needs what the key holder knows: its private key and the plaintexts of a page.
* *Counting* by transfers needs the keys of a block of them, and one side's cells of these records.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class PageEncryptor(Protocol):
    """Encrypts pages of messages under our own key; every ciphertext is fresh."""

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order, each as soon as it is made."""


class Workers(Protocol):
    """Those whose calls may run elsewhere."""

    @property
    def ahead(self) -> int:
        """How many tasks are started before the result of the first of them is waited for."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply a picklable function to picklable tasks: results come in order, only a few tasks are taken ahead."""

    def submit(self, function: Callable[[A], B], task: A) -> Callable[[], B]:
        """Start one task; return what waits for its result."""


class InlineWorkers:
    """Runs every task here, when its result is asked for."""

    ahead = 0

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply one by one."""
        return map(function, tasks)

    def submit(self, function: Callable[[A], B], task: A) -> Callable[[], B]:
        """Do it when it is asked for."""
        return lambda: function(task)


INLINE: Final = InlineWorkers()


class Underway(Generic[A, B, C]):
    """Tasks that are done while more of them come; `put` takes where a result belongs, and the result, in order."""

    def __init__(self, workers: Workers, function: Callable[[B], C], put: Callable[[A, C], None]) -> None:
        self._workers, self._function, self._put = workers, function, put
        self._waiting: deque[tuple[A, Callable[[], C]]] = deque()

    def add(self, place: A, task: B) -> None:
        """Start a task, and take results where more are under way than may be."""
        self._waiting.append((place, self._workers.submit(self._function, task)))
        if len(self._waiting) > self._workers.ahead:
            self._take()

    def finish(self) -> None:
        """Take all results."""
        while self._waiting:
            self._take()

    def _take(self) -> None:
        place, result = self._waiting.popleft()
        self._put(place, result())


@dataclass(frozen=True, repr=False)
class Places:
    """Where transfers are worked at: `home` is this process, for what must not leave it, `blocks` of keys and cells."""

    home: Workers = INLINE
    blocks: Workers = INLINE


AT_HOME: Final = Places()


@dataclass(frozen=True, repr=False)
class Compute:
    """All ports; `encryption` makes the encryptor of one of our keys, `workers` are those that encrypt."""

    encryption: Callable[[Any], PageEncryptor]
    workers: Workers
    places: Places = field(default=AT_HOME)
