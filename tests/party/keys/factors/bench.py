"""A party's folder with a store, a machine that can be restarted, and factors that can be told apart."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

from party.keys.factors.seal import derive_key, key_digest
from party.keys.factors.store import FactorStore
from party.keys.factors.witness import LockedWitness, Machine, Witness
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierCiphertexts
from protocols.ciphers.paillier.keys import PublicKey

BLOCK = 4
KEY = PaillierCiphertexts(PublicKey(Integer(0xF00000000000002B * 0xF800000000000027)))
SECRET = b"s" * 32
CALLS = ("pwrite", "ftruncate", "fsync", "unlink", "rename")


class CrashError(BaseException):
    """The process ends here."""


class Bench:
    """Numbers its factors 1, 2, 3, ..."""

    def __init__(self, root: Path) -> None:
        self.folder, self.memory = root / "party", root / "memory"
        self.folder.mkdir()
        self.memory.mkdir()
        self.boot, self.clock, self.last = "b" * 36, 1000.0, 0

    @property
    def path(self) -> Path:
        return self.folder / "factors-paillier.store"

    @property
    def witness(self) -> Path:
        (path,) = self.memory.iterdir()
        return path

    def machine(self) -> Machine:
        return Machine(self.memory, self.boot, self.clock)

    def store(self, folder: Path | None = None, secret: bytes = SECRET, key: PaillierCiphertexts = KEY) -> FactorStore:
        return FactorStore(folder or self.folder, secret, key, self.machine, BLOCK)

    def page(self) -> bytes:
        self.last += BLOCK
        return b"".join(n.to_bytes(KEY.ciphertext_bytes, "big") for n in range(self.last - BLOCK + 1, self.last + 1))

    @contextmanager
    def lock(self) -> Iterator[LockedWitness]:
        """Hold the witness."""
        key = derive_key(SECRET, b"witness", key_digest(KEY))
        with Witness(self.machine(), key).locked(0) as witness:
            assert witness is not None
            yield witness

    def fill(self, blocks: int) -> FactorStore:
        store = self.store()
        for _ in range(blocks):
            store.append(self.page())
        return store


def numbers(factors: Iterable[bytes]) -> list[int]:
    """Return the numbers of factors, ascending."""
    return sorted(int.from_bytes(factor, "big") for factor in factors)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """List the calls that change files, in order; the small writes are the witness's."""
    calls: list[str] = []
    with _patched(lambda name, data: calls.append("mark" if name == "pwrite" and len(data) < 200 else name)):
        yield calls


@contextmanager
def crash_before(number: int) -> Iterator[None]:
    """Raise `CrashError` instead of the call of that number, counted from 0, and of all that follow."""
    left = [number]

    def count(name: str, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise CrashError

    with _patched(count):
        yield


@contextmanager
def _patched(before: Callable[[str, bytes], None]) -> Iterator[None]:
    def wrap(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*arguments: object) -> object:
            data = arguments[1] if name == "pwrite" else b""
            before(name, data)  # type: ignore[arg-type]
            return real(*arguments)

        return call

    with ExitStack() as stack:
        for name in CALLS:
            stack.enter_context(patch.object(os, name, wrap(name)))
        yield


def flip(path: Path, place: int) -> None:
    """Change a bit of a byte."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    with path.open("r+b") as file:
        file.write(data)


def failing(name: str, code: int, after: int = 0) -> Callable[..., object]:
    """Return a function of `os` that fails with this error, after so many calls."""
    real, left = getattr(os, name), [after]

    def call(*arguments: object) -> object:
        left[0] -= 1
        if left[0] >= 0:
            return real(*arguments)
        raise OSError(code, os.strerror(code))

    return call
