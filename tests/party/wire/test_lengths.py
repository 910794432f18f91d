"""What each kind of message asks of the lengths of its parts, both when it is read and before it is sent."""

from fractions import Fraction

import pytest

from party.wire import codec
from party.wire.codec import decode, encode
from party.wire.v1 import node_pb2 as wire
from protocols import messages as m
from protocols.errors import InputError, PeerError
from protocols.identifiers import USUAL_FORM
from protocols.role import Message

WHOLE, SHORT = bytes(32), bytes(31)
WELL_FORMED: tuple[Message, ...] = (
    m.TableCommitment(WHOLE),
    m.MemoryHeads(1, WHOLE, bytes(72), 2, WHOLE, bytes(72), bytes(8), False),
    m.MemoryHeads(0, WHOLE, b"", 0, WHOLE, b""),
    m.KeptParts(1, WHOLE, True),
    m.LostAnswers((bytes(16), b"")),
    m.SignedHead(1, WHOLE, bytes(72)),
    m.RowsAsked(2 * WHOLE),
    m.JointDigests(2 * WHOLE),
    m.HiddenContents(bytes(66)),
    m.IdList(1, USUAL_FORM, WHOLE),
    m.SetCounts((0, 1), (1, 1), (5, 6)),
    m.ModelDigest(WHOLE),
    m.BaseOffer(WHOLE, bytes(33)),
    m.BasePoints(bytes(66)),
    m.SeedHints(b"", b"", WHOLE),
    m.ChoicePage(b"", bytes(32)),
    m.CorrectionPage(bytes(16)),
)
OF_OTHER_LENGTHS: dict[str, Message] = {
    "a commitment to a table": m.TableCommitment(SHORT),
    "the end of a ledger": m.MemoryHeads(1, SHORT, bytes(9), 2, WHOLE, bytes(9), bytes(8), False),
    "the end that is known": m.MemoryHeads(1, WHOLE, bytes(9), 2, SHORT, bytes(9), bytes(8), False),
    "an end without a signature": m.MemoryHeads(1, WHOLE, b"", 2, WHOLE, bytes(9)),
    "a known end with a long one": m.MemoryHeads(1, WHOLE, bytes(9), 2, WHOLE, bytes(73)),
    "a signature over nothing": m.MemoryHeads(1, WHOLE, bytes(9), 0, WHOLE, bytes(9)),
    "the name of a run": m.MemoryHeads(1, WHOLE, bytes(9), 2, WHOLE, bytes(9), bytes(7), False),
    "kept answers": m.KeptParts(1, SHORT, True),
    "a lost answer": m.LostAnswers((bytes(16), bytes(7))),
    "a signed end": m.SignedHead(1, SHORT, bytes(72)),
    "no signature": m.SignedHead(1, WHOLE, b""),
    "a signature longer than any": m.SignedHead(1, WHOLE, bytes(73)),
    "rows that are asked": m.RowsAsked(WHOLE + SHORT),
    "compared digests": m.JointDigests(WHOLE + SHORT),
    "compared points": m.HiddenContents(bytes(65)),
    "a commitment to ids": m.IdList(1, USUAL_FORM, SHORT),
    "a share above one": m.IdList(1, USUAL_FORM, WHOLE, Fraction(3, 2)),
    "a set without a count": m.SetCounts((0, 1), (1, 1), (5,)),
    "an item of no set": m.SetCounts((0, 1), (1,), (5,)),
    "a model": m.ModelDigest(SHORT),
    "a nonce": m.BaseOffer(SHORT, bytes(33)),
    "the point of an offer": m.BaseOffer(WHOLE, bytes(66)),
    "the first points": m.BasePoints(bytes(65)),
    "a digest of seeds": m.SeedHints(b"", b"", SHORT),
    "hashes of columns": m.ChoicePage(b"", SHORT),
    "masked numbers": m.CorrectionPage(bytes(12)),
}


def framed(message: Message) -> bytes:
    """Return the frame of a message, whatever its lengths."""
    (entry,) = (each for each in codec.ENTRIES if each.kind is type(message))
    return wire.Frame(**{entry.field: entry.to_wire(message)}).SerializeToString()  # type: ignore[arg-type]


@pytest.mark.parametrize("message", WELL_FORMED, ids=lambda message: type(message).__name__)
def test_parts_of_the_right_length_are_read(message: Message) -> None:
    assert decode(framed(message), type(message)) == message
    assert encode(message) == framed(message)


@pytest.mark.parametrize("name", OF_OTHER_LENGTHS)
def test_parts_of_another_length_are_neither_read_nor_sent(name: str) -> None:
    message = OF_OTHER_LENGTHS[name]
    with pytest.raises(PeerError, match="cannot be read"):
        decode(framed(message), type(message))
    with pytest.raises(InputError, match="cannot be sent"):
        encode(message)


def test_every_kind_of_which_a_length_is_wrong_here_is_right_above() -> None:
    assert {type(message) for message in OF_OTHER_LENGTHS.values()} == {type(message) for message in WELL_FORMED}
