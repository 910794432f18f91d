"""What crosses as ciphertexts: replies pack many counts into one, what comes in is checked (DESIGN 6.2).

The evaluator lays ciphertexts side by side, an *item* each, by Horner's rule in the exponent. An item holds one
*slot*, or several where the key holder had packed several columns into one plaintext. Above the items lies a
random mask, so that a key holder that encrypted something other than bits learns no more than the slots' worth
(and, where its plaintexts wrap around `N`, at most whether they did); a fresh `r**N` hides which ciphertexts were
multiplied, an empty or one-row selection among them.

    plaintext of a reply = item_0 + 2**item_bits * item_1 + ... + 2**(item_bits * items) * mask

What comes in is checked, and what goes out is fresh. Inside the core a ciphertext is an `Integer` modulo `N**2`, and
adding plaintexts is multiplying such integers. `read_page` is the only way in. `write_page` is the only way out, and
takes only what the encryptor or the packing of replies made: a product of received ciphertexts would show the peer, by
its randomness, which of them were multiplied (FAULTS A2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.paillier.arithmetic import Integer, from_bytes, gcd, power_of_two, powmod, to_bytes
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey
from protocols.errors import DeviationError, InputError, PeerError
from protocols.randomness import Randomness, WatchedRandomness, watched


@dataclass(frozen=True, slots=True, repr=False)
class FreshCiphertext:
    """A ciphertext whose randomness is new, uniform and used nowhere else.

    NB: constructed in `encryption` and `packing` only; a test reads the sources for it.
    """

    value: Integer

    def __repr__(self) -> str:
        return f"FreshCiphertext({self.value.bit_length()} bits)"


def read_page(public_key: PublicKey, data: bytes) -> list[Integer]:
    """Read ciphertexts of fixed length, one after the other; one bad ciphertext refuses them all.

    Raises:
        DeviationError: One of them is not a reduced unit modulo `N**2`, or shows its plaintext (FAULTS cases 1-5, 34).
    """
    length = public_key.ciphertext_bytes
    if len(data) % length:
        raise PeerError("a page must hold whole ciphertexts")
    ciphertexts = [from_bytes(data[start : start + length]) for start in range(0, len(data), length)]
    public_key.require_units(ciphertexts)
    public_key.require_hidden(ciphertexts)
    return ciphertexts


def write_page(public_key: PublicKey, ciphertexts: Sequence[FreshCiphertext]) -> bytes:
    """Write fresh ciphertexts for the wire."""
    if not all(isinstance(ciphertext, FreshCiphertext) for ciphertext in ciphertexts):
        raise InputError("only fresh ciphertexts may leave")
    length = public_key.ciphertext_bytes
    return b"".join(to_bytes(ciphertext.value, length) for ciphertext in ciphertexts)


_MASK_BITS = 40


def slot_width(n_records: int) -> int:
    """Return the bits that a count of up to `n_records` needs.

    >>> slot_width(1000)
    10
    """
    return n_records.bit_length()


def slots_per_reply(public_key: PublicKey, width: int) -> int:
    """Return how many slots (or items) of a width fit below the mask's 40 bits.

    Raises:
        InputError: Not even one does, or the width is not positive (FAULTS A13, case 32).
    """
    slots = _room(public_key) // width if width > 0 else 0
    if slots < 1:
        raise InputError(f"a slot must have 1 to {_room(public_key)} bits under this key")
    return slots


def _room(public_key: PublicKey) -> int:
    return public_key.bits - 1 - _MASK_BITS


def mask_bound(n: Integer, used_bits: int) -> int:
    """Return the bound below which `mask * 2**used_bits` plus any `used_bits` bits stays below `n`."""
    return int(n >> used_bits)


def seal(public_key: PublicKey, ciphertext: Integer | None, used_bits: int, randomness: Randomness) -> FreshCiphertext:
    """Mask everything above the lowest `used_bits` of a plaintext, and make its ciphertext fresh; None is of zero."""
    if not 0 < used_bits <= _room(public_key):
        raise InputError(f"a reply must use 1 to {_room(public_key)} bits under this key")
    n, n_square = public_key.n, public_key.n_square
    source = watched(randomness)
    factor = powmod(draw_unit(public_key, source), n, n_square)
    mask = 1 + n * (Integer(source.randbelow(mask_bound(n, used_bits))) << used_bits)
    sealed = factor * mask % n_square
    return FreshCiphertext(sealed if ciphertext is None else sealed * ciphertext % n_square)


def draw_unit(public_key: PublicKey, randomness: WatchedRandomness) -> Integer:
    """Draw uniformly from the units modulo `N`."""
    while True:
        candidate = Integer(randomness.randbelow(int(public_key.n)))
        if gcd(candidate, public_key.n) == 1:
            return candidate


def pack_counts(
    public_key: PublicKey, cells: Sequence[Integer | None], item_bits: int, randomness: Randomness
) -> list[FreshCiphertext]:
    """Pack encrypted items of `item_bits` (None for zero) into as few sealed replies as will hold them.

    A `randomness` that the caller has wrapped by `watched` is watched across calls.
    """
    source, fit = watched(randomness), slots_per_reply(public_key, item_bits)
    return [
        seal(public_key, _join(public_key, chunk, item_bits), item_bits * len(chunk), source)
        for chunk in (cells[start : start + fit] for start in range(0, len(cells), fit))
    ]


def _join(public_key: PublicKey, cells: Sequence[Integer | None], item_bits: int) -> Integer | None:
    """Lay items side by side, the first one lowest: Horner's rule by `2**item_bits`."""
    joined: Integer | None = None
    for cell in reversed(cells):
        if joined is not None:
            joined = power_of_two(joined, item_bits, public_key.n_square)
        if cell is not None:
            joined = cell if joined is None else joined * cell % public_key.n_square
    return joined


def unpack_counts(
    private_key: PrivateKey,
    ciphertexts: Sequence[Integer],
    count: int,
    width: int,
    largest: int,
    slots_per_item: int = 1,
) -> list[int]:
    """Decrypt packed replies to the counts, at most `largest`, of all slots of `count` items, lowest slots first."""
    if largest.bit_length() > width:
        raise InputError("the largest count must fit a slot")
    items = slots_per_reply(private_key.public_key, width * slots_per_item)
    if len(ciphertexts) != -(-count // items):
        raise PeerError("the peer sent more or fewer replies than were asked for")
    counts = []
    for index, ciphertext in enumerate(ciphertexts):
        plaintext = private_key.decrypt(ciphertext)
        slots = slots_per_item * min(items, count - index * items)
        counts += [int((plaintext >> (width * slot)) % (1 << width)) for slot in range(slots)]
    if any(value > largest for value in counts):
        raise DeviationError
    return counts


def pack_bits(columns: NDArray[np.bool_], width: int) -> list[int]:
    """Pack each record's bits into one plaintext, column `j` in slot `j`: `sum(bit << (width * j))`.

    >>> pack_bits(np.array([[True, False], [False, True], [True, True]]), width=4)
    [1, 16, 17]
    """
    spread = np.zeros(columns.shape[1] * width, dtype=np.bool_)
    plaintexts = []
    for record in columns:
        spread[::width] = record
        plaintexts.append(int.from_bytes(np.packbits(spread, bitorder="little").tobytes(), "little"))
    return plaintexts
