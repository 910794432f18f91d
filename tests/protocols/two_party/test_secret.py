"""Whole runs of which the tree alone crosses: what they open, how long their messages are, and how they go on."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from protocols.answers import KeptAnswers
from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.rows import make_view
from protocols.counts import Query
from protocols.errors import DisagreementError
from protocols.facts import ClassCountsFact, CopyFact, ModelFact, WindowsFact
from protocols.learning.id3 import HybridId3
from protocols.learning.merit import best, whole_gains
from protocols.learning.tree import Leaf, Split, Tree
from protocols.learning.whole import MOST_GINI_RECORDS
from protocols.messages import CountShares, Greeting, MaskedPage, OpenedPage, Verdict
from protocols.oblivious.bits import Uint64s
from protocols.oblivious.numbers import modulus_mask
from protocols.randomized_response.related_question import disguise
from protocols.randomness import public_order
from protocols.role import (
    Effect,
    Fact,
    Kept,
    Message,
    Note,
    Part,
    Phase,
    Player,
    Progress,
    Role,
    Save,
    Transcript,
    nothing,
    run_alone,
    run_pair,
    with_progress,
)
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.held_out import Scores, room_for_table
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.simulation.noise import grow_alone_with_noise
from protocols.tables import ROOT, Expression, Index
from protocols.terms import ALL, Impurity, Leaves, Method, Reveal
from protocols.two_party.agreement import Agreement, agree_on_training
from protocols.two_party.copies import exchange_copies
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs, split_records
from protocols.two_party.noise import tree_noise_of
from protocols.two_party.secret import grow_secretly, score, split_of
from protocols.two_party.training import Outcome
from tests.protocols.oblivious.parts import exclusive_or, length_of, lengths, meet
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.cases import correlated
from tests.support.duel import duel, watched
from tests.support.examples import few
from tests.support.parties import Case, make_local, make_roles, make_terms, plain_id3, play
from tests.support.simulators import simulate_openings, simulate_share

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 400, seed=3, flips=0.3),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(method="smc", reveal="tree", max_depth=2, test=0, min_leaf=20),
)
WINDOWED = replace(CASE, terms=replace(CASE.terms, method=Method.HYBRID, omega=2, theta=Fraction(9, 10)))
NOISY = replace(CASE, terms=replace(CASE.terms, min_leaf=1, impurity=Impurity.GINI, noise=Fraction(1), most_bits=None))


@dataclass
class Seen:
    """What a party notes and keeps of a run."""

    facts: list[Fact] = field(default_factory=list)
    saved: list[bytes] = field(default_factory=list)

    def see(self, effect: Effect) -> None:
        if isinstance(effect, Note):
            self.facts.append(effect.fact)
        if isinstance(effect, Save) and effect.part is Part.ANSWERS:
            self.saved[effect.number :] = [effect.content]

    @property
    def opened(self) -> list[OpenedFact]:
        return [fact for fact in self.facts if isinstance(fact, OpenedFact)]

    @property
    def windows(self) -> dict[Expression, tuple[int, ...]]:
        told = [fact for fact in self.facts if isinstance(fact, WindowsFact) and fact.windows is not None]
        pairs = [each for fact in told for each in zip(fact.queries, fact.windows or (), strict=True)]
        return {query.expression: window for query, window in pairs}

    @property
    def steps(self) -> set[tuple[int, bool]]:
        """At which levels something was opened, and whether that was windows."""
        of_nodes = {(len(node.terms), False) for fact in self.opened for node in fact.nodes}
        return of_nodes | {(len(path.terms), True) for path in self.windows}


@dataclass
class Run:
    """A run of both, and what each has seen."""

    case: Case
    transcript: Transcript = field(default_factory=Transcript)
    alice: Seen = field(default_factory=Seen)
    bob: Seen = field(default_factory=Seen)

    def tree(self, kept: Kept | None = None) -> Tree:
        left, right = make_roles(self.case, kept=kept)
        ends: tuple[tuple[Agreement, Outcome], tuple[Agreement, Outcome]]
        ends = run_pair(watched(left, self.alice.see), watched(right, self.bob.see), self.transcript)
        (_, a), (_, b) = ends
        assert a.model == b.model
        assert self.case.terms.hides_counts == (a.exact_counts_disclosed == a.smc_computations == 0)
        return a.tree


@dataclass
class Told:
    """Windows that are known."""

    of_nodes: dict[Expression, tuple[int, ...]]

    def advance(self, expressions: Sequence[Expression]) -> None:
        pass

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        return [self.of_nodes[query.expression] for query in queries]
        yield


@pytest.mark.parametrize(("case", "impurity"), few([(WINDOWED, Impurity.GINI), (CASE, Impurity.INFORMATION_GAIN)], 2))
def test_the_tree_is_that_of_who_sees_all_and_nothing_else_is_noted(case: Case, impurity: Impurity) -> None:
    run = Run(replace(case, terms=replace(case.terms, impurity=impurity)))
    tree = run.tree()
    assert tree.leaves() == plain_id3(run.case, Told(run.alice.windows))[0].tree.leaves()
    assert run.alice.windows == run.bob.windows
    for seen in (run.alice, run.bob):
        of_windows = {WindowsFact, CopyFact} if case.terms.ranks else set()
        assert {type(fact) for fact in seen.facts} == {OpenedFact, ModelFact, *of_windows, *comparisons(seen)}
        told = [fact for fact in seen.opened if fact.values is not None]
        labels = {node: label for fact in told if fact.what is OpenedKind.LABELS for node, label in values(fact)}
        splits = {node: by for fact in told if fact.what is OpenedKind.SPLITS for node, by in values(fact)}
        assert labels == dict(tree.leaves())
        assert splits == {path: node.attribute for path, node in tree.splits()}


def test_a_noisy_tree_is_that_of_who_sees_all_and_adds_the_noise_of_both() -> None:
    cases = [(("bob",), Fraction(1, 10)), (("alice",), Fraction(4)), (("alice", "bob"), Fraction(4))]
    for owners, noise in few(cases, 2):
        case = replace(NOISY, class_owners=owners, terms=replace(NOISY.terms, noise=noise))
        (ours, outcome), (theirs, _) = run_pair(*make_roles(case))
        agreed = {"alice": ours, "bob": theirs}
        noises = [tree_noise_of(make_local(case, name), agreed[name], len(case.codes)) for name in agreed]
        drawn = [each for each in noises if each is not None]
        assert len(drawn) == 2
        tree = grow_alone_with_noise(outcome.tree.schema, case.codes, drawn, case.terms.growth)
        assert outcome.tree == tree
        assert {len(path.terms) for path, _ in tree.leaves()} == {2}


def test_nobody_judges_a_rare_class_under_noise_which_the_word_would_have_none_of() -> None:
    rare = replace(NOISY, codes=NOISY.codes.copy())
    rare.codes[:, -1] = np.arange(400) < 3
    bob = replace(make_local(rare, "bob"), limits=USUAL_LIMITS)
    run_pair(*make_roles(rare, bob=bob))
    exact = replace(rare, terms=replace(rare.terms, noise=None, most_bits=CASE.terms.most_bits))
    with pytest.raises(DisagreementError, match="class counts"):
        run_pair(*make_roles(exact, bob=bob))


def comparisons(seen: Seen) -> set[type[Fact]]:
    return {type(fact) for fact in seen.facts if type(fact).__name__ == "ComparedFact"}


def values(fact: OpenedFact) -> Any:
    return zip(fact.nodes, fact.values or (), strict=True)


def test_each_opening_has_a_name_and_is_noted_before_it_leaves() -> None:
    run = Run(replace(WINDOWED, terms=replace(WINDOWED.terms, test=Fraction(1, 4))))
    run.tree()
    pages = [sum(isinstance(each, OpenedPage | CountShares) for each in sent) for sent in vars(run.transcript).values()]
    for seen, sent in zip((run.alice, run.bob), pages, strict=True):
        of_windows = sum(isinstance(fact, WindowsFact) and fact.windows is None for fact in seen.facts)
        assert sum(fact.values is None for fact in seen.opened) + of_windows == sent > 3
        assert not any(isinstance(fact, ClassCountsFact) for fact in seen.facts)


@pytest.mark.parametrize("owners", [("bob",), ("alice", "bob")], ids=["one holds the class", "both do"])
@pytest.mark.parametrize(("classes", "most"), [(3, MOST_GINI_RECORDS), (2, 399)], ids=["classes", "records"])
@pytest.mark.parametrize("noise", [None, Fraction(1)])
def test_ginis_index_of_more_classes_or_records_than_shares_take_is_refused_at_both_before_anything_leaves(
    owners: tuple[str, ...], classes: int, most: int, noise: Fraction | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("protocols.two_party.agreement.MOST_GINI_RECORDS", most)
    terms = replace(CASE.terms, impurity=Impurity.GINI, noise=noise, min_leaf=1, most_bits=None if noise else 10_000)
    ends = duel(*make_roles(replace(CASE, class_owners=owners, classes=classes, terms=terms)))
    for end in ends:
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "impurity"
        cures = ['take impurity = "information_gain"', *(["or take noise out"] if noise and classes > 2 else [])]
        assert any(cure in str(end.error) for cure in cures)
        assert {type(message) for message in end.sent} == {Greeting, Verdict}


def test_all_lengths_of_a_run_are_those_of_the_records_the_terms_the_tree_and_its_windows() -> None:
    """Counts of classes and of columns differ, tree and windows do not; another tree has other lengths."""
    other, third = CASE.codes.copy(), CASE.codes.copy()
    other[:24:2, -1] = 1 - other[:24:2, -1]
    third[:, -1] = third[:, 0]
    first, second, last = (Run(replace(WINDOWED, codes=codes)) for codes in (CASE.codes, other, third))
    trees = [run.tree() for run in (first, second, last)]
    assert trees[0] == trees[1] != trees[2]
    assert first.alice.windows == second.alice.windows
    assert (np.bincount(CASE.codes[:, -1]) != np.bincount(other[:, -1])).any()
    crossed = [lengths(run.transcript) for run in (first, second, last)]
    assert crossed[0] == crossed[1] != crossed[2]


@dataclass
class KeptLevels:
    """The levels that both have kept of a run."""

    levels: list[bytes]

    def recall(self, part: Part) -> Iterator[bytes]:
        yield from self.levels if part is Part.ANSWERS else ()


WINDOWED_PURE = replace(WINDOWED, terms=replace(WINDOWED.terms, min_leaf=1))


@pytest.mark.parametrize("case", few([WINDOWED_PURE, NOISY, CASE], 2), ids=repr)
def test_a_run_goes_on_at_any_level_and_opens_none_twice(case: Case) -> None:
    whole = Run(case)
    tree, saved = whole.tree(), whole.alice.saved
    assert saved == whole.bob.saved
    steps = [
        (depth, kind) for depth in range(tree.depth + 1) for kind in (True, False) if (depth, kind) in whole.alice.steps
    ]
    assert len(saved) == len(steps)
    assert sum(of_windows for _, of_windows in steps) == (2 if case.terms.ranks else 0)
    for known in few(range(1, len(saved) + 1), 3):
        again = Run(case)
        assert again.tree(KeptLevels(saved[:known])) == tree
        assert again.alice.steps == again.bob.steps == set(steps[known:])


Ended = tuple[Tree, Scores | None]


def simulated(
    roles: tuple[Role[Ended], Role[Ended]],
    alice: bool,
    expected: Iterator[Uint64s],
    share: Callable[[CountShares], CountShares],
) -> tuple[Ended, list[Message]]:
    """Play one side against a simulator that knows what is opened, and return its result and what it has seen.

    Args:
        roles: Of which the other one has columns of zeros; what it opens is put right, whatever its shares are.
        alice: Whether the first is the side in question.
        expected: The wires that are opened.
        share: What each side hears for its share of the table of held-out records.
    """
    players, said = [Player(role, lambda _: None) for role in roles], list[Message]()
    opening: dict[int, OpenedPage | CountShares] = {}

    def deliver(place: int, message: Message) -> None:
        if not isinstance(message, OpenedPage | CountShares):
            players[1 - place].inbox.append(message)
            return
        opening[place] = message
        if len(opening) == 2:
            wires = next(expected).tobytes() if isinstance(message, OpenedPage) else b""
            for each, own in opening.items():
                if isinstance(own, CountShares):
                    players[each].inbox.append(share(own))
                else:
                    players[each].inbox.append(OpenedPage(exclusive_or(wires, own.words)))
            opening.clear()

    ours = 0 if alice else 1
    for place, player in enumerate(players):
        player.deliver = partial(deliver, place)
    players[ours].inbox = Recording(said)
    while players[0].advance() | players[1].advance():
        pass
    result = players[ours].result
    assert result is not None
    return result, said


class Recording(deque[Message]):
    """An inbox that lists all that it was given."""

    def __init__(self, said: list[Message]) -> None:
        super().__init__()
        self._said = said

    def append(self, message: Message) -> None:
        self._said.append(message)
        super().append(message)


@dataclass
class Sides:
    """Both parties' parts of growing a tree, once they have agreed and copies have crossed."""

    case: Case

    def __post_init__(self) -> None:
        self.parties = agreements(self.case)
        alice, bob = (exchange_copies(*each, nothing) for each in self.parties)
        self.copies = run_pair(alice, bob)
        split = split_of(*self.parties[0])
        self.parts = split_records(split, len(self.case.codes), self.case.terms.test)

    def role(self, place: int, *, is_simulated: bool = False) -> Role[Ended]:
        """Return a party's part; one that is simulated has zeros in its columns."""
        (local, agreed), copies = self.parties[place], self.copies[place]
        if is_simulated:
            codes = copies.view.codes.copy()
            codes[:, list(agreed.schema.held_by(local.party))] = 0
            copies = replace(copies, view=replace(copies.view, codes=codes))
        return grow_secretly(local, agreed, copies, self.parts, KeptAnswers())


SHARES = [
    replace(CASE, terms=replace(CASE.terms, min_leaf=100, leaves=Leaves.TENTHS)),
    replace(NOISY, terms=replace(NOISY.terms, leaves=Leaves.TENTHS)),
]


SEEN = {
    "windows": WINDOWED, "all": CASE, "min_leaf 1": replace(CASE, terms=replace(CASE.terms, min_leaf=1)),
    "noise": NOISY, "windows of min_leaf 1": WINDOWED_PURE, "shares": SHARES[0], "noisy shares": SHARES[1],
}  # fmt: skip


@pytest.mark.parametrize(("side", "way"), few([*product(("alice", "bob"), SEEN)], 5))
def test_either_side_of_a_run_sees_what_a_simulator_makes_of_tree_windows_and_table(side: str, way: str) -> None:
    """Its result, and the kinds and lengths of all messages; the bits of masked ones are half ones (10**-9).

    The simulator has that, the terms, who is held out and the copies, and of the other side's columns nothing.
    """
    case, alice = SEEN[way], side == "alice"
    sides = Sides(replace(case, terms=replace(case.terms, test=Fraction(1, 4))))
    seen, transcript = Seen(), Transcript()
    (tree, scores), _ = run_pair(watched(sides.role(0), seen.see), sides.role(1), transcript)
    assert scores is not None
    allowance = Allowance(tree.schema, case.terms.max_depth, case.terms.window)
    width = (len(sides.parts[1]) + room_for_table(scores.law)).bit_length()
    result, said = simulated(
        (sides.role(0, is_simulated=not alice), sides.role(1, is_simulated=alice)),
        alice,
        simulate_openings(tree, allowance, seen.windows),
        lambda own: simulate_share(own, scores.cells, modulus_mask(width)),
    )
    real = transcript.sent_by_b if alice else transcript.sent_by_a
    assert result == (tree, scores)
    assert list(map(length_of, said)) == list(map(length_of, real))
    for sent in (said, real):
        assert off(bits_of(b"".join(each.words for each in sent if isinstance(each, MaskedPage)), 8)) == []


def test_windows_are_those_of_training_records_and_of_a_run_that_shows_counts() -> None:
    """Of the same copies; it asks nodes of one class for none."""
    case = WINDOWED_PURE
    hidden, shown = Run(case), Run(replace(case, terms=replace(case.terms, reveal=Reveal.COUNTS, most_bits=None)))
    assert hidden.tree().leaves() == shown.tree().leaves()
    assert len(shown.alice.windows) > 3
    assert shown.alice.windows.items() <= hidden.alice.windows.items()
    # Estimates of both sides for the root, from their copies; those of all records would make another window.
    case = replace(WINDOWED, terms=replace(WINDOWED.terms, test=Fraction(1, 2), theta=Fraction(9, 20)))
    run, parts = Run(case), agreements(case)
    run.tree()
    designs = [agreed.own_design for _, agreed in parts]
    copies = [
        disguise(local.table.codes[:, : len(design.sizes)], local.coins(design), design)
        for (local, _), design in zip(parts, designs, strict=True)
    ]
    train, _ = split_records(drawn(case), 400, case.terms.test)

    def window(records: Index) -> tuple[int, ...]:
        gains = np.zeros((1, 4), np.int64)
        for (local, agreed), theirs in zip(parts, copies[::-1], strict=True):
            view = make_view(agreed.schema, local.party, local.table.codes, theirs, agreed.peer_design).rows(records)
            gains += whole_gains(Estimator(view), [Query(ROOT, (0, 1, 2, 3), None)], 2, case.terms.growth)
        return tuple(sorted(best(gains[0].tolist(), 2)))

    assert run.alice.windows[ROOT] == window(train) != window(np.arange(400))


CODES = np.random.default_rng(5).integers(0, 2, (300, 5)).astype(np.uint8)
HELD_CASE = Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, make_terms(method="smc"))


def agreements(case: Case) -> list[tuple[PartyInputs, Agreement]]:
    locals_ = [make_local(case, party) for party in ("alice", "bob")]
    alice, bob = (
        agree_on_training(local, case.terms, peer, b"n" * 64)
        for local, peer in zip(locals_, ("bob", "alice"), strict=True)
    )
    return list(zip(locals_, run_pair(alice, bob), strict=True))


def drawn(case: Case) -> int:
    one, other = (split_of(*each) for each in agreements(case))
    assert one == other
    return one


def with_a_cell_changed(case: Case, column: int) -> Case:
    codes = case.codes.copy()
    codes[7, column] ^= 1
    return replace(case, codes=codes)


TRAINED = replace(
    HELD_CASE, terms=make_terms(method="smc", reveal="tree", max_depth=2, min_leaf=20, test=Fraction(1, 5))
)


def test_a_run_ends_with_the_plain_tree_of_those_that_are_not_held_out_and_their_table() -> None:
    """What both have is ID3's tree of the drawn training records, and the drawn others counted with noise of both."""
    alice, bob = play(TRAINED)
    train, test = split_records(drawn(TRAINED), 300, Fraction(1, 5))
    schema = alice.tree.schema
    counts = tuple(np.bincount(CODES[train, -1], minlength=2).tolist())
    engine = PlaintextEngine(schema, CODES[train], CODES[test])
    plain = run_alone(HybridId3(schema, counts, ALL, engine, None, TRAINED.terms.growth).build())
    assert alice.tree == bob.tree
    assert [type(node) for _, node in alice.tree.nodes()] == [type(node) for _, node in plain.tree.nodes()]
    assert alice.tree.leaves() == plain.tree.leaves()
    assert alice.scores is not None
    assert alice.scores == bob.scores
    true = np.zeros((2, 2), int)
    np.add.at(true, (alice.tree.predict(CODES[test]), CODES[test, -1]), 1)
    assert np.abs(alice.scores.table.confusion - true).max() <= 2 * alice.scores.law.cut
    assert alice.exact_counts_disclosed == 0
    assert (alice.records_train, alice.records_test) == (240, 60)


def test_the_same_tables_have_the_same_split_and_progress_is_of_the_held_out_records_alone() -> None:
    draws = [drawn(HELD_CASE), drawn(HELD_CASE), *(drawn(with_a_cell_changed(HELD_CASE, column)) for column in (0, 3))]
    assert draws[0] == draws[1]
    assert len({tuple(public_order(draw, 300)[:60]) for draw in draws}) == 3
    said: list[Phase] = []

    def listen(progress: Progress) -> None:
        said.append(progress.phase)

    one, other = make_roles(TRAINED)
    run_pair(with_progress(one, listen), other)
    grown = max(at for at, phase in enumerate(said) if phase is Phase.TREE)
    assert set(said[grown + 1 :]) == {Phase.HELD_OUT}


def test_the_same_tree_has_the_same_noise_and_another_tree_has_another() -> None:
    def scores(labels: tuple[int, int]) -> tuple[Scores, Scores]:
        parts = agreements(HELD_CASE)
        root = Split((), 0, tuple(Leaf((), label) for label in labels))
        meets = meet(4, 3)

        def side(place: int) -> Role[Scores]:
            local, agreed = parts[place]
            codes = np.zeros_like(CODES)
            codes[:, HELD_CASE.columns[local.party]] = local.table.codes
            tree = Tree(agreed.schema, root)
            return score(local, agreed, tree, codes, meets[place], KeptAnswers())

        return run_pair(side(0), side(1))

    one, again, other = scores((0, 1)), scores((0, 1)), scores((1, 0))
    assert one[0] == one[1] == again[0]
    true = np.zeros((2, 2), int)
    np.add.at(true, (CODES[:, 0], CODES[:, -1]), 1)
    noise = one[0].table.confusion - true
    assert 0 < np.abs(noise).max() <= 2 * one[0].law.cut
    assert not np.array_equal(other[0].table.confusion[::-1] - true, noise)
