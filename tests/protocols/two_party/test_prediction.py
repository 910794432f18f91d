"""Joint prediction gives what the whole tree says of the joined rows, to whom it shall, and nothing to the other."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.learning.routes import Routes
from protocols.learning.tree import Tree
from protocols.messages import (
    CiphertextPage,
    HiddenContents,
    HolderKey,
    JointDigests,
    RowsAsked,
    RowsShare,
    SealedAnswers,
    Verdict,
)
from protocols.role import Message, Transcript, run_pair
from protocols.tables.table import Rows
from protocols.two_party.agreement import Objection
from protocols.two_party.prediction import MOST_ROWS, Recall, SharedRows, predict_together
from tests.support.duel import Tamper, duel
from tests.support.models import chain, models, small_model
from tests.support.predictions import Together, labels

ROWS = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [2, 2, 1], [-1, 0, 0], [1, 0, -1], [0, 7, 1]], dtype=np.int16)

COMPARED: set[type[Message]] = {RowsShare, HiddenContents, JointDigests, Verdict}


@st.composite
def meetings(draw: st.DrawFn) -> Together:
    tree = draw(models())
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in tree.schema.attributes))
    codes = np.array(draw(st.lists(row, min_size=1, max_size=6)), dtype=np.int16)
    return Together(
        tree,
        codes,
        receiver=draw(st.sampled_from(["initiator", "responder", "both"])),
        cipher=draw(st.sampled_from(["curve", "paillier"])),
        probabilities=draw(st.booleans()),
    )


@settings(max_examples=40, deadline=None)
@given(meetings())
def test_it_equals_local_prediction_on_the_joined_rows_by_either_cipher_for_whoever_receives(meeting: Together) -> None:
    alice, bob = run_pair(*meeting.roles())
    for receives, answers in (("initiator", alice), ("responder", bob)):
        if meeting.receiver not in (receives, "both"):
            assert answers is None
            continue
        assert answers is not None
        assert labels(answers) == meeting.model.predict(meeting.codes).tolist()
        if meeting.probabilities:
            shares = [answers.outcomes[position].shares or () for position in answers.positions]
            np.testing.assert_allclose(np.array(shares, dtype=float), meeting.model.shares(meeting.codes))


@pytest.mark.parametrize("cipher", ["curve", "paillier"])
def test_weights_of_several_digits_are_added(cipher: str) -> None:
    """A chain of 40 splits has 41 leaves of other shares, so that differences of positions pass 32."""
    tree, rng = chain(40), np.random.default_rng(1)
    codes = rng.choice([0, 1], p=[0.05, 0.95], size=(20, 40)).astype(np.int16)
    alice, _ = run_pair(*Together(tree, codes, cipher=cipher, probabilities=True).roles())
    assert labels(alice) == tree.predict(codes).tolist()


def test_many_rows_travel_in_several_pages_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 66 * 13)
    codes = np.tile(ROWS, (6, 1))
    transcript = Transcript()
    alice, _ = run_pair(*Together(small_model(), codes).roles(), transcript)
    assert labels(alice) == small_model().predict(codes).tolist()
    assert sum(isinstance(message, CiphertextPage) for message in transcript.sent_by_a) == 21
    assert sum(isinstance(message, SealedAnswers) for message in transcript.sent_by_b) == 3


def test_only_what_is_listed_crosses_and_the_other_side_gets_ciphertexts_alone() -> None:
    transcript = Transcript()
    run_pair(*Together(small_model(), ROWS).roles(), transcript)
    assert {type(m) for m in transcript.sent_by_a} == COMPARED | {RowsAsked, HolderKey, CiphertextPage}
    assert {type(m) for m in transcript.sent_by_b} == COMPARED | {SealedAnswers}


def test_of_equal_rows_no_commitment_and_no_ciphertext_is_equal() -> None:
    transcript = Transcript()
    run_pair(*Together(small_model(), np.tile(ROWS[:1], (30, 1))).roles(), transcript)
    (asked,) = (m.commitments for m in transcript.sent_by_a if isinstance(m, RowsAsked))
    (page,) = (m.ciphertexts for m in transcript.sent_by_a if isinstance(m, CiphertextPage))
    assert len({asked[start : start + 32] for start in range(0, len(asked), 32)}) == 30
    assert len({page[start : start + 66] for start in range(0, len(page), 66)}) == len(page) / 66


def test_what_a_receiver_knows_is_not_asked_and_comes_from_memory() -> None:
    transcript = Transcript()
    meeting = Together(small_model(), ROWS, recalls={"alice": Recall({"p001": 0, "p003": 1})})
    alice, _ = run_pair(*meeting.roles(), transcript)
    assert alice is not None
    expected = meeting.model.predict(ROWS).tolist()
    asked_of = [row for row in range(len(ROWS)) if row not in (1, 3)]
    assert [labels(alice)[row] for row in asked_of] == [expected[row] for row in asked_of]
    assert (alice.remembered, alice.positions[1], alice.positions[3]) == (2, 0, 1)
    (page,) = (m.ciphertexts for m in transcript.sent_by_a if isinstance(m, CiphertextPage))
    assert len(page) == 66 * 6 * len(asked_of)


def test_who_objects_to_answering_ends_both_before_a_key_leaves() -> None:
    recall = Recall(judge=lambda asked: Objection("people", f"{len(asked)} were answered before"))
    ends = Together(small_model(), ROWS, recalls={"bob": recall}).play()
    for end in ends:
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "people"
        assert {type(message) for message in end.sent} <= COMPARED | {RowsAsked}
    assert f"{len(ROWS)} were answered before" in str(ends[1].error)


@pytest.mark.parametrize("people", [(), ("a",)])
def test_rows_without_people_are_refused(people: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        SharedRows(small_model(), people, np.zeros((0, 3), dtype=np.int16))


def test_more_rows_than_fit_a_message_are_refused() -> None:
    people: Any = range(MOST_ROWS + 1)
    with pytest.raises(InputError, match="262,144"):
        SharedRows(small_model(), people, np.zeros((MOST_ROWS + 1, 3), dtype=np.int16))


def test_a_tree_without_a_split_needs_no_bits() -> None:
    tree = Tree(small_model().schema, small_model().root.children[2])  # type: ignore[union-attr]
    alice, _ = run_pair(*Together(tree, ROWS).roles())
    assert labels(alice) == [0] * len(ROWS)


def on(sender: str, kind: type[Message], change: Callable[[Any], Message]) -> Tamper:
    """Change every message of this kind from this side on its way."""
    return lambda who, _, message: change(message) if who == sender and isinstance(message, kind) else message


CHANGES: dict[str, tuple[str, type[Message], Callable[[Any], Message], type[PeerError]]] = {
    "a page too short": ("a", CiphertextPage, lambda m: CiphertextPage(m.ciphertexts[66:]), PeerError),
    "a page too long": ("a", CiphertextPage, lambda m: CiphertextPage(m.ciphertexts * 2), PeerError),
    "half a point": ("a", CiphertextPage, lambda m: CiphertextPage(m.ciphertexts[:-1]), PeerError),
    "no points": ("a", CiphertextPage, lambda m: CiphertextPage(bytes(len(m.ciphertexts))), DeviationError),
    "commitments too few": ("a", RowsAsked, lambda m: RowsAsked(m.commitments[32:]), PeerError),
    "no key": ("a", HolderKey, lambda m: HolderKey(b"\x05" * 33), PeerError),
    "answers too few": ("b", SealedAnswers, lambda m: SealedAnswers(m.ciphertexts[66:]), PeerError),
    "answers too many": ("b", SealedAnswers, lambda m: SealedAnswers(m.ciphertexts * 2), PeerError),
    "answers that are no points": ("b", SealedAnswers, lambda m: SealedAnswers(bytes(len(m.ciphertexts))), PeerError),
    "other people": ("b", JointDigests, lambda m: JointDigests(bytes(64)), DisagreementError),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_hostile_peer_sends_ends_in_an_error_of_one_line_about_the_peer(name: str) -> None:
    sender, kind, change, error = CHANGES[name]
    ends = Together(small_model(), ROWS, tamper=on(sender, kind, change)).play()
    end = ends[1] if sender == "a" else ends[0]
    assert isinstance(end.error, error)
    assert len(str(end.error).splitlines()) == 1


@pytest.mark.parametrize("cipher", ["curve", "paillier"])
def test_an_answer_that_is_no_outcome_is_a_deviation(cipher: str) -> None:
    """As of one who answers by a tree of more outcomes; of Paillier only what fits an outcome's bits comes through."""
    asked = Together(small_model(), ROWS, cipher=cipher, probabilities=True)
    ends = duel(predict_together(asked.run("alice", "bob")), predict_together(asked.run("bob", "alice")))
    assert ends[0].error is None

    def wrong(routes: Routes, codes: Rows) -> tuple[Any, Any]:
        return np.full(len(codes), 7), np.zeros((len(codes), routes.edges), dtype=np.int32)

    with patch.object(
        Routes, "weights", lambda routes, codes: (np.full(len(codes), 7), np.zeros((len(codes), 6), int))
    ):
        ends = duel(predict_together(asked.run("alice", "bob")), predict_together(asked.run("bob", "alice")))
    assert isinstance(ends[0].error, DeviationError)


def test_a_receiver_that_encrypts_weights_reads_no_more_than_an_outcomes_bits_by_paillier() -> None:
    """With bits of 2, 4, 8, ... it would read which edges count; the slot and its mask leave the lowest digit alone."""
    meeting = Together(small_model(), ROWS, cipher="paillier")
    bits = Routes.bits
    with patch.object(Routes, "bits", lambda routes, codes: bits(routes, codes).astype(int) << np.arange(1, 7)):
        ends = meeting.play()
    answers = ends[0].result
    assert answers is None or all(0 <= position <= 1 for position in answers.positions)
