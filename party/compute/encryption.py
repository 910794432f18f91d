"""Encryption by workers: a task holds our private key and the plaintexts of one page, and nothing more.

The tables of the key are made once per process. Chance comes from the operating system, asked by the worker itself: no
worker starts from another's state (FAULTS case 27), and a task that is done twice gives different ciphertexts.
"""

import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from protocols.ciphers.port import AnyKeyHolder
from protocols.work import PageEncryptor, Workers

_KEYS = 2  # 50 MB each
_one_at_a_time = threading.Lock()  # a worker of a cluster may have several threads


@dataclass(frozen=True, eq=False, repr=False)
class EncryptionTask:
    """One page to encrypt."""

    key: AnyKeyHolder
    messages: Sequence[int]


def encrypt_page(task: EncryptionTask) -> bytes:
    """Encrypt a page as it crosses.

    Raises:
        InputError: A message is out of the cipher's range, or the source of randomness failed.
    """
    with _one_at_a_time:
        (page,) = _encryptor(task.key).encrypt_pages([task.messages])
        return page


@lru_cache(maxsize=_KEYS)
def _encryptor(key: AnyKeyHolder) -> PageEncryptor:
    return key.encryption(secrets)


class ParallelEncryptor:
    """Encrypts pages under our key by workers.

    Args:
        key: Ours.
        workers: Who encrypts.
    """

    def __init__(self, key: AnyKeyHolder, workers: Workers) -> None:
        self._key, self._workers = key, workers

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order; every ciphertext is fresh."""
        return self._workers.map(encrypt_page, (EncryptionTask(self._key, messages) for messages in pages))
