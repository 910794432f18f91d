"""Encryption by workers: a task holds the factors of our key and the plaintexts of one page, and nothing more.

The tables of the key are made once a process. Chance comes from the operating system, asked by the worker itself: no
worker starts from another's state (FAULTS case 27), and a task that is done twice gives other ciphertexts.
"""

import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from protocols.counting.compute import Workers
from protocols.paillier.arithmetic import Integer
from protocols.paillier.ciphertext import write_page
from protocols.paillier.encryption import Encryptor, ShortExponents
from protocols.paillier.keys import PrivateKey

_KEYS = 2  # 50 MB each
_one_at_a_time = threading.Lock()  # a worker of a cluster may have several threads


@dataclass(frozen=True, eq=False, repr=False)
class EncryptionTask:
    """One page to encrypt."""

    p: Integer
    q: Integer
    short_exponents: ShortExponents | None
    messages: Sequence[int]


def encrypt_page(task: EncryptionTask) -> bytes:
    """Encrypt a page as it crosses.

    Raises:
        InputError: A message is not below the modulus, or the source of randomness failed.
    """
    with _one_at_a_time:
        key, encryptor = _tables(task.p, task.q, task.short_exponents)
        return write_page(key.public_key, encryptor.encrypt(task.messages))


@lru_cache(maxsize=_KEYS)
def _tables(p: Integer, q: Integer, short_exponents: ShortExponents | None) -> tuple[PrivateKey, Encryptor]:
    key = PrivateKey(p, q)
    return key, Encryptor(key, secrets, short_exponents)


class ParallelEncryptor:
    """Encrypts pages under our key by workers.

    Args:
        private_key: Ours.
        workers: Who encrypts.
        short_exponents: The request for short exponents, with its assumption.
    """

    def __init__(
        self, private_key: PrivateKey, workers: Workers, short_exponents: ShortExponents | None = None
    ) -> None:
        self._key, self._workers, self._short_exponents = private_key, workers, short_exponents

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order; every ciphertext is fresh."""
        return self._workers.map(encrypt_page, map(self._task, pages))

    def _task(self, messages: Sequence[int]) -> EncryptionTask:
        return EncryptionTask(self._key.p, self._key.q, self._short_exponents, messages)
