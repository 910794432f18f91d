"""Whom both list, as shared bits: a table in which both sides have one number where an id is common, and else any.

An oblivious function with programmed outputs (Pinkas, Schneider, Tkachenko and Yanai, EUROCRYPT 2019), by the tables of
Kolesnikov, Matania, Pinkas, Rosulek and Trieu (CCS 2017, section 5). In each place `b` the key holder draws a target
`t` and fresh bytes `v`, and for each of its ids `x` that may stand there, with F(b, x) = (u, w):

    slot (u v, its highest 5 bits)    holds t + w; all other slots are random

and `v` is drawn again until all slots are unequal. The asker, who has F for whom it has in place b, finds t if the key
holder has this id, else a random number.

*Functionality*: a number each in each place, equal where the id is common, and by chance once in 2**40 places.
*Assumed*: what `prf` assumes.
*Deviations*: `v` is uniform to the asker, who knows one `u` at most: that all slots are unequal has the same chance
whatever v and u are. A place with more than 32 ids ends it, once in 2**61 tables of a million ids of both.
*Never again*: numbers are compared in `gates` and are not shown.
"""

from typing import Final

import numpy as np

from protocols.errors import InputError, PeerError
from protocols.messages import HintPage
from protocols.oblivious.aes import stream
from protocols.oblivious.bits import WORD, Bytes, Uint64s
from protocols.oblivious.prf import WAYS
from protocols.randomness import Randomness
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables import Index

NUMBER_BYTES: Final = 5
NUMBER_BITS: Final = 8 * NUMBER_BYTES
PROGRAMMED: Final = slice(10, 23)
"""Which bytes of a value serve here: 8 for the slot, 5 for the mask."""
_SLOTS: Final = 32
_SLOT_SHIFT: Final = np.uint64(59)
_PAGE_PLACES: Final = 1 << 12
_SEED_BITS: Final = 128


def _parts(values: Bytes) -> tuple[Uint64s, Bytes]:
    """Return what chooses the slot, and the mask."""
    own = np.ascontiguousarray(values[:, PROGRAMMED])
    return np.ascontiguousarray(own[:, :8]).view(WORD)[:, 0], own[:, 8:]


def _slots(chosen: Uint64s, nonces: Uint64s) -> Index:
    return ((chosen * (nonces | np.uint64(1))) >> _SLOT_SHIFT).astype(np.intp)


def send_hints(values: Bytes, places: Index, size: int, randomness: Randomness) -> Role[Uint64s]:
    """Send hints for all our ids, given their values in each of their places, and return our number of each place.

    Discloses: nothing; to who asked for an id of ours a random number, as to others.
    """
    order = np.argsort(places, axis=None, kind="stable")
    own, at = values.reshape(len(places) * WAYS, values.shape[-1])[order], places.reshape(-1)[order]
    chosen, masks = _parts(own)
    if len(at) and np.bincount(at).max() > _SLOTS:
        raise InputError("too many ids fall into one place, which happens about never: begin again")
    numbers = []
    for start in range(0, size, _PAGE_PLACES):
        length = min(_PAGE_PLACES, size - start)
        some = slice(*np.searchsorted(at, [start, start + length]))
        seed = randomness.randbelow(1 << _SEED_BITS).to_bytes(_SEED_BITS // 8, "big")
        table = stream(seed, 0, (_SLOTS * NUMBER_BYTES + 8) * length)
        targets, slots = table[: 8 * length].view(WORD), table[8 * length :].reshape(-1, NUMBER_BYTES)
        nonces, where = _spread(at[some] - start, chosen[some], length, randomness)
        slots[where] = targets[at[some] - start, None].view(np.uint8)[:, :NUMBER_BYTES] ^ masks[some]
        yield Send(HintPage(nonces.tobytes(), slots.tobytes()))
        numbers.append(targets & np.uint64((1 << NUMBER_BITS) - 1))
        yield Progress(Phase.OVERLAP, start + length, size)
    return np.concatenate(numbers)


def _spread(at: Index, chosen: Uint64s, length: int, randomness: Randomness) -> tuple[Uint64s, Index]:
    """Draw fresh bytes for each place until all its ids have slots of their own; return them and the slots."""
    seed = randomness.randbelow(1 << _SEED_BITS).to_bytes(_SEED_BITS // 8, "big")
    nonces, slots = stream(seed, 0, 8 * length).view(WORD), np.empty(len(at), np.intp)
    open_, drawn = np.arange(len(at)), length
    while True:
        slots[open_] = at[open_] * _SLOTS + _slots(chosen[open_], nonces[at[open_]])
        taken = np.bincount(slots[open_], minlength=1)
        again = np.unique(at[open_[taken[slots[open_]] > 1]])
        if not len(again):
            return nonces, slots
        fresh = stream(seed, -(-drawn // 2), 8 * len(again)).view(WORD)
        drawn = 2 * -(-drawn // 2) + len(again)
        nonces[again] = fresh
        open_ = open_[np.isin(at[open_], again)]


def receive_hints(values: Bytes) -> Role[Uint64s]:
    """Return our number of each place, from our value of it and the peer's hints.

    Discloses: nothing; it only receives.
    """
    chosen, masks = _parts(values)
    numbers = np.zeros((len(values), 8), np.uint8)
    for start in range(0, len(values), _PAGE_PLACES):
        length = min(_PAGE_PLACES, len(values) - start)
        some, page = slice(start, start + length), (yield from receive(HintPage))
        if (len(page.nonces), len(page.slots)) != (8 * length, _SLOTS * NUMBER_BYTES * length):
            raise PeerError("the peer sent a page of hints of another length")
        slots = np.frombuffer(page.slots, np.uint8).reshape(-1, NUMBER_BYTES)
        where = np.arange(length) * _SLOTS + _slots(chosen[some], np.frombuffer(page.nonces, WORD))
        numbers[some, :NUMBER_BYTES] = slots[where] ^ masks[some]
        yield Progress(Phase.OVERLAP, start + length, len(values))
    return numbers.view(WORD)[:, 0]
