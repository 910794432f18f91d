"""Joint prediction by naive Bayes gives what the whole model says of the joined rows, and the class alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.contest import Contest
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    HiddenContents,
    JointDigests,
    MaskedPage,
    RowsAsked,
    RowShares,
    RowsShare,
    SeedHints,
    Verdict,
)
from protocols.role import Message, Transcript, run_pair
from protocols.two_party import ways
from protocols.two_party.prediction import Recall
from tests.support.examples import at_most
from tests.support.models import bayes_models, bayes_of
from tests.support.predictions import Together, labels

MODEL = bayes_of((2, 3, 2, 3), 3, seed=5)
CODES = np.random.default_rng(5).integers(-1, 3, (12, 4)).astype(np.int16)

COMPARED: set[type[Message]] = {RowsShare, HiddenContents, JointDigests, Verdict}


@st.composite
def meetings(draw: st.DrawFn) -> Together:
    model = draw(bayes_models())
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    codes = np.array(draw(st.lists(row, min_size=1, max_size=6)), dtype=np.int16)
    return Together(model, codes, draw(st.sampled_from(["initiator", "responder", "both"])))


@settings(max_examples=at_most(30), deadline=None)
@given(meetings())
def test_it_equals_local_prediction_on_the_joined_rows_for_whoever_receives(meeting: Together) -> None:
    alice, bob = run_pair(*meeting.roles())
    for receives, answers in (("initiator", alice), ("responder", bob)):
        if meeting.receiver not in (receives, "both"):
            assert answers is None
            continue
        assert labels(answers) == meeting.model.predict(meeting.codes).tolist()


def test_many_rows_are_classified_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    contest = Contest(MODEL, "alice")
    monkeypatch.setattr(ways, "TRANSFERS_AT_ONCE", 5 * contest.pairs * contest.width)
    transcript = Transcript()
    alice, _ = run_pair(*Together(MODEL, CODES).roles(), transcript)
    assert labels(alice) == MODEL.predict(CODES).tolist()
    assert sum(isinstance(message, RowShares) for message in transcript.sent_by_b) == 3


def test_only_what_is_listed_crosses_and_the_other_side_hears_no_share() -> None:
    transcript = Transcript()
    run_pair(*Together(MODEL, CODES).roles(), transcript)
    usual = {RowsShare, HiddenContents, JointDigests, Verdict, BaseOffer, BasePoints, SeedHints}
    assert {type(m) for m in transcript.sent_by_a} == usual | {RowsAsked, ChoicePage, MaskedPage}
    assert {type(m) for m in transcript.sent_by_b} == usual | {ChoicePage, MaskedPage, RowShares}


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


def flipped(page: ChoicePage) -> ChoicePage:
    return ChoicePage(bytes([page.matrix[0] ^ 1]) + page.matrix[1:], page.check)


CHANGES: dict[str, tuple[str, type[Message], Callable[[Any], Message], type[PeerError]]] = {
    "choices too few": ("a", ChoicePage, lambda m: ChoicePage(m.matrix[:-64], m.check), PeerError),
    "the asker's choices that do not agree": ("a", ChoicePage, flipped, DeviationError),
    "the answerer's choices that do not agree": ("b", ChoicePage, flipped, DeviationError),
    "the asker's words too few": ("a", MaskedPage, lambda m: MaskedPage(m.words[8:]), PeerError),
    "the answerer's words too many": ("b", MaskedPage, lambda m: MaskedPage(m.words * 2), PeerError),
    "answers too few": ("b", RowShares, lambda m: RowShares(m.shares[8:]), PeerError),
    "answers too many": ("b", RowShares, lambda m: RowShares(m.shares * 2), PeerError),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_hostile_peer_sends_ends_in_an_error_about_the_peer(name: str) -> None:
    sender, kind, change, error = CHANGES[name]

    def tamper(who: str, _: int, message: Message) -> Message:
        return change(message) if who == sender and isinstance(message, kind) else message

    ends = Together(MODEL, CODES, tamper=tamper).play()
    assert isinstance(ends[sender == "a"].error, error)


def test_shares_of_classes_are_refused_and_one_class_needs_no_comparison() -> None:
    with pytest.raises(InputError, match="would tell the other side's columns"):
        run_pair(*Together(MODEL, CODES, probabilities=True).roles())
    only = replace(MODEL, prior=np.array([0.0, -np.inf, -np.inf]))
    alice, _ = run_pair(*Together(only, CODES).roles())
    assert labels(alice) == [0] * len(CODES)
    # Of three classes two bits are shared: a side that turns over both makes 3 of 0.
    turned = lambda who, _, message: (  # noqa: E731
        RowShares(bytes(byte ^ 255 for byte in message.shares)) if isinstance(message, RowShares) else message
    )
    end, _ = Together(MODEL, CODES, tamper=turned).play()
    assert isinstance(end.error, DeviationError)
