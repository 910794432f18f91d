"""Joint prediction by naive Bayes gives what the whole model says of the joined rows, and the class alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.tree import Leaf, Tree
from protocols.messages import (
    CiphertextPage,
    HiddenContents,
    HolderKey,
    JointDigests,
    RowsAsked,
    RowsShare,
    SealedAnswers,
    SealedComparisons,
    Verdict,
)
from protocols.role import Message, Transcript, run_pair
from protocols.two_party import bayes_test
from protocols.two_party.prediction import Recall
from tests.support.models import bayes_models, bayes_of
from tests.support.parties import make_local
from tests.support.predictions import PARTIES, Together, labels

MODEL = bayes_of((2, 3, 2, 3), 3, seed=5)
CODES = np.random.default_rng(5).integers(-1, 3, (12, 4)).astype(np.int16)

COMPARED: set[type[Message]] = {RowsShare, HiddenContents, JointDigests, Verdict}


def held_out(owners: tuple[str, ...] = ("bob",)) -> bayes_test.TestRecords:
    schema = replace(MODEL.schema, class_owners=owners)
    return bayes_test.TestRecords(make_local(PARTIES, "bob"), schema, CODES[:0].astype(np.uint8), "alice")


@pytest.mark.parametrize(("owners", "bits"), [(("bob",), 3), (("alice", "bob"), 3), (("alice",), 9)])
def test_who_has_won_takes_a_bit_for_each_place_and_class_where_the_key_holder_alone_holds_it(
    owners: tuple[str, ...], bits: int
) -> None:
    records = held_out(owners)
    assert records.layout(records.contest(MODEL)).bits == bits


def test_classes_are_compared_of_no_model_but_naive_bayes() -> None:
    with pytest.raises(InputError, match="test naive Bayes alone"):
        held_out().contest(Tree(MODEL.schema, Leaf((1, 0, 0), 0)))


@st.composite
def meetings(draw: st.DrawFn) -> Together:
    model = draw(bayes_models())
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    codes = np.array(draw(st.lists(row, min_size=1, max_size=6)), dtype=np.int16)
    receiver = draw(st.sampled_from(["initiator", "responder", "both"]))
    return Together(model, codes, receiver, cipher=draw(st.sampled_from(["curve", "paillier"])))


@settings(max_examples=30, deadline=None)
@given(meetings())
def test_it_equals_local_prediction_on_the_joined_rows_by_either_cipher_for_whoever_receives(meeting: Together) -> None:
    alice, bob = run_pair(*meeting.roles())
    for receives, answers in (("initiator", alice), ("responder", bob)):
        if meeting.receiver not in (receives, "both"):
            assert answers is None
            continue
        assert labels(answers) == meeting.model.predict(meeting.codes).tolist()


def test_many_rows_travel_in_several_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 66 * 200)
    transcript = Transcript()
    alice, _ = run_pair(*Together(MODEL, CODES).roles(), transcript)
    assert labels(alice) == MODEL.predict(CODES).tolist()
    assert sum(isinstance(message, SealedComparisons) for message in transcript.sent_by_b) > 3


def test_only_what_is_listed_crosses_and_the_other_side_gets_ciphertexts_alone() -> None:
    transcript = Transcript()
    run_pair(*Together(MODEL, CODES).roles(), transcript)
    assert {type(m) for m in transcript.sent_by_a} == {
        RowsShare,
        HiddenContents,
        JointDigests,
        Verdict,
        RowsAsked,
        HolderKey,
        CiphertextPage,
    }
    assert {type(m) for m in transcript.sent_by_b} == {
        RowsShare,
        HiddenContents,
        JointDigests,
        Verdict,
        SealedComparisons,
        SealedAnswers,
    }


def test_what_a_receiver_knows_is_not_asked_and_comes_from_memory() -> None:
    expected = MODEL.predict(CODES).tolist()
    known = {"p001": (expected[1] + 1) % 3, "p003": expected[3]}
    alice, _ = run_pair(*Together(MODEL, CODES, recalls={"alice": Recall(known)}).roles())
    assert alice is not None
    assert labels(alice) == [*expected[:1], known["p001"], *expected[2:]]
    assert alice.remembered == 2
    everyone = Recall({f"p{row:03}": 0 for row in range(len(CODES))})
    alice, _ = run_pair(*Together(MODEL, CODES, recalls={"alice": everyone}).roles())
    assert labels(alice) == [0] * len(CODES)


def test_shares_of_the_classes_are_refused_since_they_would_tell_the_other_sides_columns() -> None:
    with pytest.raises(InputError, match="would tell the other side's columns"):
        run_pair(*Together(MODEL, CODES, probabilities=True).roles())


CHANGES: dict[str, tuple[str, type[Message], Callable[[Any], Message], type[PeerError]]] = {
    "a page too short": ("a", CiphertextPage, lambda m: CiphertextPage(m.ciphertexts[66:]), PeerError),
    "no points": ("a", CiphertextPage, lambda m: CiphertextPage(bytes(len(m.ciphertexts))), DeviationError),
    "comparisons too few": ("b", SealedComparisons, lambda m: SealedComparisons(m.ciphertexts[66:]), PeerError),
    "comparisons too many": ("b", SealedComparisons, lambda m: SealedComparisons(m.ciphertexts * 2), PeerError),
    "no comparisons": ("b", SealedComparisons, lambda m: SealedComparisons(bytes(len(m.ciphertexts))), DeviationError),
    "answers too few": ("b", SealedAnswers, lambda m: SealedAnswers(m.ciphertexts[66:]), PeerError),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_hostile_peer_sends_ends_in_an_error_about_the_peer(name: str) -> None:
    sender, kind, change, error = CHANGES[name]

    def tamper(who: str, _: int, message: Message) -> Message:
        return change(message) if who == sender and isinstance(message, kind) else message

    ends = Together(MODEL, CODES, tamper=tamper).play()
    assert isinstance(ends[sender == "a"].error, error)


def test_answers_that_no_order_of_the_classes_gives_end_the_run() -> None:
    """Each class beats the next and the last the first, where the first place is in the middle: in a third of rows."""
    codes = np.tile(CODES, (5, 1))

    def tamper(who: str, _: int, message: Message) -> Message:
        if who != "b" or not isinstance(message, SealedComparisons):
            return message
        width = len(message.ciphertexts) // 3 // len(codes)
        starts = range(0, len(message.ciphertexts), width)
        pairs = [message.ciphertexts[start : start + width] for start in starts]
        return SealedComparisons(b"".join(pairs[pair - pair % 3 + (0, 1, 0)[pair % 3]] for pair in range(len(pairs))))

    end, _ = Together(MODEL, codes, tamper=tamper).play()
    assert isinstance(end.error, DeviationError)
