"""Pages encrypted with stored factors: right, fresh, and the same whether or not the factors last."""

import os
import secrets
import signal
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from party.errors import FactorsError
from party.keys.factors.encryption import FactorsUse, StoredFactors
from party.keys.factors.store import FactorStore
from party.keys.factors.witness import Machine
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.ciphertext import read_page
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import Reply, Shape

KEY = PrivateKey(
    Integer(0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057),
    Integer(0xD235FADD81C2822BB3F07877973D50F28BF22A31BE8EE80000000000000000FB),
)
PUBLIC = KEY.public_key
HOLDER = PaillierKeyHolder(KEY)
BLOCK = 4


class Inline:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self._encryption = HOLDER.encryption(secrets)
        self.asked: list[int] = []

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        for page in pages:
            self.asked.append(len(page))
            yield from self._encryption.encrypt_pages([page])


class Setting:
    def __init__(self, root: Path) -> None:
        self.folder, self.memory = root / "party", root / "memory"
        self.folder.mkdir()
        self.memory.mkdir()
        self.inline = Inline()

    def store(self) -> FactorStore:
        return FactorStore(self.folder, b"s" * 32, HOLDER.public, lambda: Machine(self.memory, "b" * 36, 0.0), BLOCK)

    def make(self, blocks: int) -> None:
        store = self.store()
        for page in HOLDER.encryption(secrets).encrypt_pages([[0] * BLOCK] * blocks):
            store.append(page)

    def stored(self) -> StoredFactors:
        return StoredFactors(self.store(), HOLDER, self.inline)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def decrypt(pages: Iterable[bytes]) -> list[list[int]]:
    return [[int(KEY.decrypt(c)) for c in read_page(PUBLIC, page)] for page in pages]


def factors_of(pages: Iterable[bytes]) -> list[int]:
    """Take the messages out of ciphertexts: what is left must never come twice."""
    n, square = int(PUBLIC.n), int(PUBLIC.n_square)
    ciphertexts = [c for page in pages for c in read_page(PUBLIC, page)]
    return [int(c) * (1 - int(KEY.decrypt(c)) * n) % square for c in ciphertexts]


def test_pages_are_right_while_the_factors_last_when_they_end_and_after(setting: Setting) -> None:
    setting.make(3)
    stored = setting.stored()
    messages = [[1, 0, 1, 1, 0], [1, 0, 0], [5, 6, int(PUBLIC.n) - 1, 8, 9, 10], [1, 2], [3]]
    pages = list(stored.encrypt_pages(messages))
    assert decrypt(pages) == messages
    assert setting.inline.asked == [2, 2, 1]
    assert len(set(factors_of(pages))) == 17
    assert stored.use() == FactorsUse(used=12)


def test_pages_come_one_by_one_as_they_are_asked_for(setting: Setting) -> None:
    setting.make(2)
    taken: list[int] = []

    def pages() -> Iterator[list[int]]:
        for number in range(100):
            taken.append(number)
            yield [number]

    stream = setting.stored().encrypt_pages(pages())
    assert decrypt([next(stream), next(stream)]) == [[0], [1]]
    assert taken == [0, 1]


def test_without_a_store_the_other_encryptor_does_it_all_and_there_is_nothing_to_report(setting: Setting) -> None:
    stored = setting.stored()
    assert decrypt(stored.encrypt_pages([[1, 2], [3]])) == [[1, 2], [3]]
    assert setting.inline.asked == [2, 1]
    assert stored.use() == FactorsUse()


def test_factors_that_are_left_and_those_discarded_are_reported(setting: Setting) -> None:
    setting.make(2)
    assert setting.stored().use() == FactorsUse(left=8)
    next(setting.memory.iterdir()).unlink()
    stored = setting.stored()
    assert decrypt(stored.encrypt_pages([[1]])) == [[1]]
    assert stored.use() == FactorsUse(discarded=8)


def test_a_damaged_store_ends_the_run_and_is_reported(setting: Setting) -> None:
    setting.make(1)
    path = setting.folder / "factors-paillier.store"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    stored = setting.stored()
    with pytest.raises(FactorsError, match="damaged"):
        list(stored.encrypt_pages([[1]]))
    assert "damaged" in stored.use().flaw


def test_the_representation_shows_kind_and_size_only(setting: Setting) -> None:
    assert repr(setting.stored()) == "StoredFactors(PaillierKeyHolder(512 bits))"


def in_a_child(setting: Setting, stored: StoredFactors | None, crash: bool) -> list[bytes]:
    """Encrypt four pages in a forked process, with a store of its own if need be; a crash is after the third."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for number, page in enumerate((stored or setting.stored()).encrypt_pages([[1, 0, 1]] * 4)):
                os.write(writer, page)
                if crash and number == 2:
                    os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    length = 3 * PUBLIC.ciphertext_bytes
    return [data[start : start + length] for start in range(0, len(data), length)]


def test_no_factor_is_used_twice_over_kills_forks_and_restarts_of_the_party(setting: Setting) -> None:
    setting.make(30)
    pages: list[bytes] = []
    for crash in (True, False, True):
        parent = setting.stored()
        pages += parent.encrypt_pages([[0, 1]])
        pages += in_a_child(setting, parent, crash=False)
        pages += parent.encrypt_pages([[0, 1]])
        pages += in_a_child(setting, None, crash)
    assert setting.inline.asked == []  # in this process; the children of `parent` made fresh ones
    used = factors_of(pages)
    assert len(used) == len(set(used)) == 3 * (2 + 12 + 2) + 9 + 12 + 9


def test_pairs_of_the_curve_are_stored_beside_factors_of_paillier_and_neither_passes_for_the_other(
    setting: Setting,
) -> None:
    curve = CurveKeyHolder(CurvePrivateKey(99))

    def store() -> FactorStore:
        return FactorStore(
            setting.folder, b"s" * 32, curve.public, lambda: Machine(setting.memory, "b" * 36, 0.0), BLOCK
        )

    setting.make(2)
    for page in curve.encryption(secrets).encrypt_pages([[0] * BLOCK] * 2):
        store().append(page)
    stored = StoredFactors(store(), curve, curve.encryption(secrets))
    pages = list(stored.encrypt_pages([[1, 0, 7], [2, 3, 4, 5, 6, 7, 8]]))
    values = [curve.public.read(page) for page in pages]
    told = [curve.counts(curve.public.seal([Reply(page, 1)], 9, secrets), [Shape(len(page), 1)], 9) for page in values]
    assert told == [[1, 0, 7], [2, 3, 4, 5, 6, 7, 8]]
    assert stored.use() == FactorsUse(used=8)
    assert setting.store().left() == 2 * BLOCK
    (setting.folder / "factors-paillier.store").rename(setting.folder / "factors-curve.store")
    with pytest.raises(FactorsError, match=r"factors-curve\.store: its factors are of another key or cipher"):
        store().take(1)
