"""Who sees how long the frames of a run are, and reads none of them, learns nothing of the counts (SECURITY)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor

from party.wire.codec import encode
from party.wire.v1 import node_pb2 as wire
from protocols.learning.tree import Split
from protocols.messages import ClassCounts, ExactCounts, SetCounts
from protocols.role import Message, Transcript
from protocols.tables import Codes
from protocols.terms import Learner, Method, RuleTerms
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.parties import Case, make_terms, play

RECORDS = 600
WAYS: dict[str, dict[str, Any]] = {
    "all candidates": {"test": Fraction(0)},
    "the best candidate": {"omega": 1, "test": Fraction(0)},
    "dot products": {"counting": "paillier"},
    "smc": {"method": "smc", "test": Fraction(0)},
    "noise": {"method": "smc", "noise": Fraction(50)},
    "a tree alone": {"method": "smc", "reveal": "tree", "min_leaf": 20},
    "mined": {"method": "randomized"},
    "naive Bayes": {"learner": Learner.NAIVE_BAYES, "method": "smc", "max_depth": None, "test": Fraction(0)},
}
COLUMNS = {
    # of the records, how many have each of Alice's two columns, Bob's column and the class, and differ from the class
    "few": (20, 40, 60, 30),
    "half": (300, 290, 310, 300),
    "nearly all": (580, 560, 550, 570),
}

OF_ONE_LENGTH = {"few": (20, 40, 60, 290), "half": (150, 140, 160, 300), "nearly all": (580, 560, 550, 310)}
"""The same, but the classes of all of them have counts of as many binary digits."""
TRANSFERS = {"all candidates", "the best candidate", "smc", "naive Bayes"}


def table(ones: tuple[int, ...]) -> Codes:
    """Return columns in which this many records have the second value, all of them in the same corner."""
    return np.column_stack([np.arange(RECORDS) < count for count in ones]).astype(np.uint8)


def tree_case(ones: tuple[int, ...], changes: dict[str, Any]) -> Case:
    """Return a case with columns of two values; a tree has one split, whichever column makes it."""
    usual = {"max_depth": 1, "theta": Fraction(19, 20), "test": Fraction(1, 4)}
    terms = make_terms(**usual | changes)
    return Case({"alice": (2, 2), "bob": (2,)}, ("bob",), 2, table(ones), {"alice": 2, "bob": 2}, terms)


def crossed(transcript: Transcript) -> list[Message]:
    return [*transcript.sent_by_a, *transcript.sent_by_b]


def widths(messages: list[Message]) -> int:
    """Return how many bytes the numbers of a run take if each is as short as it can be, as they were."""
    told = [each for each in messages if isinstance(each, ClassCounts | ExactCounts)]
    numbers = [number for each in told for number in each.values]
    numbers += [n for each in messages if isinstance(each, SetCounts) for n in each.counts]
    return sum(max(1, -(-int(number).bit_length() // 7)) for number in numbers)


def lengths_by_purity(strays: int, changes: dict[str, Any]) -> tuple[set[int], tuple[int, ...]]:
    """Return the columns of a tree of two levels, and all lengths; in a branch this many are of the rarer class."""
    first = np.arange(RECORDS) < RECORDS // 2
    label = first ^ (np.arange(RECORDS) % 300 < strays)
    second = label ^ (np.arange(RECORDS) % 4 == 0)
    codes = np.column_stack([first, np.zeros(RECORDS), second, label]).astype(np.uint8)
    terms = make_terms(**{"method": "smc", "test": Fraction(0), "max_depth": 2} | changes)
    seen = Transcript()
    outcome, _ = play(Case({"alice": (2, 2), "bob": (2,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, terms), seen)
    split = {node.attribute for _, node in outcome.tree.walk() if isinstance(node, Split)}
    return split, tuple(len(encode(message)) for message in crossed(seen))


def test_transfers_are_as_long_as_a_nodes_counts_of_the_classes_have_binary_digits() -> None:
    """This is what lengths tell who watches the line (SECURITY); by dot products they tell the tree alone."""
    for changes, tells in [({}, True), ({"counting": "paillier"}, False)]:
        (tree, few), (other, many) = (lengths_by_purity(strays, changes) for strays in (10, 60))
        assert tree == other == {0, 2}
        assert (few != many) == tells


@pytest.mark.parametrize("way", WAYS)
def test_no_frame_of_a_run_is_longer_or_shorter_for_the_counts_in_it(way: str) -> None:
    lengths, short = set(), set()
    for ones in (OF_ONE_LENGTH if way in TRANSFERS else COLUMNS).values():
        seen = Transcript()
        play(tree_case(ones, WAYS[way]), seen)
        lengths.add(tuple(len(encode(message)) for message in crossed(seen)))
        short.add(widths(crossed(seen)))
    assert len(lengths) == 1
    hides = way in ("a tree alone", "mined")  # of others the lengths would have told
    assert (len(short) > 1) != hides


@pytest.mark.parametrize("method", Method)
def test_no_frame_of_rules_is_longer_or_shorter_for_the_counts_in_it(method: Method) -> None:
    """All sets of items are frequent in each of these tables."""
    lengths, short = set(), set()
    for shares in ((1 / 2, 1 / 2), (1 / 6, 1 / 8), (7 / 8, 4 / 5)):
        codes = (np.random.default_rng(1).random((RECORDS, 4)) < [*shares, *shares]).astype(np.uint8)
        terms = rule_terms(RuleTerms(Fraction(1, 200), 2, 60), method=method)
        seen = Transcript()
        RuleCase({"alice": (2, 2), "bob": (2, 2)}, codes, terms).play(seen)
        lengths.add(tuple(len(encode(message)) for message in crossed(seen)))
        short.add(widths(crossed(seen)))
    assert len(lengths) == 1
    assert (len(short) > 1) == (method != Method.RANDOMIZED)  # by copies alone no count crosses


OF_NO_COUNT = {
    "Greeting",  # terms, of the job
    "Share", "Attribute", "Group",  # names, and how many records both have
    "Terms", "RuleTerms", "PredictionTerms", "Alignment",
    "IdList", "PeopleOffer", "RowsShare", "ListCommitment",  # how long lists are
    "MemoryHeads", "SignedHead", "KeptParts",  # how many entries, answers and bytes are kept
}  # fmt: skip


def below(kind: Any) -> Iterator[Any]:
    """Yield a kind of message and all that it is made of."""
    yield kind
    for field in kind.fields:
        if field.message_type is not None:
            yield from below(field.message_type)


def test_every_number_that_crosses_has_one_width_or_follows_from_no_count() -> None:
    """A number without a width of its own is new here: say why it tells of no count, or give it one."""
    fixed = {"fixed32", "fixed64", "sfixed32", "sfixed64", "float", "double"}
    names = {getattr(FieldDescriptor, f"TYPE_{name.upper()}") for name in fixed}
    texts = {FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE}
    loose = {
        kind.name for kind in below(wire.Frame.DESCRIPTOR) for field in kind.fields if field.type not in names | texts
    }
    assert loose <= OF_NO_COUNT
    present = [
        (kind.name, field.name)
        for kind in below(wire.Frame.DESCRIPTOR)
        for field in kind.fields
        if field.type in names and not (field.is_repeated or field.has_presence)
    ]
    assert present == []  # a single number that is 0 would be left out
