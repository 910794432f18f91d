"""The codec: every kind crosses, and nothing else does."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from google.protobuf.internal import api_implementation
from hypothesis import given
from hypothesis import strategies as st

from party.errors import ConfigError
from party.wire import codec
from party.wire.codec import ENTRIES, decode, encode, require_fast_protobuf
from party.wire.v1 import node_pb2 as wire
from protocols import messages as m
from protocols.errors import InputError, PeerError
from protocols.role import Message

LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
DIGESTS = st.binary(min_size=32, max_size=32)
COUNTS = st.integers(0, 2**64 - 1)
SMALL = st.integers(0, 2**32 - 1)
FRACTIONS = st.builds(Fraction, st.integers(0, 10**17), st.integers(1, 10**17))
FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False)).map(tuple)
DOMAINS = st.lists(LABELS, max_size=5).map(tuple)
TERMS = st.builds(m.Terms, LABELS, FRACTIONS, SMALL, LABELS, LABELS, COUNTS, FRACTIONS, SMALL)


@st.composite
def shares(draw: st.DrawFn) -> m.Share:
    attributes = draw(st.lists(st.tuples(LABELS, DOMAINS), max_size=4).map(tuple))
    class_values = draw(st.none() | DOMAINS)
    columns = len(attributes) + (class_values is not None)
    column = st.integers(0, columns - 1) if columns else st.nothing()
    groups = draw(
        st.lists(st.lists(column, min_size=1, max_size=4).map(tuple), max_size=3 if columns else 0).map(tuple)
    )
    return m.Share(draw(COUNTS), attributes, class_values, groups, draw(DIGESTS), draw(DIGESTS))


MESSAGES: dict[type[Message], st.SearchStrategy[Message]] = {
    m.Greeting: st.builds(m.Greeting, LABELS, LABELS, DIGESTS, TERMS),
    m.ClassDigest: st.builds(m.ClassDigest, DIGESTS),
    m.ClassCounts: st.builds(m.ClassCounts, st.lists(COUNTS, max_size=256).map(tuple)),
    m.Share: shares(),
    m.Verdict: st.builds(m.Verdict, LABELS),
    m.HolderKey: st.builds(m.HolderKey, st.binary(min_size=1, max_size=99).filter(lambda b: b[0] != 0)),
    m.DisguisedPage: st.builds(m.DisguisedPage, st.binary()),
    m.CiphertextPage: st.builds(m.CiphertextPage, st.binary()),
    m.EstimatedGains: st.builds(m.EstimatedGains, FLOATS),
    m.EstimatedCounts: st.builds(m.EstimatedCounts, FLOATS),
    m.PackedCounts: st.builds(m.PackedCounts, st.binary()),
    m.ExactCounts: st.builds(m.ExactCounts, st.lists(COUNTS).map(tuple)),
    m.ModelDigest: st.builds(m.ModelDigest, DIGESTS),
    m.TableCommitment: st.builds(m.TableCommitment, DIGESTS),
}

A_GREETING = m.Greeting("v", "alice", bytes(32), m.Terms("hybrid", Fraction(9, 20), 2, "e", "c", 7, Fraction(0), 3072))
A_SHARE = m.Share(9, (("a", ("x", "y")), ("b", ("x",))), ("0", "1"), ((0, 2), (1,)), bytes(32), bytes(32))


def kinds_of_messages() -> set[type[Message]]:
    return {
        kind
        for kind in vars(m).values()
        if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
    }


def test_every_kind_of_message_and_every_field_of_a_frame_has_its_entry() -> None:
    assert {entry.kind for entry in ENTRIES} == kinds_of_messages() == set(MESSAGES)
    assert [entry.field for entry in ENTRIES] == [field.name for field in wire.Frame.DESCRIPTOR.fields]


@given(st.one_of(*MESSAGES.values()))
def test_a_message_survives_its_frame(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.binary())
def test_any_bytes_give_a_message_or_a_peer_error(data: bytes) -> None:
    try:
        message = decode(data)
    except PeerError:
        return
    assert encode(message)


@given(st.one_of(*MESSAGES.values()), st.data())
def test_a_changed_frame_gives_a_message_or_a_peer_error(message: Message, data: st.DataObject) -> None:
    frame = bytearray(encode(message))
    frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    try:
        changed = decode(bytes(frame))
    except PeerError:
        return
    assert decode(encode(changed)) == changed


@given(st.one_of(*MESSAGES.values()), st.data())
def test_a_truncated_frame_is_refused(message: Message, data: st.DataObject) -> None:
    frame = encode(message)
    cut = frame[: data.draw(st.integers(0, len(frame) - 1))]
    with pytest.raises(PeerError):
        decode(cut)


def frame(**fields: object) -> bytes:
    return wire.Frame(**fields).SerializeToString()  # type: ignore[arg-type]


def greeting(**changes: object) -> bytes:
    proto = wire.Frame.FromString(encode(A_GREETING))
    for name, value in changes.items():
        place = proto.greeting.terms if hasattr(proto.greeting.terms, name) else proto.greeting
        setattr(place, name, value)
    return proto.SerializeToString()


def share(**changes: object) -> bytes:
    proto = wire.Frame.FromString(encode(A_SHARE))
    for name, value in changes.items():
        proto.share.ClearField(name)  # type: ignore[arg-type]
        part = wire.Share(**{name: value})  # type: ignore[arg-type]
        proto.share.MergeFrom(part)
    return proto.SerializeToString()


def no_terms() -> bytes:
    proto = wire.Frame.FromString(encode(A_GREETING))
    proto.greeting.ClearField("terms")
    return proto.SerializeToString()


LONG = "x" * 1025
MALFORMED = {
    "nothing": b"",
    "no kind": b"\x78\x01",
    "trailing bytes": encode(A_GREETING) + b"\x00",
    "an unknown field": encode(m.Verdict("a")) + b"\xfa\x7f\x01a",
    "an unknown field inside": b"\x1a\x05" + b"\x0a\x01a" + b"\x78\x01",
    "two kinds": encode(m.Verdict("a")) + encode(m.ModelDigest(bytes(32))),
    "one kind twice": encode(m.Verdict("a")) + encode(m.Verdict("b")),
    "a length in a longer form": b"\x1a\x83\x00" + b"\x0a\x01a",
    "a lying length": b"\x1a\x7f" + b"\x0a\x01a",
    "all zeros": bytes(100),
    "groups nested deeply": b"\x0b" * 100_000,
    "invalid UTF-8": b"\x1a\x03" + b"\x0a\x01\xff",
    "a decimal": greeting(theta="0.7"),
    "a fraction not in lowest terms": greeting(theta="2/4"),
    "a fraction with a sign": greeting(theta="-1/2"),
    "a fraction with a leading zero": greeting(theta="01/2"),
    "a fraction over zero": greeting(theta="1/0"),
    "a fraction in other digits": greeting(theta="\u0661/\u0662"),
    "a fraction with a line end": greeting(theta="1/2\n"),
    "a fraction of many digits": greeting(test="1/" + "3" * 19),
    "a whole number": greeting(test="1"),
    "no fraction": greeting(test=""),
    "no terms": no_terms(),
    "a short nonce": greeting(nonce=bytes(31)),
    "a long party": greeting(party=LONG),
    "a long method": greeting(method=LONG),
    "a NaN": frame(estimated_gains=wire.EstimatedGains(values=[1.0, math.nan])),
    "an infinity": frame(estimated_counts=wire.EstimatedCounts(values=[math.inf])),
    "an empty key": frame(holder_key=wire.HolderKey()),
    "a key of 16,392 bits": frame(holder_key=wire.HolderKey(key=b"\x01" * 2049)),
    "a short digest": frame(model_digest=wire.ModelDigest(digest=bytes(31))),
    "a long verdict": frame(verdict=wire.Verdict(field=LONG)),
    "a named class": share(class_attribute=wire.Attribute(name="c", values=["0"])),
    "no digest of the records": share(records_digest=b""),
    "no digest of their spelling": share(spelling_digest=b""),
    "a short digest of the class": frame(class_digest=wire.ClassDigest(digest=bytes(31))),
    "counts of 257 classes": frame(class_counts=wire.ClassCounts(values=[1] * 257)),
    "a group of no column": share(groups=[wire.Group()]),
    "a group of an unknown column": share(groups=[wire.Group(columns=[3])]),
    "a long name": share(attributes=[wire.Attribute(name=LONG), wire.Attribute()]),
    "a long value": share(class_attribute=wire.Attribute(values=[LONG])),
    "257 values": share(attributes=[wire.Attribute(values=["v"] * 257), wire.Attribute()]),
    "257 classes": share(class_attribute=wire.Attribute(values=["v"] * 257)),
    "4097 attributes": share(attributes=[wire.Attribute()] * 4097),
    "4097 groups": share(groups=[wire.Group(columns=[0])] * 4097),
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_frame_is_refused_by_a_text_that_is_always_the_same(data: bytes) -> None:
    with pytest.raises(PeerError, match=r"^the peer sent a message that cannot be read$") as refusal:
        decode(data)
    assert type(refusal.value) is PeerError


def test_an_unchanged_frame_of_each_malformed_kind_is_read() -> None:
    assert decode(greeting()) == A_GREETING
    assert decode(share()) == A_SHARE


def test_a_frame_of_one_byte_too_many_is_refused_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    message = m.DisguisedPage(bytes(100))
    data = encode(message)
    monkeypatch.setattr(codec, "MAX_FRAME", len(data))
    assert decode(encode(message)) == message
    monkeypatch.setattr(codec, "MAX_FRAME", len(data) - 1)
    with pytest.raises(PeerError):
        decode(data)
    with pytest.raises(InputError, match="longer than"):
        encode(message)


@pytest.mark.parametrize(
    "message",
    [
        Message(),
        m.ModelDigest(bytes(31)),
        m.EstimatedGains((math.nan,)),
        m.ExactCounts((2**64,)),
        m.ExactCounts((-1,)),
        m.Verdict("\ud800"),
        replace(A_GREETING, terms=replace(A_GREETING.terms, theta=Fraction(-1, 2))),
        replace(A_GREETING, terms=replace(A_GREETING.terms, test=Fraction(1, 10**18))),
    ],
    ids=["no kind", "length", "NaN", "too large", "negative", "no text", "a negative fraction", "a long fraction"],
)
def test_what_a_peer_would_refuse_is_not_encoded(message: Message) -> None:
    with pytest.raises(InputError, match="cannot be sent"):
        encode(message)


def test_pure_python_protobuf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_fast_protobuf()
    monkeypatch.setattr(api_implementation, "Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        require_fast_protobuf()
