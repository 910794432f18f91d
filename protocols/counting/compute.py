"""Where heavy arithmetic is done: here, in other processes or on other machines. The core only sees these two ports.

* *Encryption* needs what the key holder knows: factors of the key and the plaintexts of a page.
* *Counting* under encryption needs ciphertexts and codes: `count_nodes` is sent whole, with no private key.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from protocols.counting.margins import NodeTask, count_cells
from protocols.paillier.arithmetic import Integer
from protocols.paillier.ciphertext import write_page
from protocols.paillier.encryption import Encryptor
from protocols.paillier.keys import PrivateKey
from protocols.randomness import Randomness

TASK_ROWS = 2048

A = TypeVar("A")
B = TypeVar("B")


class PageEncryptor(Protocol):
    """Encrypts pages of messages under our own key; every ciphertext is fresh."""

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order, each as soon as it is made."""
        ...


class Workers(Protocol):
    """A map whose calls may run elsewhere; results come in order, and only a few tasks are taken ahead."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply a picklable function to picklable tasks."""
        ...


@dataclass(frozen=True, repr=False)
class Compute:
    """Both ports."""

    encryption: PageEncryptor
    workers: Workers


class InlineEncryptor:
    """Encrypts in this process; the tables of the key are made once."""

    def __init__(self, private_key: PrivateKey, randomness: Randomness) -> None:
        self._key, self._encryptor = private_key.public_key, Encryptor(private_key, randomness)

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Encrypt page by page."""
        return (write_page(self._key, self._encryptor.encrypt(messages)) for messages in pages)


class InlineWorkers:
    """Runs every task here, when its result is asked for."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply one by one."""
        return map(function, tasks)


def inline(private_key: PrivateKey, randomness: Randomness) -> Compute:
    """Return a `Compute` that does everything in this process."""
    return Compute(InlineEncryptor(private_key, randomness), InlineWorkers())


def count_nodes(tasks: Sequence[NodeTask]) -> list[list[Integer | None]]:
    """Count several nodes: one piece of work for a worker."""
    return [count_cells(task) for task in tasks]


def bundles(tasks: Iterable[NodeTask]) -> Iterator[list[NodeTask]]:
    """Group small nodes, so that handing them over costs little beside the work."""
    bundle: list[NodeTask] = []
    rows = 0
    for task in tasks:
        bundle.append(task)
        rows += len(task.weights)
        if rows >= TASK_ROWS:
            yield bundle
            bundle, rows = [], 0
    if bundle:
        yield bundle
