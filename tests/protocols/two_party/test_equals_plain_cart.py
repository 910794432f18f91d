"""With two-way splits the tree is that of CART on the joined table, node for node, whatever counts and shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocols.counting.estimated import ConditionEstimates, Estimator
from protocols.counting.rows import View, make_view
from protocols.counts import Query
from protocols.errors import DisagreementError
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import run_pair
from protocols.simulation.noise import grow_alone_with_noise, grow_with_noise
from protocols.simulation.two_party import HoldOut, bulk_draw
from protocols.tables import Attribute, Codes, Expression, Schema, Table, Term, joint_schema, two_way
from protocols.terms import Impurity, Method, Splits
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs, split_records
from protocols.two_party.noise import noises_of, tree_noise_of
from protocols.two_party.training import Outcome
from tests.support.cases import cases
from tests.support.examples import at_most, few
from tests.support.parties import Case, make_local, make_roles, make_terms
from tests.support.plain import Nested, PlainCart, nested, schema_of

WAYS: Mapping[str, dict[str, Any]] = {
    "shown counts": {},
    "shown counts by dot products": {"counting": "paillier"},
    "the tree alone": {"reveal": "tree", "most_bits": 10**6},
}


@dataclass
class Run:
    """A run of both over columns of which some have an order."""

    case: Case
    ordered: tuple[int, ...]

    def local(self, party: str) -> PartyInputs:
        local = make_local(self.case, party)
        counts = [n if party == "alice" else self.ordered[-1 - at] for at, n in enumerate(self.ordered)]
        columns = [
            replace(each, ordered=count if 2 <= count <= each.size else 0)
            for each, count in zip(local.attributes, counts, strict=False)
        ]
        return replace(local, table=Table((*columns, *local.table.attributes[len(columns) :]), local.table.codes))

    def play(self) -> tuple[Agreement, Outcome, Agreement]:
        locals_ = self.local("alice"), self.local("bob")
        (ours, outcome), (theirs, same) = run_pair(*make_roles(self.case, *locals_))
        assert outcome == same
        return ours, outcome, theirs

    @property
    def schema(self) -> Schema:
        columns = [each for party in ("alice", "bob") for each in self.local(party).attributes]
        label = Attribute(min(self.case.class_owners), "class", tuple(f"v{i}" for i in range(self.case.classes)))
        return joint_schema(columns, label, self.case.class_owners)

    def cart(self) -> PlainCart:
        terms = self.case.terms
        limits = {"max_depth": terms.max_depth, "min_leaf": terms.min_leaf, "impurity": terms.impurity}
        return PlainCart.of(self.schema.attributes, self.case.classes, **limits)


def without_counts(node: Nested) -> Nested:
    _, place, *below = node
    return (place, *map(without_counts, below))


@st.composite
def limits(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "max_depth": draw(st.integers(1, 4)),
        "min_leaf": draw(st.integers(1, 6)),
        "impurity": draw(st.sampled_from([Impurity.INFORMATION_GAIN, Impurity.GINI])),
    }


ORDERS = st.lists(st.sampled_from([0, 2, 3, 4, 5]), min_size=3, max_size=3).map(tuple)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=at_most(24))
@given(case=cases(rows=60, sizes=(2, 5)), limited=limits(), ordered=ORDERS)
def test_it_is_plain_cart_with_the_same_limits(
    way: str, case: Case, limited: dict[str, Any], ordered: tuple[int, ...]
) -> None:
    """The oracle is written independently."""
    test = 0 if "reveal" in WAYS[way] else case.terms.test
    terms = make_terms(
        method="smc", splits=Splits.TWO_WAY, seed=case.terms.seed, test=Fraction(test), **WAYS[way], **limited
    )
    train, held_out = split_records(terms.seed, len(case.codes), terms.test)
    assume(terms.min_leaf == 1 or 2 * terms.min_leaf <= len(train))
    assume(case.classes == 2 or terms.impurity != Impurity.GINI or not terms.hides_counts)
    run = Run(replace(case, terms=terms), ordered)
    _, outcome, _ = run.play()
    plain = run.cart().grow(case.codes[train].tolist())
    if terms.hides_counts:
        assert without_counts(nested(outcome.tree.root)) == without_counts(plain)
    else:
        assert nested(outcome.tree.root) == plain
        rows = run.cart().answers(case.codes[held_out].tolist())
        right = sum(_end(plain, row)[1] == row[-1] for row in rows)
        assert outcome.correct == (right if rows else None)


def _end(node: Nested, row: list[int]) -> Nested:
    return _end(node[2 + row[node[1]]], row) if len(node) > 2 else node


BINS = ("<= 20", "(20, 40]", "> 40", "missing")
AGES, JOBS = Attribute("alice", "age", BINS, ordered=3), Attribute("bob", "job", ("cook", "clerk", "smith"))


def test_a_column_is_used_again_below_and_each_condition_is_called_after_its_cut_or_value() -> None:
    """Whom the middle of an ordered column tells apart: two cuts find what no single one does."""
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, 4, 400), rng.integers(0, 3, 400)], axis=1).astype(np.uint8)
    label = (codes[:, 0] == 1) ^ (rng.random(400) < 0.1)
    case = Case(
        {"alice": (4,), "bob": (3,)}, ("bob",), 2, np.column_stack([codes, label]).astype(np.uint8),
        {"alice": 1, "bob": 1}, make_terms(method="smc", splits="two-way", min_leaf=20, max_depth=3, test=Fraction(0)),
    )  # fmt: skip
    alice, bob = make_local(case, "alice"), make_local(case, "bob")
    bob = replace(bob, table=Table((JOBS, bob.table.attributes[-1]), bob.table.codes))
    alice = replace(alice, table=Table((AGES,), alice.table.codes))
    (_, outcome), _ = run_pair(*make_roles(case, alice, bob))
    names = [each.name for each in outcome.tree.schema.attributes]
    assert names == ["age <= 20", "age <= 40", "age = missing", "job = cook", "job = clerk", "job = smith"]
    splits = [names[node.attribute] for _, node in outcome.tree.splits()]
    assert splits[:2] == ["age <= 40", "age <= 20"]
    predicted = outcome.tree.predict(outcome.tree.schema.recode(codes))
    assert predicted.tolist() == (codes[:, 0] == 1).astype(int).tolist()


@pytest.mark.parametrize("reveal", few(["tree", "counts"], 2))
def test_with_noise_it_is_the_tree_of_who_sees_all_and_adds_the_noise_of_both(reveal: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, [5, 3, 4, 2, 2], (300, 5)).astype(np.uint8)
    codes[:, -1] = (codes[:, 0] > 2) ^ (rng.random(300) < 0.2)
    terms = make_terms(
        method="smc", splits="two-way", reveal=reveal, noise=Fraction(4), max_depth=3, impurity=Impurity.GINI,
        test=Fraction(0),
    )  # fmt: skip
    run = Run(Case({"alice": (5, 3), "bob": (4, 2)}, ("bob",), 2, codes, {"alice": 1, "bob": 1}, terms), (5, 0, 4))
    ours, outcome, theirs = run.play()
    sides = {party: (run.local(party), each.learning) for party, each in (("alice", ours), ("bob", theirs))}
    schema = ours.learning.schema
    assert schema == outcome.tree.schema
    rows = np.array(run.cart().answers(codes.tolist()), np.uint8)
    if reveal == "tree":
        drawn = [tree_noise_of(local, agreed, len(codes)) for local, agreed in sides.values()]
        assert outcome.tree == grow_alone_with_noise(schema, rows, [each for each in drawn if each], terms.growth)
        return
    both = {party: noises_of(local, agreed) for party, (local, agreed) in sides.items()}
    own = {party: each.own for party, each in both.items() if each}
    assert outcome.tree == grow_with_noise(HoldOut(schema, rows, rows[:0]), own, terms.growth).tree


def view_of(codes: Codes, schema: Schema, theta: Fraction, seed: int) -> View:
    """Return what Bob sees, with a coin of its own for each of Alice's columns."""
    sizes = [each.size for each in schema.attributes if each.party == "alice"]
    design = RelatedDesign.of_odds(tuple(sizes), tuple((at,) for at in range(len(sizes))), theta)
    copy = design.randomize(codes[:, : len(sizes)], bulk_draw(np.random.default_rng(seed), len(codes)))
    return make_view(schema, "bob", codes[:, len(sizes) :], copy, design)


def asked(schema: Schema, terms: Sequence[Term]) -> Query:
    path = Expression(tuple(terms))
    return Query(path, tuple(c for c in range(len(schema.attributes)) if c not in path.columns), None)


def test_estimates_of_conditions_on_two_values_are_those_of_the_values_and_so_are_their_variances() -> None:
    schema = schema_of((2, 2, 2, 2), 3, 2)
    codes = np.random.default_rng(1).integers(0, [2, 2, 2, 2, 3], (90, 5)).astype(np.uint8)
    view = view_of(codes, schema, Fraction(2, 3), 2)
    queries = [asked(schema, [Term(at, value) for at, value in path]) for path in ((), ((0, 1),), ((2, 0), (1, 1)))]
    answers = ConditionEstimates(view, two_way(schema)).answers(queries)
    for ours, theirs in zip(answers, Estimator(view).answers(queries), strict=True):
        np.testing.assert_allclose(ours.tables, theirs.tables, atol=1e-9)
        np.testing.assert_allclose(ours.noises, theirs.noises, atol=1e-9)


def test_estimates_of_conditions_add_up_those_of_the_values_of_which_they_are_true() -> None:
    columns = [
        replace(each, ordered=each.size) if each.size > 2 else each for each in schema_of((5, 4), 2, 1).attributes
    ]
    schema = joint_schema(columns, schema_of((5, 4), 2, 1).class_attribute, ["bob"])
    codes = np.random.default_rng(1).integers(0, [5, 4, 2], (90, 3)).astype(np.uint8)
    view, derived = view_of(codes, schema, Fraction(2, 3), 2), two_way(schema)
    (answer,) = ConditionEstimates(view, derived).answers([asked(derived, [Term(3, 0), Term(0, 1)])])
    table = np.array(
        [Estimator(view).answers([Query(Expression((Term(0, v),)), (1,), None)])[0].tables[0] for v in range(5)]
    )
    among = table[1:4]  # up to the fourth value, and not up to the first
    assert derived.conditions[3].codes == (0, 1, 2, 3)
    for candidate, found in zip(asked(derived, [Term(3, 0), Term(0, 1)]).candidates, answer.tables, strict=True):
        column, below = derived.conditions[candidate].column, len(derived.conditions[candidate].codes)
        yes = among[: max(0, below - 1)].sum((0, 1)) if column == 0 else among[:, :below].sum((0, 1))
        np.testing.assert_allclose(found, [yes, among.sum((0, 1)) - yes], atol=1e-9)


def test_windows_of_conditions_are_of_the_best_estimates_and_the_tree_is_theirs() -> None:
    """A window as wide as all conditions leaves the tree of all; a small one the tree of whom it lets compete."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, [5, 3, 4, 2], (400, 4)).astype(np.uint8)
    codes[:, -1] = (codes[:, 0] > 2) ^ (rng.random(400) < 0.2)
    terms = make_terms(
        method="hybrid", omega=3, theta=Fraction(9, 10), splits=Splits.TWO_WAY, reveal="tree", max_depth=2, min_leaf=20,
        test=Fraction(0),
    )  # fmt: skip
    run = Run(Case({"alice": (5, 3), "bob": (4,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, terms), (5, 0, 4))
    _, outcome, _ = run.play()
    best = outcome.tree.schema.attributes[next(iter(outcome.tree.splits()))[1].attribute]
    assert best.name == "a0 <= v2"
    everybody = replace(run, case=replace(run.case, terms=replace(terms, omega=50)))
    smc = replace(run, case=replace(run.case, terms=replace(terms, method=Method.SMC)))
    assert everybody.play()[1].tree.root == smc.play()[1].tree.root
    shared = replace(run, case=replace(run.case, groups={"alice": 1, "bob": 1}))
    with pytest.raises(DisagreementError, match="a coin of its own"):
        shared.play()
