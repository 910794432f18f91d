"""A curious partner of an alignment: what it may try on what crosses, on the counts, and by lists of its own choice.

Last, one that deviates: it brings rows that are no code words. Of each id that it knows to be common it flips one bit:
what comes back shows one bit of the key holder's secret choices, and who has all of these tries any id at home.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from secrets import token_bytes

import numpy as np
import pytest

from party.files import locked_folder
from party.node.aligning import ListRules
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.settings.party import AlignmentBounds
from protocols.errors import DisagreementError
from protocols.messages import (
    ChoicePage,
    CodePage,
    CommonRows,
    HintPage,
    IdList,
    MaskedPage,
    OpenedPage,
    ValuesPage,
    Verdict,
)
from protocols.oblivious import prf
from protocols.oblivious.bits import Bytes
from protocols.oblivious.prf import CODE_BITS, ask_values, digests_of, give_key, place, places_of, table_size
from protocols.randomness import keyed_digest
from protocols.role import Message, run_pair
from protocols.two_party.alignment import align
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_known_answers import off
from tests.support.duel import duel
from tests.support.examples import few
from tests.support.lists import NONCES, Judge, Match, listing, noting, numbered


def cut(messages: Sequence[Message], *kinds: type[Message]) -> Iterator[bytes]:
    """Yield all bytes of messages of these kinds."""
    for message in messages:
        if isinstance(message, kinds):
            yield from (value for value in vars(message).values() if isinstance(value, bytes))


def test_no_hash_of_an_id_crosses() -> None:
    """Nothing that Bob can compute of an id without Alice's chance is in what she sends, whichever of both asks."""
    for last in (6, 5):
        ids, theirs = ([f"the person {number}" for number in each] for each in (range(4), range(2, last)))
        match = Match(listing("alice", ids), listing("bob", theirs), judges=(Judge(Fraction(1, 4)), Judge()))
        crossed = b"".join(cut(match.transcript.sent_by_a, Message))
        for each in ids:
            guesses = [each.encode(), keyed_digest(NONCES, each.encode()), digests_of(NONCES, [each]).tobytes()]
            guesses += [hashlib.new(name, each.encode()).digest() for name in ("md5", "sha1", "sha256", "sha512")]
            assert not any(guess in crossed for guess in guesses)


def bits(data: bytes, width: int) -> Bytes:
    rows = np.frombuffer(data, np.uint8)
    return np.unpackbits(rows[: len(rows) // width * width].reshape(-1, width), axis=1)


def test_who_counts_sees_the_same_whichever_of_its_ids_are_common() -> None:
    """Of Alice's lists of two among five, or three: all that Bob sees is uniform, but two shares that are opened.

    False alarm 10**-9; the control are code words that are not hidden by streams.
    """
    sent: dict[type[Message], list[bytes]] = {HintPage: [], MaskedPage: [], CodePage: []}
    for pair in few(list(combinations(numbered(range(5)), 2)), 4):
        match = Match(listing("alice", pair), listing("bob", numbered(range(5))), count_only=True)
        assert match.overlaps[1].both == 2
        lengths = [sum(map(len, cut(match.transcript.sent_by_a, kind))) for kind in (ChoicePage, HintPage, OpenedPage)]
        assert lengths[1:] == [168 * 4096, 8]
        for kind, parts in sent.items():
            parts.extend(cut(match.transcript.sent_by_b if kind is CodePage else match.transcript.sent_by_a, kind))
    views = [bits(b"".join(sent[HintPage]), 8), bits(b"".join(sent[MaskedPage]), 8), bits(b"".join(sent[CodePage]), 56)]
    assert off(*views) == []
    bare = prf.code_words(b"s", digests_of(b"s", numbered(range(5))))
    assert off(bits(np.tile(bare, (1000, 1)).tobytes(), 56)) != []


def test_values_of_whom_the_receiver_has_not_asked_for_cannot_be_worked_out() -> None:
    """Bob, whose list is as long, receives; of all that he can key himself for a stranger of Alice's nothing is there.

    The control is whom both list: his own value is among hers.
    """
    match = Match(listing("alice", numbered(range(6))), listing("bob", numbered(range(4, 10))))
    values = b"".join(cut(match.transcript.sent_by_a, ValuesPage))
    rows = {values[start : start + 10] for start in range(0, len(values), 10)}
    assert len(rows) == 18
    assert off(bits(values, 10)) == []
    names = {bytes(each) for each in cut(match.transcript.sent_by_b, CommonRows)}
    assert [sum(byte.bit_count() for byte in each) for each in names] == [2]
    guesses = [prf._hashed(b"s", np.zeros((1, 7), np.uint64), np.array([place]), way).tobytes()[:10]
               for place in range(60) for way in range(3)]  # fmt: skip
    assert not rows & set(guesses)


def test_where_the_list_is_in_the_table_is_new_in_each_session() -> None:
    """Places are those of digests that are keyed by the session: no place of one is that of another."""
    digests = [digests_of(name, numbered(range(300))) for name in (b"one", b"two")]
    same = [(places_of(each, 4096) == places_of(digests[0], 4096)).mean() for each in digests]
    assert same[0] == 1
    assert same[1] < 0.02


UNTOLD = (IdList, Verdict)


@contextmanager
def rules(folder: Path, bounds: AlignmentBounds) -> Iterator[ListRules]:
    """Yield what Alice objects to, by these bounds and her ledger."""
    folder.mkdir(mode=0o700)
    with locked_folder(folder) as held, open_ledger(held, bytes(32)) as ledger:
        yield ListRules("d", bounds, PeerEntries(ledger, PeerName("bob", "its certificate")))


def ask(guesses: list[str], judge: ListRules) -> int:
    """Have Bob count who of his list is on Alice's, which has two people; return the number, or what ended it."""
    alice, bob = listing("alice", numbered(range(2))), listing("bob", guesses)
    nonces = token_bytes(64)
    hers, his = (
        align(own, peer, nonces, rules, count_only=True)
        for own, peer, rules in ((alice, "bob", judge), (bob, "alice", Judge()))
    )
    ends = duel(noting(hers, judge.note), his)
    if ends[1].result is None:
        assert all(isinstance(message, UNTOLD) for message in ends[0].sent)
        raise ends[0].error or AssertionError
    return ends[1].result.overlap.both


def test_lists_that_leave_out_one_person_each_read_who_is_listed_and_few_are_allowed(tmp_path: Path) -> None:
    """With `most_alignments` of 9 all are read; with 3 two are, and the fourth list ends before anything leaves.

    The same list again is one more: nobody can see whether it is the same.
    """
    people = numbered(range(4))

    def lists() -> Iterator[list[str]]:
        yield people
        for left_out in people:
            yield [person for person in people if person != left_out]

    with rules(tmp_path / "many", AlignmentBounds(most_alignments=9)) as judge:
        whole, *others = (ask(each, judge) for each in lists())
        read = [person for person, count in zip(people, others, strict=True) if count != whole]
        assert read == numbered(range(2))
    with rules(tmp_path / "few", AlignmentBounds(most_alignments=3)) as judge:
        tried = lists()
        assert [ask(next(tried), judge) for _ in range(3)] == [2, 1, 1]
        for _ in range(2):
            with pytest.raises(DisagreementError, match="most_alignments allows 3 over the life"):
                ask(next(tried), judge)
        with pytest.raises(DisagreementError, match="of the same lists, too"):
            ask(people, judge)


def test_one_real_id_among_invented_ones_reads_one_person_per_list_and_every_list_is_counted(tmp_path: Path) -> None:
    """Nobody else on the list can be hers, so the number is whether this one is; `least_overlap` bounds names alone."""
    invented = [f"nobody {number}" for number in range(40)]
    with rules(tmp_path / "usual", AlignmentBounds()) as judge:
        assert judge.bounds.most_alignments == 3
        assert [ask([person, *invented], judge) for person in ("p0", "p7", "p1")] == [1, 0, 1]
        for person in ("p2", "p3"):
            with pytest.raises(DisagreementError, match="most_alignments allows 3 over the life"):
                ask([person, *invented], judge)
    with rules(tmp_path / "none", AlignmentBounds(most_alignments=0)) as judge, pytest.raises(DisagreementError):
        ask(["p0", *invented], judge)


def test_a_list_of_all_ids_that_there_can_be_reads_who_is_listed_and_is_too_long(tmp_path: Path) -> None:
    """Who lists everybody finds all of ours; bounded by `most_ids` it hears of none, before anything leaves."""
    everybody = numbered(range(50))
    with rules(tmp_path / "any", AlignmentBounds()) as judge:
        assert ask(everybody, judge) == 2
    with (
        rules(tmp_path / "few", AlignmentBounds(most_ids=49)) as judge,
        pytest.raises(DisagreementError, match="the peer brings 50 ids"),
    ):
        ask(everybody, judge)


def test_two_lists_that_differ_by_one_person_share_no_value() -> None:
    """Of a list and the same without one person, two sets of values come back that have nothing in common.

    Then only the numbers can be subtracted, and `[agree] most_alignments` bounds how many there are.
    """
    alice = listing("alice", numbered(range(3)))
    seen: list[set[bytes]] = []
    for each in (range(5), range(1, 5), range(5)):
        values = b"".join(cut(Match(alice, listing("bob", numbered(each))).transcript.sent_by_a, ValuesPage))
        seen.append({values[start : start + 10] for start in range(0, len(values), 10)})
    assert all(len(each) == 9 for each in seen)
    assert not any(one & other for one, other in combinations(seen, 2))


KNOWN = [f"known {number}" for number in range(CODE_BITS)]
STRANGERS = [f"stranger {number}" for number in range(50)]


@pytest.mark.parametrize("deviating", [True, False])
def test_rows_with_one_bit_off_show_the_choices_bit_by_bit_and_code_words_do_not(
    deviating: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = meet(4)
    session, size = one.sender.session, table_size(len(KNOWN))
    digests = digests_of(session, KNOWN)
    places = places_of(digests, size)
    owners, ways = place(places, size)
    flips = np.zeros((size, CODE_BITS // 64), np.uint64)
    at = places[np.arange(CODE_BITS), ways]
    flips[at, np.arange(CODE_BITS) // 64] = np.uint64(1) << (np.arange(CODE_BITS) % 64).astype(np.uint64)
    honest, rows = prf.code_words, {}
    hashed = prf._hashed

    def kept(session: bytes, own: np.ndarray, *rest: object) -> np.ndarray:
        rows["own"] = own
        return hashed(session, own, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(prf, "_hashed", kept)
        if deviating:
            patch.setattr(prf, "code_words", lambda *words: honest(*words) ^ flips)
        role = give_key(other, size, Chance(2))
        _, key = run_pair(ask_values(one, digests, owners, ways, Chance(1)), role)
    with_strangers = digests_of(session, [*KNOWN, *STRANGERS])
    all_places = places_of(with_strangers, size)
    values = key.values(with_strangers, all_places)
    shown, strangers = (
        {value.tobytes() for value in each.reshape(-1, prf.VALUE_BYTES)}
        for each in (values[:CODE_BITS], values[CODE_BITS:])
    )
    read = np.zeros(CODE_BITS, bool)
    for bit in range(CODE_BITS):
        where = at[bit : bit + 1]
        flipped = hashed(session, rows["own"][where] ^ flips[where], where, ways[bit : bit + 1])
        read[bit] = flipped.tobytes() in shown
    choices = np.packbits(read, bitorder="little").view(np.uint64)
    assert (choices == key.choices).all() == deviating
    words = honest(session, with_strangers[CODE_BITS:])
    tried = 0
    for number, word in enumerate(words):
        where = all_places[CODE_BITS + number, :1]
        if owners[where[0]] < 0:
            continue
        base = honest(session, digests[owners[where]])[0] ^ (flips[where[0]] if deviating else np.uint64(0))
        guess = hashed(session, rows["own"][where] ^ ((base ^ word) & choices), where, 0)
        tried += guess.tobytes() in strangers
    assert (tried > 0) == deviating
