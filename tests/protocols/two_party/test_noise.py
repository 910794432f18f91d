"""Runs with noise: what each side sees, that both end alike, and that no term draws the same noise again."""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.counting.dot_product import make_layout, plan, shapes_of
from protocols.counts import Query
from protocols.messages import ClassCounts, ExactCounts, PackedCounts
from protocols.noise.both import BothNoises
from protocols.role import Message, Transcript, run_pair
from protocols.tables import ROOT, Table
from protocols.terms import ALL, Counting, Impurity, Learner, Method, TermError, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import split_records
from protocols.two_party.noise import noises_of, run_digest
from tests.support.cases import correlated
from tests.support.curious import Told, listening
from tests.support.duel import End, duel
from tests.support.parties import (
    NO_LIMITS,
    Case,
    key_holder,
    learned,
    make_local,
    make_roles,
    make_terms,
    plain_id3,
    play,
)

SIZES: dict[str, tuple[int, ...]] = {"alice": (3, 2), "bob": (2, 2)}
WAYS = [
    {"method": "hybrid", "counting": "oblivious_transfer"},
    {"method": "hybrid", "counting": "paillier"},
    {"method": "smc"},
    {"method": "hybrid", "counting": "oblivious_transfer"},
    {"method": "smc"},
]
GINI = {"method": "smc", "impurity": "gini"}


def _case(owners: tuple[str, ...] = ("bob",), rows: int = 300, **changes: Any) -> Case:
    terms = make_terms(**({"noise": Fraction(4), "max_depth": 2} | changes))
    return Case(SIZES, owners, 2, correlated([3, 2, 2, 2, 2], rows), {"alice": 1, "bob": 1}, terms)


def _crossed(transcript: Transcript) -> list[Message]:
    return [*transcript.sent_by_a, *transcript.sent_by_b]


def _agreed(case: Case) -> dict[str, Agreement]:
    (alice, _), (bob, _) = run_pair(*make_roles(case))
    return {"alice": alice, "bob": bob}


def _noises(case: Case, agreed: dict[str, Agreement]) -> dict[str, BothNoises]:
    made = {party: noises_of(make_local(case, party), agreed[party]) for party in ("alice", "bob")}
    assert all(made.values())
    return {party: noises for party, noises in made.items() if noises}


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("owners", [("alice",), ("bob",), ("alice", "bob")], ids="+".join)
def test_noise_that_is_next_to_nothing_leaves_plain_id3(way: dict[str, Any], owners: tuple[str, ...]) -> None:
    """At scale 0.028 or less a number is changed with a chance below 1e-15."""
    case = _case(owners, noise=Fraction(1000), **way)
    a, b = play(case)
    plain, correct = plain_id3(case)
    assert a == b
    assert a.tree == plain.tree
    assert a.correct == correct


@pytest.mark.parametrize("way", [*WAYS, GINI], ids=str)
def test_both_sides_end_alike_however_much_noise_there_is(way: dict[str, Any]) -> None:
    for noise in (Fraction(1, 10), Fraction(5)):
        a, b = play(_case(noise=noise, **way))
        assert a == b
        assert a.tree.depth <= 2
        assert all(count >= 0 for _, node in a.tree.walk() for count in node.counts)
        assert a.standard_error > 0


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_told_number_is_the_count_with_both_sides_noise_and_no_side_sees_it_with_less(way: dict[str, Any]) -> None:
    case = _case(**way)
    transcript = Transcript()
    run_pair(*make_roles(case), transcript)
    noises, schema = _noises(case, _agreed(case)), _agreed(case)["alice"].schema
    train, *_ = split_records(case.terms.seed, len(case.codes), case.terms.test)
    true = [
        count
        for candidate, attribute in enumerate(schema.attributes)
        for count in np.bincount(case.codes[train, candidate] * 2 + case.codes[train, -1], minlength=2 * attribute.size)
    ]
    drawn = {
        party: [z for c, a in enumerate(schema.attributes) for z in noises[party].own.cells(ROOT, c, 2 * a.size)]
        for party in noises
    }
    told = next(message for message in _crossed(transcript) if isinstance(message, ExactCounts)).values
    lift = noises["alice"].cells.both
    assert [t - lift for t in told] == [sum(each) for each in zip(true, drawn["alice"], drawn["bob"], strict=True)]
    assert any(drawn["alice"]) and any(drawn["bob"])  # noqa: PT018


def test_the_key_holder_decrypts_counts_with_the_evaluators_noise() -> None:
    case = _case(counting="paillier")
    transcript = Transcript()
    (alice, outcome), _ = run_pair(*make_roles(case), transcript)
    assert outcome.key is not None
    holder = outcome.key.holder
    noises = _noises(case, {"alice": alice, "bob": _agreed(case)["bob"]})[holder]
    told = next(message for message in _crossed(transcript) if isinstance(message, ExactCounts)).values
    sealed = next(message for message in _crossed(transcript) if isinstance(message, PackedCounts)).ciphertexts
    key = key_holder(0 if holder == "alice" else 1)
    records, schema = outcome.records_train + 2 * noises.cells.theirs, alice.schema
    query = Query(ROOT, tuple(range(len(schema.attributes))), None)
    items = plan([query], make_layout(schema, holder, records, key.public))
    numbers = key.counts(sealed, shapes_of(items), records)
    places = [place for item in items for place in item.cells]
    decrypted = [number for _, number in sorted(zip(places, numbers, strict=True))]
    own = [z for c, a in enumerate(alice.schema.attributes) for z in noises.own.cells(ROOT, c, 2 * a.size)]
    assert [d + z + noises.cells.own for d, z in zip(decrypted, own, strict=True)] == list(told)


def test_the_class_counts_are_told_with_their_holders_noise() -> None:
    case = _case()
    transcript = Transcript()
    run_pair(*make_roles(case), transcript)
    noises = _noises(case, _agreed(case))["bob"]
    train, *_ = split_records(case.terms.seed, len(case.codes), case.terms.test)
    (told,) = [message.values for message in _crossed(transcript) if isinstance(message, ClassCounts)]
    true = np.bincount(case.codes[train, -1]).tolist()
    lifted = [t - noises.cells.own for t in told]
    assert lifted == [count + z for count, z in zip(true, noises.own.class_counts(2), strict=True)]


def test_a_class_that_both_hold_is_no_secret_between_them() -> None:
    transcript = Transcript()
    case = _case(("alice", "bob"))
    run_pair(*make_roles(case), transcript)
    train, *_ = split_records(case.terms.seed, len(case.codes), case.terms.test)
    told = [message.values for message in _crossed(transcript) if isinstance(message, ClassCounts)]
    assert told == [tuple(np.bincount(case.codes[train, -1]).tolist())] * 2


def test_a_peers_class_counts_may_miss_the_number_of_records_by_noise_and_no_more() -> None:
    case = _case()
    lift = _noises(case, _agreed(case))["bob"].cells.own

    def told(change: int) -> End[Any]:
        def tamper(who: str, number: int, message: Message) -> Message:
            del who, number
            return ClassCounts((lift + 120 + change, lift + 120)) if isinstance(message, ClassCounts) else message

        return duel(*make_roles(case), tamper)[0]

    assert "class counts do not add up" not in str(told(10).error)
    assert "class counts do not add up" in str(told(lift).error)


def test_a_run_is_told_apart_by_terms_tables_and_peer() -> None:
    case = _case()
    local, agreement = make_local(case, "alice"), _agreed(case)["alice"]
    schema = agreement.schema
    other_name = (replace(schema.attributes[0], name="another"), *schema.attributes[1:])
    changed = [
        agreement,
        replace(agreement, terms=replace(agreement.terms, noise=Fraction(2))),
        replace(agreement, terms=replace(agreement.terms, max_depth=3)),
        replace(agreement, peer="carol"),
        replace(agreement, commitment=b"another table"),
        replace(agreement, schema=replace(schema, attributes=other_name)),
        replace(agreement, schema=replace(schema, class_owners=("alice", "bob"))),
    ]
    other = make_local(replace(case, codes=correlated([3, 2, 2, 2, 2], 300, seed=1)), "alice")
    digests = [run_digest(local, each) for each in changed] + [run_digest(other, agreement)]
    assert len(set(digests)) == len(digests)
    turned = replace(agreement, schema=replace(schema, attributes=schema.attributes[::-1]))
    assert run_digest(local, agreement) == run_digest(local, turned) == digests[0]


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"noise": Fraction(0)}, "noise", "from 0.001 to 1000"),
        ({"noise": Fraction(-1)}, "noise", "from 0.001 to 1000"),
        ({"noise": Fraction(1001)}, "noise", "from 0.001 to 1000"),
        ({"noise": Fraction(1), "max_depth": None}, "noise", "needs a max_depth"),
        ({"noise": Fraction(1), "omega": 2}, "noise", 'needs omega = "all"'),
        ({"noise": Fraction(1), "method": "randomized"}, "noise", "needs method"),
    ],
)
def test_noise_that_bounds_nothing_is_refused(changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(TermError, match=words) as caught:
        make_terms(**{"max_depth": 3, "omega": ALL} | changes)
    assert caught.value.field == field


SMC = make_terms(method="smc", noise=Fraction(20), max_depth=2)
VARIED: dict[str, dict[str, Any]] = {
    "method": {"method": Method.HYBRID, "omega": ALL},
    "theta": {"theta": Fraction(3, 5)},
    "omega": {"omega": 3},
    "counting": {"counting": Counting.PAILLIER},
    "seed": {"seed": 3},
    "test": {"test": Fraction(1, 4)},
    "key_bits": {"key_bits": 128},
    "max_depth": {"max_depth": 3},
    "min_leaf": {"min_leaf": 12},
    "noise": {"noise": Fraction(10)},
    "impurity": {"impurity": Impurity.GINI},
}
IDLE = {"method", "theta", "omega", "counting", "key_bits"}
OF_THE_TRUTH = {"seed", "test"}
OF_THE_SCALE = {"max_depth", "noise"}


def case_of(terms: Terms) -> Case:
    codes = correlated([3, 2, 2, 2, 3], 400)
    return Case({"alice": (3, 2), "bob": (2, 2)}, ("bob",), 3, codes, {"alice": 1, "bob": 1}, terms)


def by_node(told: Told) -> dict[Any, list[list[float]]]:
    """Return told tables by what was asked, whatever the order of a path."""
    return {(frozenset(e.terms), c, t.shape): t.tolist() for (e, c), t in told.items()}


def run_on(terms: Terms) -> tuple[bytes, dict[Any, list[list[float]]]]:
    """Return Alice's digest of a run, and all counts that it tells."""
    case = case_of(terms)
    with listening() as told:
        (agreed, _), _ = run_pair(*make_roles(case))
    return run_digest(make_local(case, "alice"), agreed), by_node(told)


def test_every_term_that_a_partner_may_choose_is_varied_here() -> None:
    beside = {
        "class_name",
        "rules",
        "learner",
        "reveal",
        "most_bits",
    }  # no rules and no hidden counts under noise; learners are below
    assert {*VARIED, *beside} == {field.name for field in fields(Terms)}


@pytest.mark.parametrize("name", VARIED)
def test_a_varied_term_tells_the_same_numbers_again_or_spends_epsilon_of_its_own(name: str) -> None:
    terms = replace(SMC, **VARIED[name])
    (before, first), (after, second) = run_on(SMC), run_on(terms)
    assert (before == after) == (name in IDLE)
    if name in IDLE:
        assert first == second
        return
    shared = first.keys() & second.keys()
    assert shared
    alike = {key for key in shared if first[key] == second[key]}
    assert alike == (set() if name in OF_THE_TRUTH | OF_THE_SCALE else shared)


def test_another_learner_spends_epsilon_of_its_own_and_has_other_noise() -> None:
    """The root's counts are asked by both; a tree tells more of the same people, so that its scale is another."""
    everyone = replace(SMC, test=Fraction(0))
    (before, tree), (after, bayes) = (
        run_on(everyone),
        run_on(learned(everyone, Learner.NAIVE_BAYES)),
    )
    assert before != after
    shared = tree.keys() & bayes.keys()
    assert len(shared) == 4
    assert not [key for key in shared if tree[key] == bayes[key]]


def test_the_order_of_a_partners_columns_changes_no_number() -> None:
    """Five columns have 120 orders: were each another noise, they would average to the truth."""
    case = case_of(SMC)
    bob = make_local(case, "bob")
    *columns, label = bob.table.attributes
    turned = replace(
        bob, table=Table((*columns[::-1], label), bob.table.codes[:, [1, 0, 2]]), groups=((0,), (1,), (2,))
    )
    heard: list[dict[Any, list[list[float]]]] = []
    digests = []
    for each in (replace(bob, groups=((0,), (1,), (2,))), turned):
        with listening() as told:
            (agreed, _), _ = run_pair(*make_roles(case, bob=replace(each, limits=NO_LIMITS)))
        names = [attribute.name for attribute in agreed.schema.attributes]
        heard.append({
            (frozenset((names[t.column], t.value) for t in e.terms), names[c]): table.tolist()
            for (e, c), table in told.items()
        })  # fmt: skip
        digests.append(run_digest(make_local(case, "alice"), agreed))
    assert heard[0] == heard[1]
    assert digests[0] == digests[1]
