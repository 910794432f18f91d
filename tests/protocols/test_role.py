"""Roles and the specification of what a transport does."""

import hashlib
import hmac
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import chain, combinations, pairwise, product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.identifiers import MOST_ID_COLUMNS, USUAL_SPELLINGS, IdForm, Spelling, read_form, seen
from protocols.messages import KeptParts, LostAnswers, MaskedPage, ModelDigest, Verdict
from protocols.randomness import canonical, keyed_digest, keyed_uniforms, public_order
from protocols.role import (
    Message,
    Part,
    Phase,
    Progress,
    Receive,
    Role,
    Save,
    Send,
    Transcript,
    as_part,
    exchange,
    receive,
    run_alone,
    run_pair,
    together,
)
from protocols.two_party.memory import resume
from tests.support.binomial import ShareTest, lower_tail, upper_tail
from tests.support.duel import duel


def says(*fields: str) -> Role[str]:
    for text in fields:
        yield Send(Verdict(text))
    return "said"


def hears(count: int) -> Role[list[str]]:
    heard = []
    for _ in range(count):
        heard.append((yield from receive(Verdict)).field)  # noqa: PERF401  # a comprehension cannot yield
    return heard


def talk(kind: Callable[[str], Message], name: str, turns: Sequence[int]) -> Role[list[object]]:
    """Send some messages and receive as many, turn by turn."""
    heard = list[object]()
    for turn, count in enumerate(turns):
        for number in range(count):
            yield Send(kind(f"{name} {turn} {number}"))
        for _ in range(count):
            heard.append(content((yield Receive(Message))))
    return heard


def content(message: Message) -> object:
    (value,) = vars(message).values()
    return value


def page(text: str) -> Message:
    return MaskedPage(text.encode())


@pytest.mark.parametrize("last", [page, Verdict])
@given(*[st.lists(st.integers(1, 3), max_size=4)] * 3)
def test_roles_together_hear_each_its_own_and_wait_no_longer_than_the_longest(
    last: Callable[[str], Message], first: list[int], second: list[int], third: list[int]
) -> None:
    """Also where one of them is two roles together; pages cross as one in each turn, other messages by themselves."""

    def both() -> Role[tuple[list[object], tuple[list[object], list[object]]]]:
        return together(talk(page, "x", first), together(talk(page, "y", second), talk(last, "z", third)))

    transcript = Transcript()
    ours, theirs = run_pair(both(), both(), transcript)
    x, y, z = ([content(kind(f"{name} {turn} {at}")) for turn, count in enumerate(turns) for at in range(count)]
               for name, kind, turns in (("x", page, first), ("y", page, second), ("z", last, third)))  # fmt: skip
    assert ours == theirs == (x, (y, z))
    if last is page:
        assert len(transcript.sent_by_a) == max(map(len, (first, second, third)))


def test_a_page_of_two_roles_together_must_be_as_long_as_ours() -> None:
    def play(texts: Sequence[str]) -> Role[object]:
        return together(talk(page, texts[0], [1]), talk(page, texts[1], [1]))

    with pytest.raises(PeerError, match="shares of another length"):
        run_pair(play(["x", "y"]), play(["x", "longer"]))


def test_who_waits_in_vain_ends_and_progress_needs_no_answer() -> None:
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(hears(1), hears(1))
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(says("a"), hears(2))
    for first in (True, False):
        with pytest.raises(PeerError, match="messages unread"):
            run_pair(says("a", "b"), hears(1)) if first else run_pair(hears(1), says("a", "b"))

    def busy() -> Role[str]:
        assert (yield Progress(Phase.COUNTS, 1, 2)) is None
        yield Send(Verdict("a"))
        assert (yield Progress(Phase.COUNTS, 2, 2)) is None
        return (yield from receive(Verdict)).field

    assert run_pair(busy(), busy()) == ("a", "a")


@pytest.mark.parametrize("role", [says("a"), hears(1)])
def test_a_role_alone_may_neither_send_nor_wait(role: Role[object]) -> None:
    with pytest.raises(PeerError, match="needs a peer"):
        run_alone(role)


def test_a_role_alone_runs_through_its_progress_and_that_of_a_part_becomes_its_part() -> None:
    def busy() -> Role[int]:
        yield Progress(Phase.COUNTS, 1, 1)
        return 7

    assert run_alone(busy()) == 7

    def part() -> Role[str]:
        yield Progress(Phase.COLUMNS, 1, 4)
        yield Progress(Phase.COLUMNS, 0, 0)
        yield Send(Verdict("out"))
        return (yield from receive(Verdict)).field

    outer = Progress(Phase.TREE, 3, 10)
    role = as_part(part(), outer)
    assert next(role) == Progress(Phase.TREE, 3, 10, Progress(Phase.COLUMNS, 1, 4))
    assert role.send(None) == Progress(Phase.TREE, 3, 10, Progress(Phase.COLUMNS, 0, 0))
    assert role.send(None) == Send(Verdict("out"))
    assert role.send(None) == Receive(Verdict)
    with pytest.raises(StopIteration) as stop:
        role.send(Verdict("in"))
    assert stop.value.value == "in"


def test_messages_arrive_in_order_and_show_their_kind_alone() -> None:
    assert run_pair(says("a", "b", "c"), hears(3)) == ("said", ["a", "b", "c"])
    assert run_pair(hears(3), says("a", "b", "c")) == (["a", "b", "c"], "said")
    a, b = run_pair(exchange(Verdict("from a")), exchange(Verdict("from b")))
    assert (a.field, b.field) == ("from b", "from a")
    transcript = Transcript()
    run_pair(says("a", "b"), hears(2), transcript)
    assert transcript == Transcript([Verdict("a"), Verdict("b")], [])

    def careful() -> Role[None]:
        assert (yield Send(Verdict("a"))) is None
        assert (yield Receive(Verdict)) == Verdict("a")

    assert run_pair(careful(), careful()) == (None, None)

    def digest() -> Role[None]:
        yield Send(ModelDigest(b"canary"))

    with pytest.raises(PeerError) as error:
        run_pair(hears(1), digest())
    assert str(error.value) == "expected Verdict from the peer, got ModelDigest"

    class Letter(Message):
        text: str
        more: list[str] = field(default_factory=list)

    assert repr(Letter("canary")) == "<Letter>"
    assert repr(Send(Letter("canary"))) == "Send(message=<Letter>)"


FIRST, SECOND = (3.0, 5.0), (-1.0, 2.0**52)


def asked(told: AnswerNumbers) -> Role[AnswerNumbers]:
    yield from ()
    return told


def saved(role: Role[Any]) -> tuple[list[Save], Any]:
    found: list[Save] = []
    try:
        while True:
            effect = next(role)
            assert isinstance(effect, Save)
            found.append(effect)
    except StopIteration as stop:
        return found, stop.value


def kept(*answers: AnswerNumbers) -> list[bytes]:
    fresh = KeptAnswers()
    return [saved(fresh.ask(asked(each)))[0][0].content for each in answers]


@pytest.mark.parametrize("told", [FIRST, SECOND[::-1], SECOND[:1], ()])
def test_an_answer_other_than_the_one_that_we_remember_ends_the_run(told: AnswerNumbers) -> None:
    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    answers.recalled()
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(told)))


class Memory:
    def __init__(self, answers: list[bytes], opened: int = 0) -> None:
        self._parts = {Part.ANSWERS: answers, Part.COPY: [], Part.OPENED: [b""] * opened}

    def recall(self, part: Part) -> Any:
        return iter(self._parts[part])


def test_the_common_answers_are_those_that_the_shorter_memory_has() -> None:
    for ours, theirs in [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)]:
        every = kept(FIRST, SECOND)
        pair = run_pair(resume(Memory(every[:ours]), b"n"), resume(Memory(every[:theirs]), b"n"))
        for resumed in pair:
            for told in (FIRST, SECOND)[: min(ours, theirs)]:
                assert resumed.answers.recalled() == told
            assert resumed.answers.recalled() is None


def test_what_is_opened_once_is_sent_to_who_has_lost_it_and_saved_when_it_fits() -> None:
    for ours, theirs in [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)]:
        every = kept(FIRST, SECOND)
        left, right = (resume(Memory(every[:each], opened=2), b"n", opens_once=True) for each in (ours, theirs))
        for memory, resumed in zip((ours, theirs), run_pair(left, right), strict=True):
            for number, told in enumerate((FIRST, SECOND)[: max(ours, theirs)]):
                items, known = saved(resumed.answers.ask(asked(()), told.__eq__))
                assert known == told
                assert [item.number for item in items] == ([number] if number >= memory else [])
            assert resumed.answers.recalled() is None


@pytest.mark.parametrize(
    ("lost", "opened", "refusal"),
    [
        ([], 1, DeviationError),
        ([0.5], 1, DeviationError),
        ([np.nan], 1, DeviationError),
        ([3.0], 1, None),
        ([3.0], 0, DisagreementError),
    ],
)
def test_what_a_peer_has_kept_for_us_is_as_many_whole_numbers_as_it_says_and_was_opened_here(
    lost: list[float], opened: int, refusal: type[Exception] | None
) -> None:
    def lying() -> Role[None]:
        yield Send(KeptParts(1, bytes(32), copy=False))
        yield from receive(KeptParts)
        yield Send(Verdict(""))
        yield from receive(Verdict)
        yield Send(LostAnswers(tuple(np.array([number]).tobytes() for number in lost)))

    ends = duel(resume(Memory([], opened), b"n", opens_once=True), lying())
    assert next((type(end.error) for end in ends if end.error), None) is refusal


def test_who_never_opened_what_the_other_has_kept_blames_nobody_and_both_say_why() -> None:
    left, right = (resume(Memory(each), b"n", opens_once=True) for each in ([], kept(FIRST)))
    ends = duel(left, right)
    for end, said in zip(ends, ("the name that it had then", "ask its owner, whose screen names"), strict=True):
        assert isinstance(end.error, DisagreementError)
        assert said in str(end.error)


def test_an_answer_is_kept_before_it_is_used_and_no_foreign_one_is_taken() -> None:
    fresh = KeptAnswers()
    for number, told in enumerate((FIRST, SECOND)):
        ((item,), result) = saved(fresh.ask(asked(told)))
        assert (item.part, item.number, result) == (Part.ANSWERS, number, told)

    def never() -> Role[AnswerNumbers]:
        yield Send(KeptParts(0, b"", copy=False))
        return ()

    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    assert run_alone(answers.ask(never())) == FIRST
    assert saved(answers.ask(asked(SECOND))) == ([], SECOND)  # we remember it, and hear it again
    assert saved(answers.ask(asked(FIRST)))[0][0].number == 2
    answers = KeptAnswers(kept(FIRST), common=1, own=0)
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(FIRST), lambda numbers: numbers == SECOND))
    for theirs in ((SECOND, FIRST), (SECOND,)):
        ends = duel(resume(Memory(kept(FIRST)), b"n"), resume(Memory(kept(*theirs)), b"n"))
        assert any(isinstance(end.error, DeviationError) for end in ends)


@given(st.lists(st.binary(max_size=3), max_size=3), st.lists(st.binary(max_size=3), max_size=3))
def test_two_splits_never_join_to_the_same_bytes(one: list[bytes], other: list[bytes]) -> None:
    assert (canonical(*one) == canonical(*other)) == (one == other)


@given(st.binary(max_size=150), st.lists(st.binary(max_size=150), max_size=3))
def test_many_under_one_key_are_what_each_is_alone(key: bytes, labels: list[bytes]) -> None:
    """Keys longer than a block of the hash are hashed first (RFC 2104)."""
    alone = [int.from_bytes(hmac.digest(key, canonical(label, bytes(4)), "sha256"), "big") % 1000 for label in labels]
    assert list(keyed_uniforms(key, labels, 1000)) == alone


@pytest.mark.parametrize("bound", range(1, 17))
def test_over_all_blocks_every_integer_comes_equally_often(bound: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With blocks of 8 bits: 256 blocks, of which those past the last multiple of the bound are drawn again."""
    monkeypatch.setattr("protocols.randomness._BLOCK_BITS", 8)
    again = b"\0"
    drawn: Counter[int] = Counter()
    rejected = 0
    for block in range(256):
        asked: list[bytes] = []

        def digest(message: bytes, block: int = block, asked: list[bytes] = asked) -> bytes:
            asked.append(message[-4:])
            return bytes([block]) if message.endswith(bytes(4)) else again

        monkeypatch.setattr("protocols.randomness._digest_under", lambda _key, digest=digest: digest)
        (value,) = keyed_uniforms(b"", [b""], bound)
        assert asked == [n.to_bytes(4, "big") for n in range(len(asked))]
        if len(asked) == 1:
            drawn[value] += 1
        else:
            assert value == 0
            rejected += 1
    assert drawn == dict.fromkeys(range(bound), 256 // bound)
    assert rejected == 256 % bound


def test_fields_are_canonical_and_the_public_order_depends_on_the_seed_alone() -> None:
    assert canonical(b"ab", b"") == b"\0\0\0\0\0\0\0\2ab\0\0\0\0\0\0\0\0"
    assert canonical() == b""
    expected = hmac.new(b"key", canonical(b"a", b"bc"), hashlib.sha256).digest()
    assert keyed_digest(b"key", b"a", b"bc") == expected
    for bound in (1, 2, 20, 63 * 20, 10**9, 2**128):
        block = hmac.new(b"key", canonical(b"label", b"\0\0\0\0"), hashlib.sha256).digest()
        assert list(keyed_uniforms(b"key", [b"label"], bound)) == [int.from_bytes(block, "big") % bound]
    for bound in (0, -1, 2**128 + 1):
        with pytest.raises(InputError, match=r"between 1 and 2\*\*128"):
            list(keyed_uniforms(b"key", [b"label"], bound))
    orders = [public_order(seed, 50) for seed in (0, 1, 2, 12)]
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert all(one != other for one, other in pairwise(orders))
    assert public_order(1, 50) == orders[1]

    # Both parties, and later versions, must split alike.
    def place(index: int) -> bytes:
        return hashlib.sha256(b"\0\0\0\0\0\0\0\00217" + (8).to_bytes(8, "big") + index.to_bytes(8, "big")).digest()

    assert list(public_order(17, 9)) == sorted(range(9), key=place)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" 0.AÅİßﬀé́"), max_size=12)
FORMS = st.builds(IdForm, st.just(1), st.frozensets(st.sampled_from(Spelling)))
ALL = frozenset(Spelling)


def normal(text: str, *alike: Spelling) -> str:
    return IdForm(1, frozenset(alike)).joined([text])


def test_what_a_spelling_may_differ_in_is_one_id_with_it_and_two_without() -> None:
    for spelling, one, other in [
        (Spelling.BLANKS, " Ann \t Lee\u00a0", "Ann Lee"), (Spelling.CASE, "STRASSE", "straße"),
        (Spelling.ACCENTS, "é", "e\u0301"), (Spelling.NUMBERS, "42.00", "42"), (Spelling.NUMBERS, "42.", "42"),
        (Spelling.ZEROS, "0042", "42"), (Spelling.ZEROS, "000", "0"),
    ]:  # fmt: skip
        assert normal(one, spelling) == normal(other, spelling)
        without = ALL - {spelling} - ({Spelling.CASE} if spelling is Spelling.ACCENTS else set())
        assert normal(one, *without) != normal(other, *without)


@given(FORMS, TEXTS)
def test_a_normal_form_is_its_own(form: IdForm, text: str) -> None:
    once = form.joined([text])
    assert form.joined([once]) == once


@given(TEXTS)
def test_canonically_equal_texts_are_one_id_whatever_case_they_have(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    for alike in ({Spelling.ACCENTS}, {Spelling.ACCENTS, Spelling.CASE}, ALL):
        assert len({normal(each, *alike) for each in forms}) == 1


@given(st.lists(TEXTS, min_size=2, max_size=4), st.lists(TEXTS, min_size=2, max_size=4))
def test_ids_of_several_columns_are_equal_only_if_all_their_parts_are(one: list[str], other: list[str]) -> None:
    first, second = (IdForm(len(parts), frozenset()) for parts in (one, other))
    seen_one, seen_other = list(map(seen, one)), list(map(seen, other))
    assert (first.joined(one) == second.joined(other)) == (seen_one == seen_other)
    assert first.parts(first.joined(one)) == seen_one


def test_nobody_sees_marks_of_format_and_what_unicode_names_a_filler_or_invisible() -> None:
    """Names and categories are another source than the table; some marks of old scripts are drawn. All else is left."""
    unseen = re.compile(
        "(HANGUL|KHITAN).*FILLER|INVISIBLE|ZERO WIDTH|VARIATION SELECTOR|PATTERN BLANK|NULL NOTEHEAD|VOWEL INHERENT"
        "|GRAPHEME JOINER"
    )
    drawn = re.compile("ARABIC (?!LETTER MARK)|SYRIAC|KAITHI|EGYPTIAN")
    for each in map(chr, range(sys.maxunicode + 1)):
        category, name = unicodedata.category(each), unicodedata.name(each, "")
        if category not in {"Cc", "Cn", "Zs", "Zl", "Zp"}:
            hidden = bool(unseen.search(name)) or (category == "Cf" and not drawn.match(name))
            assert (seen(f"a{each}b") != f"a{each}b") == hidden, name


def test_texts_that_look_alike_are_one_id_in_forms_of_a_few_columns() -> None:
    for text in ("p7\u200b", "\ufeffp7", "p\u00ad7", "p7\x00", "\u200ep7"):
        for form in (IdForm(), IdForm(1, frozenset())):
            assert form.joined([text]) == "p7"
            assert form.all_joined([["p1", text]]) == ["p1", "p7"]
        assert normal("a\u00a0b") == "a b"
    assert [IdForm().joined([text]) for text in (" 042.0 ", "Ann")] == ["042", "Ann"]
    for text in ("4.2", "1e3", "-42.0", "A042", "٤٢", "1.0.0", "0x10", ".0", ""):
        assert normal(text, Spelling.NUMBERS, Spelling.ZEROS) == text
    form = IdForm(2, frozenset())
    parts = ["", ":", "1:", "1:a", "0:", "a", "0:0:"]
    joined = {form.joined([a, b]) for a in parts for b in parts}
    assert len(joined) == len(parts) ** 2
    for alike in chain.from_iterable(combinations(Spelling, size) for size in range(6)):
        form = IdForm(3, frozenset(alike))
        assert read_form(form.names, 3) == form
        assert list(form.names) == sorted(form.names)
    assert IdForm(2).with_more([Spelling.CASE]) == IdForm(2, USUAL_SPELLINGS | {Spelling.CASE})
    for columns in (0, -1, MOST_ID_COLUMNS + 1):
        with pytest.raises(InputError, match="ids must be of 1 to 16 columns"):
            IdForm(columns)
    for names in (["sound"], ["case", "case"], ["CASE"]):
        with pytest.raises(InputError, match="ids must be a list of some of accents, blanks, case, numbers, zeros"):
            read_form(names, 1)


@given(st.lists(TEXTS | st.text("a0A.\n", max_size=4), max_size=4), FORMS)
def test_many_ids_have_the_forms_that_each_of_them_has(texts: list[str], form: IdForm) -> None:
    assert form.all_joined([texts]) == [form.joined([text]) for text in texts]


def exact_upper(trials: int, chance: Fraction, hits: int) -> Fraction:
    return sum(
        (comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(max(hits, 0), trials + 1)),
        Fraction(0),
    )


def test_tails_are_the_exact_sums() -> None:
    for trials, chance in product(
        [1, 2, 7, 40], [Fraction(9, 20), Fraction(1, 100), Fraction(9, 10), Fraction(0), Fraction(1)]
    ):
        for hits in range(-1, trials + 2):
            exact = float(exact_upper(trials, chance, hits))
            assert upper_tail(trials, chance, hits) == pytest.approx(exact, rel=1e-10, abs=1e-14)
            assert lower_tail(trials, chance, hits - 1) == pytest.approx(1 - exact, rel=1e-10, abs=1e-14)


def test_acceptance_is_as_wide_as_the_alarm_allows_far_out_and_at_the_claim_itself() -> None:
    assert upper_tail(1000, Fraction(1, 2), 600) == pytest.approx(1.3642320780330344e-10, rel=1e-9)
    assert float(exact_upper(1000, Fraction(1, 2), 600)) == pytest.approx(1.3642320780330344e-10, rel=1e-12)
    check = ShareTest(200, Fraction(9, 20), 0.01)
    assert (
        exact_upper(200, check.chance, check.high + 1) <= Fraction("0.005") < exact_upper(200, check.chance, check.high)
    )
    lower = 1 - exact_upper(200, check.chance, check.low)
    assert lower <= Fraction("0.005") < 1 - exact_upper(200, check.chance, check.low + 1)
    assert check.accepts(check.low)
    assert check.accepts(check.high)
    assert not check.accepts(check.low - 1)
    assert not check.accepts(check.high + 1)
    exact = exact_upper(200, check.chance, check.high + 1) + 1 - exact_upper(200, check.chance, check.low)
    assert check.power(check.chance) == pytest.approx(float(exact), rel=1e-9)
