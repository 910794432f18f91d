"""Joint prediction gives what the whole model says of the joined rows, to whom it shall, and nothing to the other.

What each side of a joint prediction sees is what a simulator makes: the asker's of classes, the other's of sizes.

A simulator plays the side that it simulates, with that side's own rows and chance, and knows nothing of the other's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.model import Model
from protocols.learning.routes import Contest, Routes
from protocols.learning.tree import Tree
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CorrectionPage,
    HiddenContents,
    JointDigests,
    MaskedPage,
    RowsAsked,
    RowShares,
    RowsShare,
    SeedHints,
    Verdict,
)
from protocols.oblivious.bits import WORD, pack, unpack
from protocols.oblivious.extension import Transfers
from protocols.oblivious.gates import Gates, Triples
from protocols.role import Message, Role, Transcript, run_pair
from protocols.tables import Rows
from protocols.two_party import ways
from protocols.two_party.objections import Objection
from protocols.two_party.prediction import (
    MOST_ROWS,
    NO_RECALL,
    Answers,
    PredictionRun,
    Recall,
    SharedRows,
    predict_together,
)
from protocols.two_party.ways import way_of
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest, replay
from tests.support.examples import at_most
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.meeting import on
from tests.support.models import bayes_models, bayes_of, chain, models, small_model
from tests.support.parties import Case, make_local, make_terms
from tests.support.simulators import simulate_page

PARTIES = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 10),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)
NOT_OURS = -9
"""Stands in the columns that a party does not hold: no code at all."""


@dataclass
class Together:
    """Alice opens, Bob answers; each sees its own columns of the rows alone."""

    model: Model
    codes: NDArray[np.int16]
    receiver: str = "initiator"
    probabilities: bool = False
    recalls: dict[str, Recall] = field(default_factory=dict)
    tamper: Tamper = honest

    @property
    def terms(self) -> PredictionTerms:
        return PredictionTerms(self.model.digest(), Receiver(self.receiver), self.probabilities)

    def run(self, party: str, peer: str) -> PredictionRun:
        """Return a party's side of it."""
        own = np.array([attribute.party == party for attribute in self.model.schema.attributes])
        people = tuple(f"p{number:03}" for number in range(len(self.codes)))
        rows = SharedRows(self.model, people, np.where(own, self.codes, NOT_OURS))
        local, nonces = make_local(PARTIES, party), bytes(32)
        recall = self.recalls.get(party, NO_RECALL)
        return PredictionRun(local, rows, self.terms, party == "alice", peer, nonces, recall)

    def roles(self) -> tuple[Role[Answers | None], Role[Answers | None]]:
        """Return both parties' parts."""
        return predict_together(self.run("alice", "bob")), predict_together(self.run("bob", "alice"))

    def play(self) -> tuple[End[Answers | None], End[Answers | None]]:
        """Play both; a result of None is that of who learns nothing, and waits for nothing more."""
        return duel(*self.roles(), self.tamper)


def labels(answers: Answers | None) -> list[int]:
    """Return the class of each row that was answered, in the order of the rows."""
    assert answers is not None
    return [answers.outcomes[position].label for position in answers.positions]


ROWS = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [2, 2, 1], [-1, 0, 0], [1, 0, -1], [0, 7, 1]], dtype=np.int16)

BAYES = bayes_of((2, 3, 2, 3), 3, seed=5)
BAYES_ROWS = np.random.default_rng(5).integers(-1, 3, (12, 4)).astype(np.int16)

COMPARED: set[type[Message]] = {RowsShare, HiddenContents, JointDigests, Verdict}
SESSION: set[type[Message]] = {BaseOffer, BasePoints, SeedHints}


@st.composite
def meetings(draw: st.DrawFn) -> Together:
    probabilities = draw(st.booleans())
    model = draw(models() if probabilities else models() | bayes_models())
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in model.schema.attributes))
    codes = np.array(draw(st.lists(row, min_size=1, max_size=6)), dtype=np.int16)
    receiver = draw(st.sampled_from(["initiator", "responder", "both"]))
    return Together(model, codes, receiver=receiver, probabilities=probabilities)


@settings(max_examples=at_most(60), deadline=None)
@given(meetings())
def test_it_equals_local_prediction_on_the_joined_rows_for_each_who_receives(meeting: Together) -> None:
    alice, bob = run_pair(*meeting.roles())
    for receives, answers in (("initiator", alice), ("responder", bob)):
        if meeting.receiver not in (receives, "both"):
            assert answers is None
            continue
        assert answers is not None
        assert labels(answers) == meeting.model.predict(meeting.codes).tolist()
        if meeting.probabilities and isinstance(meeting.model, Tree):
            shares = [answers.outcomes[position].shares or () for position in answers.positions]
            np.testing.assert_allclose(np.array(shares, dtype=float), meeting.model.shares(meeting.codes))


def test_weights_of_several_digits_are_added_and_many_rows_classified_in_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chain of 40 splits has 41 leaves of other shares, so that differences of positions pass 32."""
    tree, rng = chain(40), np.random.default_rng(1)
    codes = rng.choice([0, 1], p=[0.05, 0.95], size=(20, 40)).astype(np.int16)
    alice, _ = run_pair(*Together(tree, codes, probabilities=True).roles())
    assert labels(alice) == tree.predict(codes).tolist()
    contest = Contest(BAYES, "alice")
    tree, rows = small_model(), np.tile(ROWS, (6, 1))
    for model, codes, at_once, pages in (
        (tree, rows, 6 * 20, 3),  # six edges a row
        (BAYES, BAYES_ROWS, 5 * contest.pairs * contest.width, None),
    ):
        monkeypatch.setattr(ways, "TRANSFERS_AT_ONCE", at_once)
        transcript = Transcript()
        alice, _ = run_pair(*Together(model, codes).roles(), transcript)
        assert labels(alice) == model.predict(codes).tolist()
        assert pages in (None, sum(isinstance(message, ChoicePage) for message in transcript.sent_by_a))
        assert sum(isinstance(message, RowShares) for message in transcript.sent_by_b) == 3


def test_of_equal_rows_no_commitment_is_equal_and_only_what_is_listed_crosses() -> None:
    asks, answers = {RowsAsked, ChoicePage}, {CorrectionPage, RowShares}
    bayes_asks, bayes_answers = asks | {MaskedPage}, {ChoicePage, MaskedPage, RowShares}
    for model, codes, by_a, by_b in (
        (small_model(), ROWS, asks, answers),
        (BAYES, BAYES_ROWS, bayes_asks, bayes_answers),
    ):
        transcript = Transcript()
        run_pair(*Together(model, codes).roles(), transcript)
        assert {type(m) for m in transcript.sent_by_a} == COMPARED | SESSION | by_a
        assert {type(m) for m in transcript.sent_by_b} == COMPARED | SESSION | by_b
    transcript = Transcript()
    run_pair(*Together(small_model(), np.tile(ROWS[:1], (30, 1))).roles(), transcript)
    (asked,) = (m.commitments for m in transcript.sent_by_a if isinstance(m, RowsAsked))
    assert len({asked[start : start + 32] for start in range(0, len(asked), 32)}) == 30


def test_what_a_receiver_of_bayes_knows_is_not_asked_and_comes_from_memory() -> None:
    expected = BAYES.predict(BAYES_ROWS).tolist()
    known = {"p001": (expected[1] + 1) % 3, "p003": expected[3]}
    alice, _ = run_pair(*Together(BAYES, BAYES_ROWS, recalls={"alice": Recall(known)}).roles())
    assert alice is not None
    assert labels(alice) == [*expected[:1], known["p001"], *expected[2:]]
    assert alice.remembered == 2
    everyone = Recall({f"p{row:03}": 0 for row in range(len(BAYES_ROWS))})
    alice, _ = run_pair(*Together(BAYES, BAYES_ROWS, recalls={"alice": everyone}).roles())
    assert labels(alice) == [0] * len(BAYES_ROWS)


@pytest.mark.parametrize("people", [(), ("a",)])
def test_rows_without_people_are_refused(people: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        SharedRows(small_model(), people, np.zeros((0, 3), dtype=np.int16))


def test_more_rows_than_fit_are_refused_and_who_objects_ends_both_before_a_choice_leaves() -> None:
    recall = Recall(judge=lambda asked: Objection("people", f"{len(asked)} were answered before"))
    ends = Together(small_model(), ROWS, recalls={"bob": recall}).play()
    for end in ends:
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "people"
        assert {type(message) for message in end.sent} <= COMPARED | SESSION | {RowsAsked}
    assert f"{len(ROWS)} were answered before" in str(ends[1].error)
    people: Any = range(MOST_ROWS + 1)
    with pytest.raises(InputError, match="262,144"):
        SharedRows(small_model(), people, np.zeros((MOST_ROWS + 1, 3), dtype=np.int16))


def test_a_tree_without_a_split_needs_no_bits_and_where_all_is_known_nothing_is_asked() -> None:
    tree = Tree(small_model().schema, small_model().root.children[2])  # type: ignore[union-attr]
    alice, _ = run_pair(*Together(tree, ROWS).roles())
    assert labels(alice) == [0] * len(ROWS)
    transcript, codes = Transcript(), np.tile(ROWS, (40, 1))
    known = {f"p{row:03}": int(row % 2) for row in range(140)}
    meeting = Together(small_model(), codes, recalls={"alice": Recall(known)})
    alice, _ = run_pair(*meeting.roles(), transcript)
    assert alice is not None
    assert labels(alice)[140:] == meeting.model.predict(codes).tolist()[140:]
    assert (alice.remembered, list(alice.positions[:140])) == (140, list(known.values()))
    (page,) = (m.matrix for m in transcript.sent_by_a if isinstance(m, ChoicePage))
    assert len(page) == 32 * (7 * 128 + 128) // 8  # 6 edges of 140 rows fill seven times 128 transfers
    transcript, known = Transcript(), {f"p{row:03}": 0 for row in range(len(ROWS))}
    alice, _ = run_pair(*Together(small_model(), ROWS, recalls={"alice": Recall(known)}).roles(), transcript)
    assert alice is not None
    assert (alice.positions, alice.remembered) == ((0,) * len(ROWS), len(ROWS))
    assert not {ChoicePage, RowShares} & {type(m) for m in (*transcript.sent_by_a, *transcript.sent_by_b)}


def flipped(page: ChoicePage) -> ChoicePage:
    return ChoicePage(bytes([page.matrix[0] ^ 1]) + page.matrix[1:], page.check)


Changes = dict[str, tuple[str, type[Message], Callable[[Any], Message], type[PeerError]]]
ALIKE: Changes = {
    "choices too few": ("a", ChoicePage, lambda m: ChoicePage(m.matrix[:-64], m.check), PeerError),
    "choices that do not agree": ("a", ChoicePage, flipped, DeviationError),
    "answers too few": ("b", RowShares, lambda m: RowShares(m.shares[8:]), PeerError),
    "answers too many": ("b", RowShares, lambda m: RowShares(m.shares * 2), PeerError),
}
OF_TREES: Changes = {
    "commitments too few": ("a", RowsAsked, lambda m: RowsAsked(m.commitments[32:]), PeerError),
    "corrections too few": ("b", CorrectionPage, lambda m: CorrectionPage(m.corrections[8:]), PeerError),
    "other people": ("b", JointDigests, lambda m: JointDigests(bytes(64)), DisagreementError),
}
OF_BAYES: Changes = {
    "the answerer's choices that do not agree": ("b", ChoicePage, flipped, DeviationError),
    "the asker's words too few": ("a", MaskedPage, lambda m: MaskedPage(m.words[8:]), PeerError),
    "the answerer's words too many": ("b", MaskedPage, lambda m: MaskedPage(m.words * 2), PeerError),
}


def test_what_a_hostile_peer_sends_ends_in_an_error_of_one_line_about_the_peer() -> None:
    for model, codes, changes in ((small_model(), ROWS, ALIKE | OF_TREES), (BAYES, BAYES_ROWS, ALIKE | OF_BAYES)):
        for name, (sender, kind, change, error) in changes.items():
            ends = Together(model, codes, tamper=on(sender, kind, change)).play()
            end = ends[sender == "a"]
            assert isinstance(end.error, error), name
            assert len(str(end.error).splitlines()) == 1


def test_shares_of_classes_of_bayes_are_refused_and_one_class_needs_no_comparison() -> None:
    with pytest.raises(InputError, match="would reveal the other side's columns"):
        run_pair(*Together(BAYES, BAYES_ROWS, probabilities=True).roles())
    only = replace(BAYES, prior=np.array([0.0, -np.inf, -np.inf]))
    alice, _ = run_pair(*Together(only, BAYES_ROWS).roles())
    assert labels(alice) == [0] * len(BAYES_ROWS)
    # Of three classes two bits are shared: a side that turns over both makes 3 of 0.
    turned = on("b", RowShares, lambda m: RowShares(bytes(byte ^ 255 for byte in m.shares)))
    end, _ = Together(BAYES, BAYES_ROWS, tamper=turned).play()
    assert isinstance(end.error, DeviationError)


def test_an_answer_that_is_no_outcome_is_a_deviation() -> None:
    """As of one who answers by a tree of more outcomes, as far as they have no more bits."""
    tree = chain(3)
    asked = Together(tree, np.ones((4, 3), np.int16), probabilities=True)
    assert len(Routes(tree, "alice", probabilities=True).outcomes) == 5
    assert asked.play()[0].error is None

    def wrong(routes: Routes, codes: Rows) -> tuple[Any, Any]:
        return np.full(len(codes), 7), np.zeros((len(codes), routes.edges), dtype=np.int32)

    with patch.object(Routes, "weights", wrong):
        assert isinstance(asked.play()[0].error, DeviationError)


ViewRows = NDArray[np.int16]
COUNT = 512
MODELS: dict[str, tuple[Model, int]] = {"a tree": (small_model(), 1), "naive Bayes": (bayes_of((3, 3, 3, 3), 4, 1), 2)}
"""Each with the bits of its outcomes; all numbers of this many bits are outcomes."""


def rows(model: Model, seed: int, party: str) -> ViewRows:
    """Return random rows of which only this party's columns are seen."""
    codes = np.random.default_rng(seed).integers(-1, 3, (COUNT, len(model.schema.attributes)))
    own = np.array([attribute.party == party for attribute in model.schema.attributes])
    return np.where(own, codes, NOT_OURS).astype(np.int16)


def gates() -> tuple[Gates, Gates]:
    """Return both sides' gates, with the same chance every time; Alice's first."""
    one, other = meet(4)
    return Gates(True, one, Triples(one, Chance(3))), Gates(False, other, Triples(other, Chance(4)))


def sides(model: Model, asks: int, answers: int) -> tuple[tuple[Sequence[Message], Sequence[Message]], list[int]]:
    """Return what either side hears, the asker's first, and what comes out; Alice asks."""
    one, other = gates()
    crossed, way = Transcript(), way_of(model, "alice", probabilities=False)
    asking, telling = way.ask(rows(model, asks, "alice"), one), way.tell(rows(model, answers, "bob"), other)
    told, _ = run_pair(asking, telling, crossed)
    return (crossed.sent_by_b, crossed.sent_by_a), told


def uniform(like: Message, sender: Transfers, number: int) -> Message:
    """Return a message of the same size from nothing: choices that pass the receiver's check, or uniform strings."""
    if isinstance(like, ChoicePage):
        length = 8 * len(like.matrix) // 32
        page = sender.sender.simulate(number, length, Chance(length))
        assert len(page.matrix) == len(like.matrix)
        return page
    if isinstance(like, MaskedPage):
        size = len(like.words)
        return MaskedPage(Chance(size + number).randbelow(1 << 8 * size).to_bytes(size, "big"))
    assert isinstance(like, CorrectionPage)
    return simulate_page(len(like.corrections), Chance(len(like.corrections) + number))


def simulated(model: Model, real: Sequence[Message], who: str, told: Sequence[int]) -> list[Message]:
    """Return what a side hears, from its own rows, the sizes and, of the asker, the classes alone."""
    width = MODELS[next(name for name, (each, _) in MODELS.items() if each is model)][1]
    own, first = gates()[who == "bob"].transfers, 0
    view: list[Message] = []
    for like in real:
        if isinstance(like, RowShares):
            view.append(RowShares(bytes(len(like.shares))))
            continue
        view.append(uniform(like, own, first))
        first += 8 * len(like.matrix) // 32 if isinstance(like, ChoicePage) else 0
    if who == "alice":  # with shares of 0 it hears its own share
        share = np.array(heard(model, view, who), WORD)
        outcomes = np.array(told, WORD)
        last = outcomes - share & np.uint64(2**width - 1) if width == 1 else outcomes ^ share
        view[-1] = RowShares(pack(last, width))
    return view


def heard(model: Model, view: Sequence[Message], who: str) -> list[int] | None:
    """Play a side against what it hears; it must be content."""
    way, own = way_of(model, "alice", probabilities=False), gates()[who == "bob"]
    if who == "bob":
        assert replay(way.tell(rows(model, 2, "bob"), own), view).error is None
        return None
    end = replay(way.ask(rows(model, 1, "alice"), own), view)
    assert end.error is None
    return end.result


def strings(view: Sequence[Message], width: int) -> list[NDArray[np.uint8]]:
    """Return all that should look uniform, eight bytes in a row."""
    parts = []
    for message in view:
        match message:
            case ChoicePage(matrix):
                parts.append(bits_of(matrix, 8))
            case CorrectionPage(words) | MaskedPage(words):
                parts.append(bits_of(words, 8))
            case RowShares(shares):
                bits = np.unpackbits(unpack(shares, COUNT, width).astype(np.uint8)[:, None], 1)[:, -width:]
                parts.append(bits.reshape(-1, 8))
    return parts


@pytest.mark.parametrize("name", MODELS)
def test_views_follow_from_classes_and_sizes(name: str) -> None:
    model, width = MODELS[name]
    (alices, bobs), told = sides(model, 1, 2)
    view, other = simulated(model, alices, "alice", told), simulated(model, bobs, "bob", ())
    assert heard(model, view, "alice") == heard(model, alices, "alice") == told
    heard(model, other, "bob")
    for each in (alices, view, bobs, other):
        assert off(*strings(each, width)) == []

    def sizes(views: Sequence[Sequence[Message]]) -> list[list[tuple[type[Message], list[int]]]]:
        return [[(type(each), [len(part) for part in vars(each).values()]) for each in view] for view in views]

    assert sizes((alices, bobs)) == sizes(sides(model, 3, 4)[0])


def test_a_share_without_a_mask_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an answerer whose masks are 0 shows its weights."""
    monkeypatch.setattr("protocols.oblivious.masks._hashed", lambda fixed, keys, *_: np.zeros_like(keys))
    (real, _), _ = sides(MODELS["a tree"][0], 1, 2)
    assert off(*strings(real, 1)) != []


@pytest.mark.parametrize("name", MODELS)
def test_no_mask_is_formed_twice_where_both_ask_in_batches(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("protocols.two_party.ways.TRANSFERS_AT_ONCE", 600)
    model, _ = MODELS[name]
    recorder = MaskRecorder(monkeypatch)
    codes = np.random.default_rng(1).integers(0, 2, (24, len(model.schema.attributes))).astype(np.int16)
    run_pair(*Together(model, codes, "both").roles())
    assert recorder.offsets == 2
    assert recorder.times() == ONCE
