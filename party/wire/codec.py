"""Frames: the messages of `protocols.messages` as bytes, by one total table.

A peer's bytes are hostile until they have passed here. `decode` returns a message or raises one `PeerError`
whose text holds nothing of what was read. It is strict, so that a message has one reading: unknown or repeated
fields, an unset kind, a count that no model holds, a fraction that is not in its one form and a digest of another
length are refused. A frame that is not of the kind expected, or longer than any of its kind, is refused before it is
parsed: a few bytes of a `Share` make many objects (FAULTS case 67). `encode` applies the same limits to our own
messages, so that no peer has to refuse them.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Proto

from party.errors import ConfigError
from party.wire.jobs import fraction_text, job_of, put_job, read_fraction
from party.wire.v1 import node_pb2 as wire
from protocols import messages as m
from protocols.errors import InputError, PeerError
from protocols.identifiers import read_form, seen
from protocols.kinds import MAX_LABEL
from protocols.oblivious.curve import POINT_BYTES
from protocols.role import Message
from protocols.terms import TermError

MAX_FRAME: Final = 256 << 20  # of a message whose bytes are not parsed; the others have limits of their own
DIGEST_BYTES: Final = 32
RUN_BYTES: Final = 8
NONCE_BYTES: Final = 32
MAX_KEY_BYTES: Final = 2 + 2048 * 8  # the length of a Paillier modulus, it, and seven roots that prove it
MAX_SIGNATURE_BYTES: Final = 72  # two numbers of 32 bytes, in DER
MAX_ATTRIBUTES: Final = 4096
MAX_VALUES: Final = 256  # a code is one byte
_FEW: Final = 16 << 10  # holds a few labels and numbers
_SCHEMA: Final = 1 << 20  # which take up to 74 times as much memory when parsed
_TREE: Final = 4 << 20
_NUMBERS: Final = 16 << 20
_COUNTS: Final = 64 << 20  # of one level of a tree, eight bytes each

M = TypeVar("M", bound=Message)

_REFUSAL = "the peer sent a message that cannot be read"


@dataclass(frozen=True)
class _Entry:
    """How one kind of message crosses: its field in `wire.Frame`, both conversions, and what must hold."""

    field: str
    kind: type[Message]
    to_wire: Callable[[Any], Proto]
    from_wire: Callable[[Any], Message]
    valid: Callable[[Any], bool]
    most: int = MAX_FRAME

    @property
    def start(self) -> bytes:
        """The bytes with which each of its frames begins: the field's number, below 2048, and that it has a length."""
        tag = wire.Frame.DESCRIPTOR.fields_by_name[self.field].number << 3 | 2
        return bytes([tag] if tag < 128 else [tag & 127 | 128, tag >> 7])


def require_fast_protobuf() -> None:
    """Refuse protobuf's pure-Python parser, which a peer can exhaust (FAULTS C5, case 71)."""
    if api_implementation.Type() == "python":
        raise ConfigError("protobuf runs in its pure-Python mode, which is not safe with a peer's data")


def is_canonical(message: Proto, data: bytes) -> bool:
    """Return whether a protobuf message that was read from these bytes is written as these again.

    What is unknown, repeated, in another order, or in another form is missing then, or other bytes.
    """
    message.DiscardUnknownFields()
    return message.SerializeToString() == data


def encode(message: Message) -> bytes:
    """Return the frame of a message."""
    entry = _BY_KIND.get(type(message))
    if entry is None or not entry.valid(message):
        raise InputError(f"{type(message).__name__} cannot be sent: it passes a limit of the wire")
    try:
        body = entry.to_wire(message)
        frame = wire.Frame(**{entry.field: body}).SerializeToString()  # type: ignore[arg-type]
    except (ValueError, TypeError):
        kind = type(message).__name__
        raise InputError(f"{kind} cannot be sent: a number or a text is out of range") from None
    if len(frame) > entry.most:
        raise InputError(f"{type(message).__name__} cannot be sent: it is longer than {entry.most} bytes")
    return frame


def longest_frame(kind: type[Message], start: bytes) -> int:
    """Return how long a frame of this kind may be, before more of it than its first bytes is here."""
    entry = _BY_KIND[kind]
    if start.startswith(entry.start):
        return entry.most
    came = next((each.kind.__name__ for each in ENTRIES if start.startswith(each.start)), None)
    raise PeerError(_REFUSAL if came is None else f"expected {kind.__name__} from the peer, got {came}")


def decode(frame: bytes, kind: type[M]) -> M:
    """Return the message of a peer's frame, which must be of this kind; of `Message`, of any."""
    kinds = [each.kind for each in ENTRIES if frame.startswith(each.start)] if kind is Message else [kind]
    if not kinds or len(frame) > longest_frame(kinds[0], frame):
        raise PeerError(_REFUSAL)
    try:
        proto = wire.Frame.FromString(frame)
        entry = _BY_FIELD[proto.WhichOneof("message")]
        message = entry.from_wire(getattr(proto, entry.field))
    except (DecodeError, ValueError, KeyError):
        raise PeerError(_REFUSAL) from None
    if not is_canonical(proto, frame) or not entry.valid(message) or not isinstance(message, kind):
        raise PeerError(_REFUSAL)
    return message


def _greeting_to_wire(message: m.Greeting) -> wire.Greeting:
    proto = wire.Greeting(version=message.version, party=message.party, nonce=message.nonce)
    put_job(message.job, proto)
    return proto


def _greeting(proto: wire.Greeting) -> m.Greeting:
    return m.Greeting(proto.version, proto.party, proto.nonce, job_of(proto))


def _greeting_valid(message: m.Greeting) -> bool:
    return len(message.nonce) == NONCE_BYTES and max(len(message.version), len(message.party)) <= MAX_LABEL


def _share_to_wire(message: m.Share) -> wire.Share:
    proto = wire.Share(
        records=message.records,
        attributes=[_column_to_wire(each) for each in message.attributes],
        groups=[wire.Group(columns=columns) for columns in message.groups],
    )
    if message.class_values is not None:
        proto.class_attribute.CopyFrom(wire.Attribute(values=message.class_values))
    return proto


def _column_to_wire(column: m.SharedColumn) -> wire.Attribute:
    proto = wire.Attribute(name=column.name, values=column.values, ordered=column.ordered)
    if column.missing is not None:
        proto.missing = column.values.index(column.missing)
    if column.marks is not None:
        proto.marks.CopyFrom(wire.Marks(texts=column.marks))
    return proto


def _column(proto: wire.Attribute) -> m.SharedColumn:
    values = tuple(proto.values)
    if proto.HasField("missing") and proto.missing >= len(values):
        raise ValueError("missing cells have a value that their column lacks")
    missing = values[proto.missing] if proto.HasField("missing") else None
    marks = tuple(proto.marks.texts) if proto.HasField("marks") else None
    return m.SharedColumn(proto.name, values, missing, marks, proto.ordered)


def _share(proto: wire.Share) -> m.Share:
    class_values = None
    if proto.HasField("class_attribute"):
        class_values = tuple(proto.class_attribute.values)
        if proto.class_attribute != wire.Attribute(values=class_values):  # the terms name the class
            raise ValueError("more than values of the class")
    return m.Share(
        records=proto.records,
        attributes=tuple(_column(each) for each in proto.attributes),
        class_values=class_values,
        groups=tuple(tuple(group.columns) for group in proto.groups),
    )


def _share_valid(message: m.Share) -> bool:
    columns = len(message.attributes) + (message.class_values is not None)
    domains = [each.values for each in message.attributes] + [each.marks or () for each in message.attributes]
    domains += [] if message.class_values is None else [message.class_values]
    labels = [each.name for each in message.attributes] + [value for values in domains for value in values]
    return (
        len(message.attributes) <= MAX_ATTRIBUTES
        and len(message.groups) <= MAX_ATTRIBUTES
        and all(len(values) <= MAX_VALUES for values in domains)
        and all(len(label) <= MAX_LABEL and seen(label) == label for label in labels)
        and all(group and all(0 <= column < columns for column in group) for group in message.groups)
    )


def _id_list_to_wire(message: m.IdList) -> wire.IdList:
    form = message.form
    return wire.IdList(
        ids=message.ids,
        columns=form.columns,
        alike=form.names,
        commitment=message.commitment,
        least=fraction_text(message.least),
    )


def _id_list(proto: wire.IdList) -> m.IdList:
    try:
        form = read_form(proto.alike, proto.columns)
    except InputError:
        raise ValueError("no form of ids") from None
    if list(proto.alike) != list(form.names):
        raise ValueError("names in another order")
    try:
        least = read_fraction("least", proto.least)
    except TermError:
        raise ValueError("no fraction") from None
    return m.IdList(proto.ids, form, proto.commitment, least)


def _id_list_valid(message: m.IdList) -> bool:
    return _is_digest(message.commitment) and 0 <= message.least <= 1


def _flat(
    field: str, kind: type[Message], proto: Callable[..., Proto], valid: Callable[[Any], bool], most: int
) -> _Entry:
    """Carry a message whose fields have the same names on both sides."""
    names = [each.name for each in fields(kind)]
    make: Callable[..., Message] = kind

    def from_wire(read: Proto) -> Message:
        contents = [getattr(read, name) for name in names]
        return make(*(each if isinstance(each, bytes | str | int) else tuple(each) for each in contents))

    return _Entry(
        field, kind, lambda message: proto(**{name: getattr(message, name) for name in names}), from_wire, valid, most
    )


def _one_field(
    field: str,
    kind: type[Message],
    proto: Callable[..., Proto],
    valid: Callable[[Any], bool] = lambda _: True,
    most: int = MAX_FRAME,
) -> _Entry:
    """Carry a message that has a single field; `valid` judges its content."""
    (name,) = (each.name for each in fields(kind))
    return _flat(field, kind, proto, lambda message: valid(getattr(message, name)), most)


def _heads_valid(message: m.MemoryHeads) -> bool:
    own = m.SignedHead(message.entries, message.digest, message.signature)
    known = m.SignedHead(message.known_entries, message.known_digest, message.known_signature)
    return is_signed_head(own) and is_signed_head(known) and len(message.run) in (0, RUN_BYTES)


def is_signed_head(head: m.SignedHead) -> bool:
    """Return whether lengths are those of an end and its signature, or of nothing."""
    signed = 1 <= len(head.signature) <= MAX_SIGNATURE_BYTES
    return _is_digest(head.digest) and (signed if head.entries else not head.signature)


def _sets_valid(message: m.SetCounts) -> bool:
    return len(message.sizes) == len(message.counts) and sum(message.sizes) == len(message.items)


def _offer_valid(message: m.BaseOffer) -> bool:
    return len(message.nonce) == NONCE_BYTES and len(message.point) == POINT_BYTES


def _is_digest(content: bytes) -> bool:
    return len(content) == DIGEST_BYTES


def _multiple_of(size: int) -> Callable[[bytes], bool]:
    return lambda content: len(content) % size == 0


ENTRIES: Final = (
    _Entry("greeting", m.Greeting, _greeting_to_wire, _greeting, _greeting_valid, _FEW),
    _Entry("share", m.Share, _share_to_wire, _share, _share_valid, _SCHEMA),
    _one_field("verdict", m.Verdict, wire.Verdict, lambda field: len(field) <= MAX_LABEL, _FEW),
    _one_field(
        "holder_key", m.HolderKey, wire.HolderKey, lambda key: 1 <= len(key) <= MAX_KEY_BYTES, MAX_KEY_BYTES + 16
    ),
    _one_field("disguised_page", m.DisguisedPage, wire.DisguisedPage),
    _one_field("ciphertext_page", m.CiphertextPage, wire.CiphertextPage),
    _one_field("sent_tree", m.SentTree, wire.SentTree, most=_TREE),
    _one_field("packed_counts", m.PackedCounts, wire.PackedCounts),
    _one_field("exact_counts", m.ExactCounts, wire.ExactCounts, most=_COUNTS),
    _one_field("model_digest", m.ModelDigest, wire.ModelDigest, _is_digest, _FEW),
    _one_field("hidden_contents", m.HiddenContents, wire.HiddenContents, _multiple_of(POINT_BYTES), _FEW),
    _one_field("class_counts", m.ClassCounts, wire.ClassCounts, lambda values: len(values) <= MAX_VALUES, _FEW),
    _one_field("table_commitment", m.TableCommitment, wire.TableCommitment, _is_digest, _FEW),
    _flat("memory_heads", m.MemoryHeads, wire.MemoryHeads, _heads_valid, _FEW),
    _flat("signed_head", m.SignedHead, wire.SignedHead, is_signed_head, _FEW),
    _one_field("joint_digests", m.JointDigests, wire.JointDigests, _multiple_of(DIGEST_BYTES), _FEW),
    _Entry("id_list", m.IdList, _id_list_to_wire, _id_list, _id_list_valid, _FEW),
    _one_field("values_page", m.ValuesPage, wire.ValuesPage, most=_NUMBERS),
    _one_field("common_rows", m.CommonRows, wire.CommonRows, most=_NUMBERS),
    _flat("people_offer", m.PeopleOffer, wire.PeopleOffer, lambda _: True, _FEW),
    _one_field("rows_share", m.RowsShare, wire.RowsShare, most=_FEW),
    _one_field("rows_asked", m.RowsAsked, wire.RowsAsked, _multiple_of(DIGEST_BYTES), _NUMBERS),
    _one_field("row_shares", m.RowShares, wire.RowShares, _multiple_of(8), _NUMBERS),
    _flat("kept_parts", m.KeptParts, wire.KeptParts, lambda message: _is_digest(message.digest), _FEW),
    _one_field("lost_answers", m.LostAnswers, wire.LostAnswers, lambda each: not any(len(a) % 8 for a in each), _TREE),
    _flat("set_counts", m.SetCounts, wire.SetCounts, _sets_valid, _COUNTS),
    _flat("base_offer", m.BaseOffer, wire.BaseOffer, _offer_valid, _FEW),
    _one_field("base_points", m.BasePoints, wire.BasePoints, _multiple_of(POINT_BYTES), _FEW),
    _flat("seed_hints", m.SeedHints, wire.SeedHints, lambda message: _is_digest(message.digest), _FEW),
    _flat("choice_page", m.ChoicePage, wire.ChoicePage, lambda message: len(message.check) % 16 == 0, _NUMBERS),
    _one_field("correction_page", m.CorrectionPage, wire.CorrectionPage, _multiple_of(8), _NUMBERS),
    _one_field("count_shares", m.CountShares, wire.CountShares, most=_COUNTS),
    _one_field("code_page", m.CodePage, wire.CodePage, most=_NUMBERS),
    _flat("hint_page", m.HintPage, wire.HintPage, lambda _: True, _NUMBERS),
    _one_field("masked_page", m.MaskedPage, wire.MaskedPage, most=_NUMBERS),
    _one_field("opened_page", m.OpenedPage, wire.OpenedPage, most=_NUMBERS),
)

_BY_KIND: Final = {entry.kind: entry for entry in ENTRIES}
_BY_FIELD: Final[dict[str | None, _Entry]] = {entry.field: entry for entry in ENTRIES}
