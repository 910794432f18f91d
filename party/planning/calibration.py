"""How fast this machine is with this key: a measurement of about two seconds."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from protocols.counting.compute import PageEncryptor
from protocols.paillier.arithmetic import Integer
from protocols.paillier.ciphertext import read_page
from protocols.paillier.keys import PrivateKey
from protocols.paillier.packing import seal

_PAGE = 128
_LEAST_SECONDS = 0.3
_ROUNDS = 2


@dataclass(frozen=True)
class Speed:
    """Seconds of one operation: `encrypt` with all workers together, the others in one process."""

    encrypt: float
    read: float
    multiply: float
    seal: float
    decrypt: float


def calibrate(private_key: PrivateKey, encryption: PageEncryptor, workers: int) -> Speed:
    """Measure; both parties are taken to be equally fast.

    Args:
        private_key: Ours: the peer's has the same size.
        encryption: As the run will use it.
        workers: How many pages it makes at a time.
    """
    public = private_key.public_key
    messages = [secrets.randbelow(2) for _ in range(_PAGE)]
    pages = [messages] * (4 * workers)
    page = list(encryption.encrypt_pages(pages))[-1]  # every worker makes its tables
    rounds = []
    for _ in range(_ROUNDS):
        started = time.perf_counter()
        page = list(encryption.encrypt_pages(pages))[-1]
        rounds.append((time.perf_counter() - started) / (len(pages) * _PAGE))
    values = read_page(public, page)
    return Speed(
        encrypt=min(rounds),
        read=_seconds_a_call(lambda: read_page(public, page)) / _PAGE,
        multiply=_seconds_a_call(lambda: _multiply_all(values, public.n_square)) / _PAGE,
        seal=_seconds_a_call(lambda: seal(public, None, 1, secrets)),
        decrypt=_seconds_a_call(lambda: private_key.decrypt(values[0])),
    )


def _multiply_all(values: list[Integer], modulus: Integer) -> Integer:
    result = Integer(1)
    for value in values:
        result = result * value % modulus
    return result


def _seconds_a_call(call: Callable[[], object]) -> float:
    calls, started = 0, time.perf_counter()
    while (passed := time.perf_counter() - started) < _LEAST_SECONDS:
        call()
        calls += 1
    return passed / calls
