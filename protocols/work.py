"""Where heavy arithmetic is done: here, in other processes or on other machines. The core only sees these two ports.

* *Encryption* needs what the key holder knows: its private key and the plaintexts of a page.
* *Counting* under encryption needs ciphertexts and codes, and no private key.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

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


class InlineWorkers:
    """Runs every task here, when its result is asked for."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply one by one."""
        return map(function, tasks)


@dataclass(frozen=True, repr=False)
class Compute:
    """Both ports; `encryption` makes the encryptor of one of our keys, a `KeyHolder` of `protocols.ciphers.port`.

    `home` are workers of this machine, for what must not leave it.
    """

    encryption: Callable[[Any], PageEncryptor]
    workers: Workers
    home: Workers = field(default_factory=InlineWorkers)
