"""The store of factors in a party's folder; `party.keys.factors` says why no factor comes out of it twice."""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from party.errors import FactorsError
from party.keys.factors.seal import BOTTOM, HEADER_BYTES, ID_BYTES, TAG_BYTES, Seal, derive_key, key_digest, read_header
from party.keys.factors.witness import LockedWitness, Machine, Mark, Witness
from protocols.ciphers.port import AnyCiphertexts

BLOCK_FACTORS = 128

_TAKE_PATIENCE = 1.0  # seconds; then a run makes fresh factors instead
_OTHER_PATIENCE = 30.0


class FactorStore:
    """The factors of one party that are left, each given out at most once.

    Args:
        folder: The party's.
        secret: Seals the store.
        cipher: Under the key that the factors are of.
        machine: Describes the present start of this machine.
        block_factors: How many are sealed, and marked used, together.
    """

    def __init__(
        self,
        folder: Path,
        secret: bytes,
        cipher: AnyCiphertexts,
        machine: Callable[[], Machine] = Machine.here,
        block_factors: int = BLOCK_FACTORS,
    ) -> None:
        self.path = folder / f"factors-{cipher.name}.store"
        self.discarded = 0  # factors that this machine may no longer use
        self._secret, self._cipher, self._machine = secret, cipher, machine
        self._block_factors = block_factors
        self._owner = os.getpid()
        self._ready: deque[bytes] = deque()  # of blocks that are marked used, not given out yet

    def __repr__(self) -> str:
        return f"FactorStore({self._cipher!r})"

    def left(self) -> int:
        """Return how many factors can still be taken; in a forked child, none.

        Raises:
            FactorsError: The store cannot be used.
        """
        if os.getpid() != self._owner:
            return 0
        blocks = 0
        if self.path.exists():
            with self._locked(_OTHER_PATIENCE) as witness, self._opened(witness) as file:
                blocks = file.mark.count if file else 0
        return blocks * self._block_factors + len(self._ready)

    def append(self, factors: bytes) -> None:
        """Add one block: `block_factors` encryptions of zero as they would cross.

        Raises:
            FactorsError: The store cannot be used, or the disk is full; what it held stays as it was.
        """
        if len(factors) != self._block_factors * self._cipher.ciphertext_bytes:
            raise FactorsError(f"a block must hold {self._block_factors} factors")
        with self._locked(_OTHER_PATIENCE) as witness:
            if witness is None:
                raise FactorsError(f"{self.path} is in use by another process")
            with self._opened(witness) as file:
                if file:
                    file.add(factors)
                    return
            with self._made(witness) as file:
                file.add(factors)

    def take(self, count: int) -> list[bytes]:
        """Return up to `count` factors, already marked used; fewer if no more are left or the store is busy.

        A forked child gets none: its parent may use the same ones.

        Raises:
            FactorsError: The store cannot be used; no factor was consumed.
        """
        if os.getpid() != self._owner:
            return []
        missing = count - len(self._ready)
        if missing > 0 and self.path.exists():
            self._refill(-(-missing // self._block_factors))
        return [self._ready.popleft() for _ in range(min(count, len(self._ready)))]

    def _refill(self, blocks: int) -> None:
        length = self._cipher.ciphertext_bytes
        with self._locked(_TAKE_PATIENCE) as witness, self._opened(witness) as file:
            if not file or not file.mark.count:
                return
            for page in file.take(min(blocks, file.mark.count)):
                self._ready += (page[start : start + length] for start in range(0, len(page), length))

    @contextmanager
    def _locked(self, patience: float) -> Iterator[LockedWitness | None]:
        key = derive_key(self._secret, b"witness", key_digest(self._cipher))
        with Witness(self._machine(), key).locked(patience) as witness:
            yield witness

    @contextmanager
    def _opened(self, witness: LockedWitness | None) -> Iterator["_File | None"]:
        """Yield the store as the witness knows it; None if there is none, it was discarded, or it is busy."""
        if witness is None:
            yield None
            return
        with self._handle(self.path, 0) as handle:
            yield None if handle is None else self._checked(handle, witness)

    @contextmanager
    def _made(self, witness: LockedWitness) -> Iterator["_File"]:
        """Yield a new store; its file gets its name once it is whole."""
        seal = Seal(self._secret, self._cipher, self._block_factors, os.urandom(ID_BYTES))
        witness.write(Mark())  # NB: the new file may get the number of an old one
        new = self.path.with_name(f".{self.path.name}.new")
        with self._handle(new, os.O_CREAT | os.O_TRUNC) as handle:
            if handle is None:
                raise FactorsError("its folder does not exist")
            _write(handle, seal.header, 0)
            new.rename(self.path)
            status = os.fstat(handle)
            mark = Mark(seal.store, status.st_dev, status.st_ino)
            witness.write(mark)
            yield _File(handle, seal, witness, mark)

    @contextmanager
    def _handle(self, path: Path, flags: int) -> Iterator[int | None]:
        """Open the file, if there is one; every error of the system or of the seal within then names it."""
        handle = None
        try:
            with suppress(FileNotFoundError):
                handle = os.open(path, flags | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            yield handle
        except FactorsError as error:
            raise FactorsError(f"{self.path}: {error}") from None
        except OSError as error:
            raise FactorsError(f"{self.path} cannot be used: {error.strerror}; no factor was consumed") from None
        finally:
            if handle is not None:
                os.close(handle)

    def _checked(self, handle: int, witness: LockedWitness) -> "_File | None":
        status, mark = os.fstat(handle), witness.read()
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise FactorsError("open to other users: run `chmod 600` on it, or delete it")
        seal = read_header(os.pread(handle, HEADER_BYTES, 0), self._secret, self._cipher, self._block_factors)
        blocks = -(-(status.st_size - HEADER_BYTES) // seal.block_bytes)
        place = (status.st_dev, status.st_ino)
        if mark is None or (mark.device, mark.inode) != place or blocks > mark.most:
            self._discard(blocks)
            return None
        file = _File(handle, seal, witness, mark)
        file.check(status.st_size)
        return file

    def _discard(self, blocks: int) -> None:
        self.path.unlink()
        self.discarded += blocks * self._block_factors


@dataclass
class _File:
    """An open store, under lock."""

    handle: int
    seal: Seal
    witness: LockedWitness
    mark: Mark

    def check(self, size: int) -> None:
        """Compare the file with its mark, and finish what a crash left half done."""
        end = self._place(self.mark.count)
        if self.seal.store != self.mark.store or self._tag(self.mark.count) != self.mark.top:
            raise FactorsError("damaged, or an older copy was written over it: delete it")
        if size > end:
            self._cut()
        self._settle(self.mark)

    def add(self, factors: bytes) -> None:
        """Append a block: the file first, the mark last."""
        block = self.seal.close(factors, self.mark.count, self.mark.top)
        after = replace(self.mark, count=self.mark.count + 1, top=block[-TAG_BYTES:])
        self.witness.write(self.mark.until(after))
        _write(self.handle, block, self._place(self.mark.count))
        os.fsync(self.handle)
        self._settle(after)

    def take(self, blocks: int) -> list[bytes]:
        """Open the topmost blocks and mark them used: the mark first, the file last."""
        first = self.mark.count - blocks
        below, pages = self._tag(first), []
        after = replace(self.mark, count=first, top=below)
        for number in range(first, self.mark.count):
            block = os.pread(self.handle, self.seal.block_bytes, self._place(number))
            pages.append(self.seal.open(block, number, below))
            below = block[-TAG_BYTES:]
        self.mark = self.mark.until(after)
        self.witness.write(self.mark)
        self._cut()
        self._settle(after)
        return pages

    def _cut(self) -> None:
        """Remove, durably, what may not be used."""
        os.ftruncate(self.handle, self._place(self.mark.count))
        os.fsync(self.handle)

    def _settle(self, mark: Mark) -> None:
        self.mark = mark.settled()
        self.witness.write(self.mark)

    def _place(self, number: int) -> int:
        return HEADER_BYTES + number * self.seal.block_bytes

    def _tag(self, count: int) -> bytes:
        """Return the tag of the topmost of `count` blocks."""
        return os.pread(self.handle, TAG_BYTES, self._place(count) - TAG_BYTES) if count else BOTTOM


def _write(handle: int, data: bytes, place: int) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        written = os.pwrite(handle, view, place)
        view, place = view[written:], place + written
