"""Who is held out follows from both tables; what is shown of them has the noise of both."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from protocols.answers import KeptAnswers
from protocols.counting.plaintext import PlaintextEngine
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomness import public_order
from protocols.role import Phase, Progress, Role, run_alone, run_pair, with_progress
from protocols.secret_tree.held_out import Scores
from protocols.terms import ALL
from protocols.two_party.agreement import Agreement, agree_on_training
from protocols.two_party.inputs import PartyInputs, split_records
from protocols.two_party.secret import score, split_of
from tests.protocols.oblivious.parts import meet
from tests.support.parties import Case, make_local, make_roles, make_terms, play

CODES = np.random.default_rng(5).integers(0, 2, (300, 5)).astype(np.uint8)
CASE = Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, make_terms(method="smc"))


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


def test_the_same_tables_have_the_same_split_and_others_have_another() -> None:
    draws = [drawn(CASE), drawn(CASE), *(drawn(with_a_cell_changed(CASE, column)) for column in (0, 3))]
    assert draws[0] == draws[1]
    assert len({tuple(public_order(draw, 300)[:60]) for draw in draws}) == 3


TRAINED = replace(CASE, terms=make_terms(method="smc", reveal="tree", max_depth=2, min_leaf=20, test=Fraction(1, 5)))


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
    assert np.abs(alice.scores.table - true).max() <= 2 * alice.scores.law.cut
    assert alice.exact_counts_disclosed == 0
    assert (alice.records_train, alice.records_test) == (240, 60)


def test_once_the_tree_is_grown_progress_is_of_the_held_out_records_alone() -> None:
    said: list[Phase] = []

    def listen(progress: Progress) -> None:
        said.append(progress.phase)

    one, other = make_roles(TRAINED)
    run_pair(with_progress(one, listen), other)
    grown = max(at for at, phase in enumerate(said) if phase is Phase.TREE)
    assert set(said[grown + 1 :]) == {Phase.HELD_OUT}


def test_the_same_tree_has_the_same_noise_and_another_tree_has_another() -> None:
    def scores(labels: tuple[int, int]) -> tuple[Scores, Scores]:
        parts = agreements(CASE)
        root = Split((), 0, tuple(Leaf((), label) for label in labels))
        meets = meet(4, 3)

        def side(place: int) -> Role[Scores]:
            local, agreed = parts[place]
            codes = np.zeros_like(CODES)
            codes[:, CASE.columns[local.party]] = local.table.codes
            tree = Tree(agreed.schema, root)
            return score(local, agreed, tree, codes, meets[place], KeptAnswers())

        return run_pair(side(0), side(1))

    one, again, other = scores((0, 1)), scores((0, 1)), scores((1, 0))
    assert one[0] == one[1] == again[0]
    true = np.zeros((2, 2), int)
    np.add.at(true, (CODES[:, 0], CODES[:, -1]), 1)
    noise = one[0].table - true
    assert 0 < np.abs(noise).max() <= 2 * one[0].law.cut
    assert not np.array_equal(other[0].table[::-1] - true, noise)
