"""Encryption with factors made ahead: one addition per ciphertext, while they last."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from party.errors import FactorsError
from party.keys.factors.store import FactorStore
from protocols.ciphers.port import AnyKeyHolder
from protocols.terms import Cipher
from protocols.two_party.inputs import PartyInputs
from protocols.work import Compute, PageEncryptor


@dataclass(frozen=True)
class FactorsUse:
    """What became of factors made ahead: how many were used, discarded, are left; `flaw` says why that is unknown."""

    used: int = 0
    discarded: int = 0
    left: int = 0
    flaw: str = ""


class StoredFactors:
    """Encrypts with the factors of a store; once these run out, another encryptor goes on.

    Args:
        store: Where they are.
        key: Ours.
        otherwise: Makes fresh factors.
    """

    def __init__(self, store: FactorStore, key: AnyKeyHolder, otherwise: PageEncryptor) -> None:
        self._store, self._key, self._otherwise = store, key, otherwise
        self._used = 0

    def __repr__(self) -> str:
        return f"StoredFactors({self._key!r})"

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order; every ciphertext is fresh.

        Raises:
            FactorsError: The store is damaged.
        """
        waiting = iter(pages)
        for messages in waiting:
            factors = self._store.take(len(messages))
            self._used += len(factors)
            page = self._key.encrypt_with(factors, messages[: len(factors)])
            if len(factors) < len(messages):
                fresh = self._otherwise.encrypt_pages(chain([messages[len(factors) :]], waiting))
                yield page + next(fresh)
                yield from fresh
                return
            yield page

    def use(self) -> FactorsUse:
        """Return what became of the stored factors so far."""
        try:
            left = self._store.left()
        except FactorsError as error:
            return FactorsUse(self._used, self._store.discarded, flaw=str(error))
        return FactorsUse(self._used, self._store.discarded, left)


def with_stored_factors(local: PartyInputs, folder: Path, cipher: Cipher) -> tuple[PartyInputs, StoredFactors]:
    """Let a party encrypt with the factors in its folder, as long as there are any, and then as it otherwise would."""
    key, compute = local.secrets.keys[cipher], local.computing
    store = FactorStore(folder, local.secrets.coins, key.public)
    stored = StoredFactors(store, key, compute.encryption(key))
    return replace(local, compute=Compute(lambda _: stored, compute.workers)), stored
