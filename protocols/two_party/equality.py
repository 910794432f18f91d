"""Both sides learn whether they hold the same list of ids or column of classes, by one guess each (DESIGN 13).

A digest that both can key would confirm any number of guesses, at home. So each content is hashed to a point, and both
points are multiplied by both sides' secret numbers (Huberman, Franklin and Hogg, EC 1999, with digests of their last
message):

    hidden     each of our contents as a point, times a secret number of its own, both ways
    joint      a digest of each of the other's points times our number, bound to its sender and the session, both ways

The other's digest is the one that we expect from it if and only if it holds the same. To try a content takes its point
times *our* number, which is had of the one content that the other side has shown, and of no other (DDH, in the random
oracle model): one guess per content and session, of which we hear whether it was right. The numbers depend on the
session, on the place and on our content, so that no answer serves for another question, and nobody can repeat our
digest as its own. The order of secp256k1 is prime, so there is no small subgroup or twist that a hostile point could
come from.

Where two lists of people differ each side hears how many the other holds, and whether only the spelling differs (`007`
and `7.0`, `Ann ` and `ANN`): the lists are compared a second time in one spelling, as whole sets, never id by id.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from protocols.errors import PeerError
from protocols.facts import ComparedFact
from protocols.identifiers import IdForm, Spelling
from protocols.messages import HiddenContents, JointDigests
from protocols.oblivious.curve import (
    ORDER,
    POINT_BYTES,
    NotAPointError,
    hash_to_points,
    multiply_secretly,
    read_points,
    write_points,
)
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Role, exchange
from protocols.two_party.inputs import PartyInputs

IDS: Final = "ids"
SPELLINGS: Final = "spellings"
CLASSES: Final = "classes"
"""What is compared on record."""
_DOMAIN: Final = b"cotally id to point 1"


def compare(
    local: PartyInputs, peer: str, nonces: bytes, purpose: bytes, contents: Sequence[bytes]
) -> Role[tuple[bool, ...]]:
    """Return for each of our contents, or digests of them, whether the peer's in its place is the same.

    Discloses: of each content whether it is the peer's.
    """
    names = [keyed_digest(nonces, purpose, _place(at), content).hex() for at, content in enumerate(contents)]
    numbers = [secret_number(local.secrets.coins, b"equality", nonces, name.encode()) for name in names]
    own = [hidden_content(number, name) for number, name in zip(numbers, names, strict=True)]
    theirs = (yield from exchange(HiddenContents(b"".join(own)))).points
    if len(theirs) != POINT_BYTES * len(own):
        raise PeerError("the peer compares another number of contents")
    points = [theirs[start : start + POINT_BYTES] for start in range(0, len(theirs), POINT_BYTES)]
    try:
        joint = [times(*each) for each in zip(numbers, points, strict=True)]
    except NotAPointError:
        raise PeerError("the peer sent a point that is not on the curve") from None
    digests, expected = (_digests(nonces, purpose, sender, joint) for sender in (local.party, peer))
    heard = (yield from exchange(JointDigests(b"".join(digests)))).digests
    if len(heard) != len(b"".join(expected)):
        raise PeerError("the peer compares another number of contents")
    size = len(heard) // len(expected)
    return tuple(heard[at * size : (at + 1) * size] == each for at, each in enumerate(expected))


def compare_on_record(
    local: PartyInputs,
    peer: str,
    nonces: bytes,
    purpose: bytes,
    contents: Sequence[bytes],
    about: tuple[str, bytes],
) -> Role[tuple[bool, ...]]:
    """Compare as `compare` does, on record before anything leaves: who hears that a guess was wrong may try again.

    `about` names what is compared, and what of it is ours.

    Discloses: what `compare` does.
    """
    fact = ComparedFact(*about, None)
    yield Note(fact)
    same = yield from compare(local, peer, nonces, purpose, contents)
    if any(same):
        yield Note(replace(fact, same=True))
    return same


def secret_number(key: bytes, *fields: bytes) -> int:
    """Return a secret number that depends on key and fields only, as good as uniform in `1 .. ORDER - 1`."""
    halves = (keyed_digest(key, b"blinding", half, *fields) for half in (b"1", b"2"))
    return int.from_bytes(b"".join(halves), "big") % (ORDER - 1) + 1


def hidden_content(number: int, name: str) -> bytes:
    """Return the point of a content times a number."""
    points = hash_to_points([hashlib.sha512(canonical(_DOMAIN, name.encode())).digest()])
    return write_points(multiply_secretly(points, [number]))


def times(number: int, point: bytes) -> bytes:
    """Return a point times a number.

    Raises:
        NotAPointError: It is not on the curve.
    """
    return write_points(multiply_secretly(read_points(point), [number]))


def _digests(nonces: bytes, purpose: bytes, sender: str, joint: Sequence[bytes]) -> list[bytes]:
    key = canonical(nonces, b"equality", purpose, sender.encode())
    return [keyed_digest(key, _place(at), point) for at, point in enumerate(joint)]


def _place(at: int) -> bytes:
    return at.to_bytes(2, "big")


_LOOSER: Final = (*(frozenset({each}) for each in Spelling), frozenset(Spelling))
_WHOLE = re.compile(r"0*([0-9]+?)(\.0*)?", re.ASCII)


def one_spelling(record: str) -> str:
    """Return an id without what spellings differ in: outer blanks, case, Unicode form, leading zeros and `.0`.

    >>> [one_spelling(text) for text in ("007", "7.0", " ANN", "ann", "0")]
    ['7', '7', 'ann', 'ann', '0']
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", record).strip().casefold())
    whole = _WHOLE.fullmatch(folded)
    return whole[1] if whole else folded


def as_written(records: Iterable[str]) -> bytes:
    """Return all ids in their order, to be compared as a whole."""
    return canonical(*(record.encode() for record in records))


def as_spelt(records: Iterable[str]) -> bytes:
    """Return all ids in one spelling, in whatever order, to be compared as a whole."""
    return _as_set(one_spelling(record) for record in records)


def list_commitment(key: bytes, records: Iterable[str]) -> bytes:
    """Return a keyed commitment to a set of ids, in any order: without the key nobody can test a guess."""
    return keyed_digest(key, b"id list", *sorted(record.encode() for record in records))


def list_spellings(records: Sequence[str], form: IdForm) -> list[bytes]:
    """Return the whole list, sorted, for each way in which spellings may differ, left out, and for all."""
    plain = _as_set(records)
    return [plain if more <= form.alike else _looser(records, plain, form.with_more(more)) for more in _LOOSER]


def _looser(records: Sequence[str], plain: bytes, form: IdForm) -> bytes:
    columns = [records] if form.columns == 1 else list(zip(*map(form.parts, records), strict=True))
    spelled = form.all_joined(columns)
    return plain if spelled == list(records) else _as_set(set(spelled))


def _as_set(records: Iterable[str]) -> bytes:
    return canonical(*sorted(record.encode() for record in records))


def alike_by(same: Sequence[bool], form: IdForm) -> tuple[str, ...]:
    """Return the first of the ways of `list_spellings` that makes both lists the same, beside what is left out."""
    more = next((more for more, alike in zip(_LOOSER, same, strict=True) if alike), frozenset())
    return tuple(each.value for each in Spelling if each in more - form.alike)


def form_text(form: IdForm) -> str:
    """Say what a normal form is."""
    parts = "of one column" if form.columns == 1 else f"of {form.columns} columns"
    return f"{parts}, alike whatever their {', '.join(form.names)}" if form.names else f"{parts}, as they are written"


def tell_difference(own: int, other: int, there: str, same_spelling: bool, way_out: str) -> str:
    """Return how our list differs from one of another length or spelling, and what to do if it is of other people."""
    if same_spelling:
        return (
            f"{own} records here and {there}, of the same people in another spelling: "
            "write the ids alike (case, blanks, leading zeros, .0, accents)"
        )
    if own != other:
        return f"{own} records here, {other} {there}: {way_out}"
    return f"{own} records here and {there}, of other people: {way_out}"
