"""A mined tree that no miner has of such records is refused, and any is read in one pass."""

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.models.tree_file import tree_json
from party.wire.codec import decode, encode
from protocols.errors import DisagreementError, InputError, PeerError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import SentNode, SentTree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import TO_THE_END, Growth, Method
from protocols.two_party.mined import MinedLimits, receive_mined
from protocols.two_party.training import Outcome
from tests.protocols.two_party.test_mined import CASE
from tests.support.cases import cases
from tests.support.duel import replay
from tests.support.parties import Case, play
from tests.support.plain import schema_of

STEP = 32
"""The coarsest of a count, with these designs and 1,000 records."""
DESIGN = RelatedDesign.of_odds((2, 2, 2), ((0,), (1,), (2,)), Fraction(9, 10))
HALVES = (500, 500)


def limits_of(columns: int = 3, growth: Growth = TO_THE_END, counts: tuple[int, ...] = HALVES) -> MinedLimits:
    return MinedLimits(schema_of((2,) * columns, 2, alice=1), counts, (DESIGN, DESIGN), growth)


def leaf(label: int, *counts: int) -> SentNode:
    return SentNode(None, label, counts)


def split(attribute: int, *counts: int) -> SentNode:
    return SentNode(attribute, 0, counts)


def received(*nodes: SentNode, most: float = 100.0, error: int = 0, limits: MinedLimits | None = None) -> Any:
    """Return the tree that a receiver takes it for, or the kind of error with which it ends."""
    end = replay(receive_mined(most, limits or limits_of()), [SentTree(nodes, 0, error)])
    return end.result[0] if end.result else type(end.error)


def test_a_tree_that_rounded_counts_allow_is_taken() -> None:
    assert limits_of().step == STEP
    tree = received(split(0), leaf(1, 248, 254), split(1, 250, 246), leaf(0, 250, 244), leaf(0, 0, 0))
    assert tree.root == Split(
        (500.0, 500.0),
        0,
        (Leaf((248.0, 254.0), 1), Split((250.0, 246.0), 1, (Leaf((250.0, 244.0), 0), Leaf((0.0, 0.0), 0)))),
    )


IMPOSSIBLE: dict[str, tuple[SentNode, ...]] = {
    "more records than there are": (split(0), leaf(0, 504, 0), leaf(0, 704, 0)),
    "fewer records than there are": (split(0), leaf(0, 384, 0), leaf(0, 416, 0)),
    "a branch larger than its node": (
        split(0), leaf(0, 400, 104), split(1, 248, 248), leaf(0, 512, 0), leaf(1, 0, 224),
    ),
    "a negative count": (split(0), leaf(0, 504, 0), leaf(1, -8, 504)),
    "a class that most records do not have": (split(0), leaf(1, 512, 0), leaf(1, 0, 488)),
    "a class that the root's records do not have": (leaf(1,),),
    "a class that there is not": (split(0), leaf(2, 0, 0), leaf(0, 504, 496)),
    "a negative class": (split(0), leaf(-1, 0, 0), leaf(0, 504, 496)),
}  # fmt: skip


def test_beside_its_root_a_tree_has_no_other() -> None:
    assert received(leaf(0)) == Tree(limits_of().schema, Leaf(tuple(map(float, HALVES)), 0), TO_THE_END)
    assert received(leaf(0), leaf(0)) is PeerError


@pytest.mark.parametrize("nodes", IMPOSSIBLE.values(), ids=list(IMPOSSIBLE))
def test_counts_and_labels_that_no_records_have_are_refused(nodes: tuple[SentNode, ...]) -> None:
    counts = (600, 400) if nodes == IMPOSSIBLE["a class that the root's records do not have"] else HALVES
    assert received(*nodes, limits=limits_of(counts=counts)) is PeerError


@pytest.mark.parametrize(("most", "error", "taken"), [(9, 18, True), (9, 19, False), (9, -1, False), (0, 1, False)])
def test_an_error_of_the_accuracy_that_no_held_out_records_have_is_refused(most: int, error: int, taken: bool) -> None:
    """Each of `n` records adds at most `f` to a sum of at most `most = n f`, so its error is that at most."""
    got = received(split(0), leaf(0, 504, 0), leaf(1, 0, 496), most=most, error=error)
    assert isinstance(got, Tree) if taken else got is PeerError


def full(columns: int, depth: int, level: int = 0) -> list[SentNode]:
    """Return all nodes of a tree that splits every node of its first levels."""
    counts = (500 >> level, 500 >> level) if level else ()
    if level == depth:
        return [leaf(0, *counts)]
    return [split(level, *counts), *full(columns, depth, level + 1), *full(columns, depth, level + 1)]


def test_a_tree_is_no_deeper_than_was_agreed() -> None:
    assert isinstance(received(*full(6, 3), limits=limits_of(6, Growth(max_depth=3))), Tree)
    assert received(*full(6, 4), limits=limits_of(6, Growth(max_depth=3))) is PeerError


def test_of_eight_records_the_ninth_split_of_a_level_is_one_too_many() -> None:
    limits = limits_of(6, counts=(4, 4))
    nodes = [replace(node, counts=() if not k else (0, 0)) for k, node in enumerate(full(6, 4))]
    assert isinstance(received(*nodes, limits=limits), Tree)
    deeper = [replace(node, counts=() if not k else (0, 0)) for k, node in enumerate(full(6, 5))]
    assert received(*deeper, limits=limits) is PeerError


def comb(columns: int) -> SentTree:
    """Return a tree over two-valued columns that is one long chain: what made each path as long as the tree is deep."""
    nodes = [split(0)]
    for column in range(1, columns):
        nodes += [leaf(0, 0, 0), split(column, *HALVES)]
    return SentTree((*nodes, leaf(0, 0, 0), leaf(0, *HALVES)), 0, 0)


def steps_and_memory(action: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions are called, and the most memory that is used at a time."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        del frame, argument
        calls += event in ("call", "c_call")

    tracemalloc.start()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return calls, peak


def test_a_comb_of_twice_as_many_columns_takes_twice_the_steps_and_memory() -> None:
    """Were paths copied, either would be four times as much. What is done with a tree to its end is counted too."""

    def read(columns: int) -> tuple[int, int]:
        frame, limits = encode(comb(columns)), limits_of(columns)

        def use() -> None:
            tree = received(*decode(frame, SentTree).nodes, limits=limits)
            assert (tree.size, tree.depth, len(tree.columns)) == (2 * columns + 1, columns, columns)
            assert tree.digest()
            assert tree_json(tree)

        use()
        return steps_and_memory(use)

    (steps, memory), (more_steps, more_memory) = read(300), read(600)
    assert 1.8 < more_steps / steps < 2.2
    assert more_memory / memory < 2.4


def test_a_node_list_that_goes_on_is_refused_at_the_first_node_too_many() -> None:
    class Nodes(tuple[SentNode, ...]):
        """Tell how far they were read."""

        read = 0

        def __iter__(self) -> Any:
            for node in super().__iter__():
                Nodes.read += 1
                yield node

    endless = Nodes([split(0), leaf(0, 504, 0), leaf(1, 0, 496), *[leaf(0, 0, 0)] * 10_000])
    assert received(limits=limits_of()) is PeerError
    end = replay(receive_mined(0.0, limits_of()), [SentTree(endless, 0, 0)])
    assert type(end.error) is PeerError
    assert Nodes.read == 4


@settings(max_examples=60)
@given(cases(rows=40), st.sampled_from([Growth(), Growth(min_leaf=3), Growth(max_depth=2)]))
def test_what_an_honest_miner_sends_is_always_taken(case: Case, growth: Growth) -> None:
    terms = replace(case.terms, method=Method.RANDOMIZED, min_leaf=growth.min_leaf, max_depth=growth.max_depth)
    outcomes: list[Outcome] = []
    try:
        outcomes += play(replace(case, terms=terms))
    except DisagreementError:  # no leaf of three among so few
        return
    except InputError as error:
        assert "more splits on a level than records" in str(error)  # noqa: PT017
        return
    assert outcomes[0] == outcomes[1]


def test_a_miner_sends_no_tree_that_a_receiver_would_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MinedLimits, "most_splits", 0)
    with pytest.raises(InputError, match="more splits on a level than records: set min_leaf, or a max_depth"):
        play(CASE)
