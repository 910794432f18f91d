"""The codec: every kind crosses, and nothing else does."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from random import Random
from typing import Any

import pytest
from google.protobuf.internal import api_implementation
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from party.errors import ConfigError
from party.wire import codec
from party.wire.codec import ENTRIES, decode, encode, longest_frame, require_fast_protobuf
from party.wire.jobs import fraction_text
from party.wire.v1 import node_pb2 as wire
from protocols import messages as m
from protocols.errors import InputError, PeerError
from protocols.identifiers import MOST_ID_COLUMNS, USUAL_FORM, IdForm, Spelling, seen
from protocols.jobs import NO_JOB, Align, Predict, PredictionTerms, Receiver, Train, Unusable
from protocols.kinds import Between, Flag, kinds_of
from protocols.role import Message
from protocols.terms import (
    ALL,
    HALF,
    KEY_BITS,
    LENGTH,
    OMEGA,
    SEED,
    SETS,
    THETA,
    Counting,
    Impurity,
    Method,
    Metric,
    MiningTerms,
    Reveal,
    RuleTerms,
    TreeTerms,
)
from tests.support.examples import few
from tests.support.kinds import DIGITS, beyond, within
from tests.support.parties import make_terms

LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(seen)
DIGESTS = st.binary(min_size=32, max_size=32)
POINTS = st.binary(min_size=33, max_size=33)
COUNTS = st.integers(0, 2**64 - 1)
Head = tuple[int, bytes, bytes]
HEADS = st.tuples(COUNTS, DIGESTS, st.binary(min_size=1, max_size=72)).map(
    lambda head: head if head[0] else (0, head[1], b"")
)
DOMAINS = st.lists(LABELS, max_size=5).map(tuple)
CHANCES = st.fractions(0, 1, max_denominator=10**17).filter(lambda theta: theta not in (0, 1, HALF))
USUAL = {
    "method": st.sampled_from(Method),
    "theta": CHANCES,
    "counting": st.sampled_from(Counting),
    "key_bits": st.integers(KEY_BITS.low, KEY_BITS.high),
}
TERMS = st.builds(
    TreeTerms,
    **USUAL,
    omega=st.just(ALL) | st.integers(1, OMEGA.high),
    class_name=LABELS.filter(bool),
    seed=st.integers(0, SEED.high),
    test=st.just(Fraction(0)) | CHANCES,
)
LOOKED_FOR = st.builds(
    RuleTerms,
    CHANCES | st.just(Fraction(1)),
    st.integers(1, LENGTH.high),
    st.integers(0, SETS.high),
    st.lists(LABELS.filter(bool), max_size=3, unique=True).map(tuple),
)
RULES = st.builds(MiningTerms, **USUAL, rules=LOOKED_FOR)
OF_SETS = st.builds(
    lambda terms, metric, least: replace(
        terms,
        method=Method.SMC,
        counting=Counting.OBLIVIOUS_TRANSFER,
        reveal=Reveal.SETS,
        rules=replace(terms.rules, metric=metric, min_threshold=least),
    ),
    RULES,
    st.sampled_from(Metric),
    CHANCES,
)
FORMS = st.builds(IdForm, st.integers(1, MOST_ID_COLUMNS), st.frozensets(st.sampled_from(Spelling)))
ASKED = st.builds(PredictionTerms, DIGESTS, st.sampled_from(Receiver), st.booleans())
JOBS = (TERMS | RULES | OF_SETS).map(Train) | ASKED.map(Predict) | st.builds(Align, st.booleans()) | st.just(NO_JOB)


@st.composite
def columns(draw: st.DrawFn) -> m.SharedColumn:
    values = draw(DOMAINS)
    missing = draw(st.none() | st.sampled_from(values)) if values else None
    return m.SharedColumn(draw(LABELS), values, missing, draw(st.none() | st.lists(LABELS, max_size=3).map(tuple)))


COLUMNS = columns()


@st.composite
def shares(draw: st.DrawFn) -> m.Share:
    attributes = draw(st.lists(COLUMNS, max_size=4).map(tuple))
    class_values = draw(st.none() | DOMAINS)
    columns = len(attributes) + (class_values is not None)
    column = st.integers(0, columns - 1) if columns else st.nothing()
    groups = draw(
        st.lists(st.lists(column, min_size=1, max_size=4).map(tuple), max_size=3 if columns else 0).map(tuple)
    )
    return m.Share(draw(COUNTS), attributes, class_values, groups)


NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
SET_COUNTS = st.lists(st.tuples(st.lists(st.integers(0, 2**32 - 1), max_size=3), COUNTS), max_size=4).map(
    lambda sets: m.SetCounts(
        tuple(item for items, _ in sets for item in items),
        tuple(len(items) for items, _ in sets),
        tuple(count for _, count in sets),
    )
)


def memory_heads(own: Head, known: Head, run: bytes, fresh: bool) -> m.MemoryHeads:
    return m.MemoryHeads(*own, *known, run, fresh)


MESSAGES: dict[type[Message], st.SearchStrategy[Message]] = {
    m.Greeting: st.builds(m.Greeting, LABELS, LABELS, DIGESTS, JOBS),
    m.HiddenContents: st.builds(m.HiddenContents, st.lists(POINTS, max_size=9).map(b"".join)),
    m.JointDigests: st.builds(m.JointDigests, st.lists(DIGESTS, max_size=9).map(b"".join)),
    m.ClassCounts: st.builds(m.ClassCounts, st.lists(COUNTS, max_size=256).map(tuple)),
    m.Share: shares(),
    m.Verdict: st.builds(m.Verdict, LABELS),
    m.HolderKey: st.builds(m.HolderKey, st.binary(min_size=1, max_size=99).filter(lambda b: b[0] != 0)),
    m.DisguisedPage: st.builds(m.DisguisedPage, st.binary()),
    m.CiphertextPage: st.builds(m.CiphertextPage, st.binary()),
    m.SentTree: st.builds(m.SentTree, st.lists(st.integers(-(2**31), 2**31 - 1), max_size=9).map(tuple)),
    m.PackedCounts: st.builds(m.PackedCounts, st.binary()),
    m.ExactCounts: st.builds(m.ExactCounts, st.lists(COUNTS).map(tuple)),
    m.ModelDigest: st.builds(m.ModelDigest, DIGESTS),
    m.TableCommitment: st.builds(m.TableCommitment, DIGESTS),
    m.MemoryHeads: st.builds(memory_heads, HEADS, HEADS, st.sampled_from([b"", bytes(8), b"a run's "]), st.booleans()),
    m.RowsShare: st.builds(m.RowsShare, COUNTS),
    m.RowsAsked: st.builds(m.RowsAsked, st.lists(DIGESTS).map(b"".join)),
    m.RowShares: st.builds(m.RowShares, st.lists(st.binary(min_size=8, max_size=8)).map(b"".join)),
    m.KeptParts: st.builds(m.KeptParts, COUNTS, DIGESTS, st.booleans()),
    m.LostAnswers: st.builds(m.LostAnswers, st.lists(st.binary(min_size=16, max_size=16)).map(tuple)),
    m.IdList: st.builds(m.IdList, COUNTS, FORMS, DIGESTS, st.fractions(0, 1, max_denominator=10**17)),
    m.ValuesPage: st.builds(m.ValuesPage, st.binary()),
    m.CommonRows: st.builds(m.CommonRows, st.binary()),
    m.PeopleOffer: st.builds(m.PeopleOffer, COUNTS, st.booleans()),
    m.SetCounts: SET_COUNTS,
    m.CodePage: st.builds(m.CodePage, st.binary()),
    m.HintPage: st.builds(m.HintPage, st.binary(), st.binary()),
    m.MaskedPage: st.builds(m.MaskedPage, st.binary()),
    m.OpenedPage: st.builds(m.OpenedPage, st.binary()),
    m.CountShares: st.builds(m.CountShares, st.lists(COUNTS).map(tuple)),
    m.BaseOffer: st.builds(m.BaseOffer, DIGESTS, POINTS),
    m.BasePoints: st.builds(m.BasePoints, st.lists(POINTS).map(b"".join)),
    m.SeedHints: st.builds(m.SeedHints, st.binary(), st.binary(), DIGESTS),
    m.ChoicePage: st.builds(m.ChoicePage, st.binary(), st.lists(st.binary(min_size=16, max_size=16)).map(b"".join)),
    m.CorrectionPage: st.builds(m.CorrectionPage, st.lists(st.binary(min_size=8, max_size=8)).map(b"".join)),
    m.SignedHead: HEADS.map(lambda head: m.SignedHead(*head)),
}

A_TERMS = make_terms(omega=2, counting="paillier", class_name="c", seed=7, test=Fraction(0), key_bits=3072)
A_JOB = Train(replace(A_TERMS, max_depth=3, min_leaf=4, impurity=Impurity.GAIN_RATIO))
A_GREETING = m.Greeting("v", "alice", bytes(32), A_JOB)
A_SHARE = m.Share(
    9, (m.SharedColumn("a", ("x", "y"), "y", ("-9", "")), m.SharedColumn("b", ("x",))), ("0", "1"), ((0, 2), (1,))
)


def kinds_of_messages() -> set[type[Message]]:
    return {
        kind
        for kind in vars(m).values()
        if isinstance(kind, type) and issubclass(kind, Message) and kind.__module__ == m.__name__
    }


def test_every_kind_of_message_and_every_field_of_a_frame_has_its_entry() -> None:
    assert {entry.kind for entry in ENTRIES} == kinds_of_messages() == set(MESSAGES)
    assert [entry.field for entry in ENTRIES] == [field.name for field in wire.Frame.DESCRIPTOR.fields]


@given(st.one_of(*MESSAGES.values()))
def test_a_message_survives_its_frame(message: Message) -> None:
    assert decode(encode(message), Message) == message


@given(st.one_of(*MESSAGES.values()), st.data())
def test_a_truncated_frame_is_refused(message: Message, data: st.DataObject) -> None:
    frame = encode(message)
    cut = frame[: data.draw(st.integers(0, len(frame) - 1))]
    with pytest.raises(PeerError):
        decode(cut, Message)


def frame(**fields: object) -> bytes:
    return wire.Frame(**fields).SerializeToString()  # type: ignore[arg-type]


def greeting(**changes: object) -> bytes:
    proto = wire.Frame.FromString(encode(A_GREETING))
    for name, value in changes.items():
        place = proto.greeting.train if hasattr(proto.greeting.train, name) else proto.greeting
        if isinstance(value, wire.RuleTerms):
            proto.greeting.train.rules.CopyFrom(value)
        else:
            setattr(place, name, value)
    return proto.SerializeToString()


def share(**changes: object) -> bytes:
    proto = wire.Frame.FromString(encode(A_SHARE))
    for name, value in changes.items():
        proto.share.ClearField(name)  # type: ignore[arg-type]
        part = wire.Share(**{name: value})  # type: ignore[arg-type]
        proto.share.MergeFrom(part)
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
    "a truth value of another number": encode(m.PeopleOffer(9, aligns=True))[:-1] + b"\x4a",
    "fields in another order": encode(m.PeopleOffer(9, aligns=True))[:-4] + b"\x10\x01\x08\x09",
    "a lying length": b"\x1a\x7f" + b"\x0a\x01a",
    "all zeros": bytes(100),
    "groups nested deeply": b"\x0b" * 100_000,
    "invalid UTF-8": b"\x1a\x03" + b"\x0a\x01\xff",
    "a short nonce": greeting(nonce=bytes(31)),
    "a long party": greeting(party=LONG),
    "an empty key": frame(holder_key=wire.HolderKey()),
    "a key longer than any with its proof": frame(holder_key=wire.HolderKey(key=b"\x01" * (2048 * 8 + 3))),
    "a short digest": frame(model_digest=wire.ModelDigest(digest=bytes(31))),
    "a long verdict": frame(verdict=wire.Verdict(field=LONG)),
    "a class with missing cells": share(class_attribute=wire.Attribute(values=["0"], missing=0)),
    "a class with marks": share(class_attribute=wire.Attribute(values=["0"], marks=wire.Marks())),
    "missing cells of no value": share(attributes=[wire.Attribute(values=["v"], missing=1), wire.Attribute()]),
    "257 marks": share(attributes=[wire.Attribute(marks=wire.Marks(texts=["v"] * 257)), wire.Attribute()]),
    "a long mark": share(attributes=[wire.Attribute(marks=wire.Marks(texts=[LONG])), wire.Attribute()]),
    "a name with a control character": share(attributes=[wire.Attribute(name="\x1b[2J"), wire.Attribute()]),
    "a value that nobody sees": share(class_attribute=wire.Attribute(values=["a", "a\u200b"])),
    "a value with a filler": share(class_attribute=wire.Attribute(values=["a", "a\u3164"])),
    "a name with a filler": share(attributes=[wire.Attribute(name="a\u115f"), wire.Attribute()]),
    "a named class": share(class_attribute=wire.Attribute(name="c", values=["0"])),
    "half a point": frame(hidden_contents=wire.HiddenContents(points=bytes(34))),
    "half a digest": frame(joint_digests=wire.JointDigests(digests=bytes(33))),
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


def test_a_malformed_frame_is_refused_by_a_text_that_is_always_the_same() -> None:
    for case, data in MALFORMED.items():
        with pytest.raises(PeerError, match=r"^the peer sent a message that cannot be read$") as refusal:
            decode(data, Message)
        assert type(refusal.value) is PeerError, case


LOWEST = "must be a fraction in lowest terms, such as 9/20"
METRICS = "must be confidence or lift"
BAD_FORMS: list[tuple[str, object, str]] = [
    ("method", "canary" * 999, "must be hybrid, smc or randomized"),
    *(("theta", text, LOWEST) for text in ("0.7", "2/4", "-1/3", "01/3", "1/0", "\u0661/\u0663", "1/3\n", "1", "")),
    ("theta", "1/" + "3" * 19, LOWEST),
    ("theta", "1/2", THETA.legal),
    ("noise", "2", LOWEST),
    ("noise", "1/1", 'needs omega = "all" or method = "smc": a window follows from true columns'),
    ("rules", wire.RuleTerms(min_support="2/4"), LOWEST),
    ("rules", wire.RuleTerms(min_support="1/4", metric="lift", min_threshold="1"), LOWEST),
    ("rules", wire.RuleTerms(min_support="1/4", metric="x"), METRICS),
]


def test_terms_that_no_run_can_have_arrive_as_the_name_of_the_field_and_its_range() -> None:
    bad = [*BAD_FORMS]
    for name, kind in kinds_of(TreeTerms).items():
        if isinstance(kind, Flag):  # the wire has no third truth value
            continue
        sent = [(fraction_text(v) if isinstance(v, Fraction) else v, why) for v, why in beyond(kind) if why != DIGITS]
        kinds = int if isinstance(kind, Between) else str
        typed = [(v, why) for v, why in sent if isinstance(v, kinds) and not isinstance(v, bool)]
        fits = [(v, why) for v, why in typed if isinstance(v, str) or 0 <= v < 1 << 31]
        bad += [
            (name, value, LOWEST if str(value).startswith("-") else why)
            for value, why in fits
            if value or not kind.word
        ]
    for field, value, reason in bad:
        expected = Unusable(field.removesuffix("_name"), reason)
        assert decode(greeting(**{field: value}), m.Greeting) == replace(A_GREETING, job=expected), (field, value)


def test_what_is_left_open_is_not_sent() -> None:
    for name, kind in kinds_of(TreeTerms).items():
        for value in (None, *within(kind)) if kind.word else ():
            alone = {
                "reveal": Reveal.TREE,
                "max_depth": 3,
                "impurity": Impurity.GINI,
                "counting": Counting.OBLIVIOUS_TRANSFER,
            }
            beside: dict[str, dict[str, Any]] = {"noise": {"method": Method.SMC, "max_depth": 3}, "most_bits": alone}
            job = Train(replace(A_JOB.terms, **{**beside.get(name, {}), name: value}))
            frame = encode(replace(A_GREETING, job=job))
            assert bool(getattr(wire.Frame.FromString(frame).greeting.train, name)) == (value is not None)
            assert decode(frame, m.Greeting).job == job


def test_a_list_in_a_normal_form_of_ids_that_nobody_knows_or_with_no_share_in_lowest_terms_is_refused() -> None:
    whole: dict[str, Any] = {"ids": 1, "columns": 1, "alike": ["case"], "commitment": bytes(32), "least": "1/10"}
    forms = [{"alike": alike} for alike in (["sound"], ["case", "case"], ["zeros", "case"])]
    least = [{"least": text} for text in ("", "0", "2/20", "3/2", "-1/2", "1/0")]
    changes: list[dict[str, Any]] = [{"columns": 0}, {"columns": 17}, *forms, *least]
    for change in changes:
        proto = wire.IdList(**whole | change)
        with pytest.raises(PeerError, match="cannot be read"):
            decode(wire.Frame(id_list=proto).SerializeToString(), m.IdList)
    assert decode(wire.Frame(id_list=wire.IdList(**whole)).SerializeToString(), m.IdList).least == Fraction(1, 10)


def test_a_greeting_without_a_job_is_one_whose_job_nobody_knows() -> None:
    proto = wire.Frame.FromString(encode(A_GREETING))
    proto.greeting.ClearField("job")
    silent = replace(A_GREETING, job=NO_JOB)
    assert decode(proto.SerializeToString(), m.Greeting) == silent
    assert encode(replace(A_GREETING, job=Unusable("theta", "canary"))) == encode(silent)


@cache
def examples() -> dict[type[Message], Message]:
    """Return some message of each kind; always the same."""
    once = settings(phases=[Phase.generate], database=None)
    return {kind: find(each, bool, settings=once, random=Random(1)) for kind, each in MESSAGES.items()}


def test_an_unchanged_frame_of_each_malformed_kind_is_read() -> None:
    assert decode(greeting(), m.Greeting) == A_GREETING
    assert decode(share(), m.Share) == A_SHARE


def test_a_frame_of_one_byte_too_many_for_its_kind_is_refused_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    for entry in ENTRIES:
        message = examples()[entry.kind]
        data = encode(message)
        monkeypatch.setitem(codec._BY_KIND, entry.kind, replace(entry, most=len(data)))
        assert decode(encode(message), entry.kind) == decode(data, Message) == message
        monkeypatch.setitem(codec._BY_KIND, entry.kind, replace(entry, most=len(data) - 1))
        for kind in (entry.kind, Message):
            with pytest.raises(PeerError, match="cannot be read"):
                decode(data, kind)
        with pytest.raises(InputError, match="longer than"):
            encode(message)


def test_only_bytes_that_are_not_parsed_may_be_as_many_as_a_frame_holds() -> None:
    raw = {m.DisguisedPage, m.CiphertextPage, m.PackedCounts}
    assert {entry.kind for entry in ENTRIES if entry.most == codec.MAX_FRAME} == raw
    wide = {m.ExactCounts, m.CountShares, m.SetCounts}  # of numbers as wide as when parsed
    assert max(entry.most for entry in ENTRIES if entry.kind in wide) <= codec.MAX_FRAME // 4
    assert max(entry.most for entry in ENTRIES if entry.kind not in raw | wide) <= codec.MAX_FRAME // 16
    assert max(longest_frame(kind, encode(examples()[kind])) for kind in (m.Greeting, m.Verdict)) <= 1 << 14


def test_another_kind_than_the_expected_is_refused_by_its_first_byte() -> None:
    frames = {entry.kind: encode(examples()[entry.kind]) for entry in ENTRIES}
    for expected, came in permutations(ENTRIES, 2):
        with pytest.raises(PeerError, match=f"^expected {expected.kind.__name__} from the peer, got "):
            longest_frame(expected.kind, came.start)
        with pytest.raises(PeerError):
            decode(frames[came.kind], expected.kind)


def test_the_longest_greeting_verdict_and_key_that_are_legal_fit() -> None:
    wide = "\U0001f600" * 1024
    terms = replace(A_JOB.terms, class_name=wide, theta=Fraction(10**18 - 3, 10**18 - 1), seed=SEED.high)
    for message in (
        m.Greeting(wide, wide, bytes(32), Train(terms)),
        m.Verdict(wide),
        m.HolderKey(bytes(codec.MAX_KEY_BYTES)),
    ):
        assert decode(encode(message), Message) == message


def test_what_a_peer_would_refuse_is_not_encoded() -> None:
    for message in [
        Message(), m.ModelDigest(bytes(31)), m.SentTree((2**31,)), m.ExactCounts((2**64,)), m.ExactCounts((-1,)),
        m.Verdict("\ud800"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match="cannot be sent"):
            encode(message)


def test_pure_python_protobuf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_fast_protobuf()
    monkeypatch.setattr(api_implementation, "Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        require_fast_protobuf()


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


def test_parts_of_the_right_length_alone_are_read() -> None:
    for message in WELL_FORMED:
        assert decode(framed(message), type(message)) == message
        assert encode(message) == framed(message)
    for case in OF_OTHER_LENGTHS.values():
        message = case
        with pytest.raises(PeerError, match="cannot be read"):
            decode(framed(message), type(message))
        with pytest.raises(InputError, match="cannot be sent"):
            encode(message)
    assert {type(message) for message in OF_OTHER_LENGTHS.values()} == {type(message) for message in WELL_FORMED}


BEFORE_AN_AGREEMENT = (
    m.Greeting, m.MemoryHeads, m.PeopleOffer, m.HiddenContents, m.JointDigests, m.Share, m.TableCommitment, m.Verdict,
)  # fmt: skip
PARSE = """
import resource
from party.wire import codec
from party.wire.v1 import node_pb2 as wire
from protocols.errors import PeerError
from protocols.messages import Share

most = codec.longest_frame(Share, wire.Frame(share=wire.Share(records=1)).SerializeToString())
share = wire.Share(records=1, {heavy})
frame = wire.Frame(share=share).SerializeToString()
assert most - 40 < len(frame) <= most
del share
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    codec.decode(frame, Share)
except PeerError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
HEAVY = {
    "columns without a name": "attributes=[wire.Attribute()] * (most // 2 - 8)",
    "values without a letter": "attributes=[wire.Attribute(values=[''] * (most // 2 - 8))]",
    "groups without a column": "groups=[wire.Group()] * (most // 2 - 8)",
}


def test_no_message_before_an_agreement_is_longer_than_its_bound() -> None:
    for kind in BEFORE_AN_AGREEMENT:
        (entry,) = [entry for entry in codec.ENTRIES if entry.kind is kind]
        assert codec.longest_frame(kind, entry.start) <= 1 << 20


@pytest.mark.parametrize("heavy", few([*HEAVY.values()], len(HEAVY)))
def test_the_heaviest_message_takes_no_more_memory_than_its_bound(heavy: str) -> None:
    """The whole of it, which no second one can come beside: a session reads one message at a time."""
    command = [sys.executable, "-c", PARSE.format(heavy=heavy)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 160 * 1024  # KiB on Linux, bytes on macOS: then it is weaker than it looks
