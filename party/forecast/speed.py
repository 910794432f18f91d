"""How fast this machine makes counts, measured before a run."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from protocols.ciphers.port import AnyKeyHolder, Reply, Shape, sum_by_group
from protocols.oblivious.extension import TREE_DEPTH, set_up
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.role import run_pair
from protocols.work import PageEncryptor

_PAGE = 128
_ROWS_A_SUM = 4  # as where rows are merged
_LEAST_SECONDS = 0.1
_TRANSFERS, _WIDTHS = 1 << 16, [12] * 20


@dataclass(frozen=True)
class TransferSpeed:
    """Seconds of one oblivious transfer, and of a bit that is corrected, of both sides together."""

    transfer: float
    bit: float


@dataclass(frozen=True)
class PaillierSpeed:
    """Seconds of one operation: `encrypt` with all `workers` together, the others in one process."""

    encrypt: float
    read: float
    add: float
    seal: float
    decrypt: float
    workers: int = 1

    def with_workers(self, workers: int) -> "PaillierSpeed":
        """Return the speed of another number of workers, each on a processor like ours."""
        return replace(self, encrypt=self.encrypt * self.workers / workers, workers=workers)


def calibrate_transfers() -> TransferSpeed:
    """Measure both sides' work."""
    one, other = run_pair(set_up(TREE_DEPTH, secrets), set_up(TREE_DEPTH, secrets))
    choices = np.arange(_TRANSFERS) % 2 == 0

    def extend() -> tuple[object, object]:
        return run_pair(one.chooser.extend([choices]), other.sender.extend([_TRANSFERS]))

    (chosen,), (both,) = run_pair(one.chooser.extend([choices]), other.sender.extend([_TRANSFERS]))
    numbers, shapes = bits_as_numbers([choices] * len(_WIDTHS), _WIDTHS), [(_TRANSFERS, _WIDTHS)]

    def multiply() -> None:
        sending = send_products([(both, _WIDTHS, numbers)], SummedShares(shapes))
        run_pair(receive_products([(chosen, _WIDTHS)], SummedShares(shapes)), sending)

    transfer, bit = _seconds_per_call(extend) / _TRANSFERS, _seconds_per_call(multiply) / (_TRANSFERS * sum(_WIDTHS))
    return TransferSpeed(transfer, bit)


def calibrate(key: AnyKeyHolder, encryption: PageEncryptor, workers: int) -> PaillierSpeed:
    """Measure; both parties are taken to be equally fast."""
    cipher = key.public
    messages = [secrets.randbelow(2) for _ in range(_PAGE)]
    pages = [messages] * (2 * workers)
    page = list(encryption.encrypt_pages(pages))[-1]  # every worker makes its tables
    encrypt = _seconds_per_call(lambda: list(encryption.encrypt_pages(pages))) / (len(pages) * _PAGE)
    values = cipher.read(page)
    groups = np.arange(_PAGE, dtype=np.intp) // _ROWS_A_SUM
    reply = [Reply(values, slots=1)]
    sealed = cipher.seal(reply, 1, secrets)
    replies = len(sealed) // cipher.ciphertext_bytes
    return PaillierSpeed(
        encrypt=encrypt,
        read=_seconds_per_call(lambda: cipher.read(page)) / _PAGE,
        add=_seconds_per_call(lambda: sum_by_group(cipher, values, groups, _PAGE // _ROWS_A_SUM)) / _PAGE,
        seal=_seconds_per_call(lambda: cipher.seal(reply, 1, secrets)) / replies,
        decrypt=_seconds_per_call(lambda: key.counts(sealed, [Shape(_PAGE, 1)], 1)) / replies,
        workers=workers,
    )


def _seconds_per_call(call: Callable[[], object]) -> float:
    """Return what the fastest of some calls takes: the others waited for somebody else's work."""
    fastest, until = inf, time.perf_counter() + _LEAST_SECONDS
    while (started := time.perf_counter()) < until:
        call()
        fastest = min(fastest, time.perf_counter() - started)
    return fastest
