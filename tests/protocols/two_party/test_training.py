"""A run's own steps: the split, who chooses or holds the key, pages of copies, equal models; naive Bayes by them."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, InputError, PeerError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import ChoicePage, CiphertextPage, DisguisedPage, ExactCounts, HolderKey, ModelDigest
from protocols.role import Message, Phase, Progress, Transcript, run_pair, with_progress
from protocols.tables import Codes
from protocols.terms import ALL, Counting, Impurity, Learner, Terms
from protocols.two_party import secure
from protocols.two_party.inputs import split_records
from protocols.two_party.secure import SharedKey, lighter_side
from protocols.two_party.training import Outcome
from tests.support.cases import cases, correlated
from tests.support.duel import End, duel
from tests.support.examples import at_most, few
from tests.support.models import bayes_of, small_model
from tests.support.parties import (
    TEST_BITS,
    Case,
    key_holder,
    learned,
    make_local,
    make_roles,
    make_terms,
    plain_id3,
    play,
    private_key,
)
from tests.support.plain import ReferenceId3

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 40, seed=3, flips=0.5),
    groups={"alice": 2, "bob": 1},
    terms=make_terms(),
)


ENCRYPTED = replace(
    CASE, sizes={"alice": (2, 3), "bob": (2,)}, codes=CASE.codes[:, [0, 1, 2, 4]], terms=make_terms(counting="paillier")
)


@given(st.integers(0, 2**64 - 1), st.integers(1, 200), st.fractions(0, 1).filter(lambda share: share < 1))
def test_the_split_parts_all_records_in_file_order(seed: int, records: int, test: Fraction) -> None:
    train, held_out = split_records(seed, records, test)
    assert sorted([*train, *held_out]) == list(range(records))
    assert list(train) == sorted(train)
    assert list(held_out) == sorted(held_out)
    assert len(held_out) == int(records * test)


Sizes = dict[str, tuple[int, ...]]


def test_the_key_holder_is_who_has_less_to_encrypt_and_the_first_name_of_equals() -> None:
    for size, holder, method, initiator in [
        (3, "alice", "hybrid", "alice"), (5, "bob", "smc", "alice"), (4, "alice", "smc", "bob"),
    ]:  # fmt: skip
        terms, groups = make_terms(counting="paillier", method=method), {"alice": 1, "bob": 1}
        codes = correlated([size, 2, 2, 2], 12)
        a, b = play(Case({"alice": (size,), "bob": (2, 2)}, ("alice", "bob"), 2, codes, groups, terms, initiator))
        key = private_key(0 if holder == "alice" else 1).public_key
        assert a.key == b.key == SharedKey(holder, key.fingerprint())


def test_who_lacks_the_class_chooses_or_who_has_less_to_choose() -> None:
    held: list[tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...], str]] = [
        ((2, 2, 2), (2,), ("bob",), "alice"), ((2,), (2, 2, 2), ("bob",), "alice"), ((2, 2), (2, 2), ("alice",), "bob"),
        ((3,), (2, 2), ("alice", "bob"), "alice"), ((5,), (2, 2), ("alice", "bob"), "bob"),
    ]  # fmt: skip
    for (ours, theirs, owners, chooser), initiator in product(held, ["alice", "bob"]):
        sizes = {"alice": ours, "bob": theirs}
        codes, sent = correlated([*ours, *theirs, 2], 30), Transcript()
        a, b = play(Case(sizes, owners, 2, codes, {"alice": 1, "bob": 1}, make_terms(), initiator), sent)
        assert a.key is b.key is None
        choosing, other = (sent.sent_by_a, sent.sent_by_b) if chooser == "alice" else (sent.sent_by_b, sent.sent_by_a)
        assert any(isinstance(message, ChoicePage) for message in choosing)
        assert not any(isinstance(message, ChoicePage) for message in other)


def test_a_class_that_one_side_alone_holds_is_one_more_column_to_encrypt() -> None:
    for peer, classes, lighter in [
        ([2], 2, "bob"), ([2, 2], 2, "bob"), ([2, 2, 2], 2, "bob"), ([3, 3], 2, "alice"), ([3, 3], 3, "bob"),
    ]:  # fmt: skip
        columns = {"alice": [2, 2], "bob": peer}
        seen_by_bob = dict(reversed(columns.items()))
        assert lighter_side(columns, "alice", classes) == lighter_side(seen_by_bob, "alice", classes) == lighter
        shared = "bob" if peer == [2] else "alice"
        assert lighter_side(columns, None, classes) == lighter_side(seen_by_bob, None, classes) == shared


def mirrored(owner: str, **changes: object) -> Case:
    """Both sides hold three columns of two values; the class, and the columns that follow it, go to the owner."""
    codes = correlated((2,) * 7, 60, seed=5, flips=0.3)
    halves = (codes[:, :3], codes[:, 3:6]) if owner == "alice" else (codes[:, 3:6], codes[:, :3])
    codes = np.column_stack([*halves, codes[:, 6]])
    terms = make_terms(counting="paillier", **changes)
    return Case({"alice": (2,) * 3, "bob": (2,) * 3}, (owner,), 2, codes, {"alice": 3, "bob": 3}, terms)


@pytest.mark.parametrize("changes", few([{"method": "smc"}, {"omega": 1}, {"omega": 2}], 3))
def test_of_equal_sides_the_one_without_the_class_encrypts_and_has_fewer_vectors(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    def encrypted(case: Case, holder: str) -> int:
        sent = Transcript()
        assert {outcome.key.holder for outcome in play(case, sent) if outcome.key} == {holder}
        pages = [page for page in [*sent.sent_by_a, *sent.sent_by_b] if isinstance(page, CiphertextPage)]
        return sum(len(page.ciphertexts) for page in pages)

    others = {"alice": "bob", "bob": "alice"}
    for owner, other in others.items():
        case = mirrored(owner, **changes)
        fewer = encrypted(case, other)
        with monkeypatch.context() as taken_out:
            taken_out.setattr(secure, "lighter_side", lambda *_, owner=owner: owner)
            assert encrypted(case, owner) > 1.05 * fewer


def test_the_split_depends_on_the_seed_alone_and_an_accuracy_is_exact_or_none() -> None:
    splits = {tuple(split_records(seed, 40, Fraction(1, 2))[1].tolist()) for seed in range(8)}
    assert len(splits) == 8
    assert tuple(split_records(7, 40, Fraction(1, 2))[1].tolist()) in splits
    # So what a copy ranks may lead to another tree; where none is sent, tree and accuracy are the same.
    case = replace(CASE, terms=make_terms(method="smc", max_depth=3))
    named = {party: replace(make_local(case, party), dataset="another") for party in ("alice", "bob")}
    for party, other in named.items():
        local = make_local(case, party)
        design = local.design(case.terms.theta, class_is_shared=False)
        assert (local.coins(design) != other.coins(design)).any()
    (_, again), _ = run_pair(*make_roles(case, named["alice"], named["bob"]))
    first, _ = play(case)
    assert (again.tree, again.correct, again.records_test) == (first.tree, first.correct, first.records_test)
    for method in ("hybrid", "smc"):
        a, b = play(replace(CASE, terms=make_terms(method=method)))
        assert a.correct is not None
        assert a.standard_error == b.standard_error == 0
    for method in ("hybrid", "smc", "randomized"):
        a, b = play(replace(CASE, terms=make_terms(method=method, test=Fraction(0))))
        assert a == b
        assert (a.records_train, a.records_test, a.correct) == (40, 0, None)
        assert a.exact_counts_disclosed == a.smc_computations + 2 * (method != "randomized")
    for end in play(replace(CASE, terms=make_terms(method="randomized"))):
        assert (end.key, end.smc_computations, end.exact_counts_disclosed) == (None, 0, 0)


def against(
    sender: str, kind: type[Message], change: Callable[[Any], Message], case: Case = CASE
) -> tuple[End[Any], End[Any]]:
    """Play the case, every message of this kind from one side changed on its way."""

    def tamper(who: str, number: int, message: Message) -> Message:
        return change(message) if who == sender and isinstance(message, kind) else message

    return duel(*make_roles(case), tamper)


def test_a_page_that_is_no_disguised_copy_is_refused() -> None:
    for change, text in [
        (lambda m: DisguisedPage(m.codes[:-1]), "wrong length"),
        (lambda m: DisguisedPage(m.codes + b"\0"), "wrong length"),
        (lambda m: DisguisedPage(b""), "wrong length"),
        (lambda m: DisguisedPage(b"\2" + m.codes[1:]), "outside its domains"),
        (lambda m: DisguisedPage(m.codes[:-1] + b"\xff"), "outside its domains"),
    ]:
        alice, _ = against("b", DisguisedPage, change)
        assert type(alice.error) is PeerError
        assert text in str(alice.error)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (lambda: key_holder(2, TEST_BITS - 16).announce(b"run"), f"at least {TEST_BITS} bits"),
        (lambda: key_holder(0).announce(b"run"), "ours or shares a factor"),
        (lambda: key_holder(1).announce(b"run"), "not proved"),
        (lambda: b"", "its modulus and 7 numbers of the same length"),
    ],
    ids=["too short", "ours", "proved for another run", "empty"],
)
def test_a_modulus_too_short_ours_or_not_proved_is_refused(data: Callable[[], bytes], text: str) -> None:
    """Bob has fewer combinations of values and so holds the key; Alice, whose own key is number 0, judges it."""
    alice, _ = against("b", HolderKey, lambda m: HolderKey(data()), ENCRYPTED)
    assert type(alice.error) is PeerError
    assert text in str(alice.error)


def test_a_run_ends_with_the_same_model_or_says_so() -> None:
    first, second = play(CASE), play(CASE)
    assert first == second
    outcome = Outcome(bayes_of((2,), 2, seed=1), 40, 0, None, 0.0, 0, 0)
    with pytest.raises(InputError, match="has built no tree"):
        _ = outcome.tree
    assert replace(outcome, model=small_model()).tree == small_model()
    for case in (
        *(replace(CASE, terms=make_terms(method=way)) for way in ("hybrid", "smc", "randomized")),
        bayes_case(),
    ):
        alice, bob = against("b", ModelDigest, lambda m: ModelDigest(bytes(32)), case)
        assert type(alice.error) is DeviationError
        assert isinstance(bob.result[1] if bob.result else None, Outcome)


Chances = list[list[Fraction]]

BAYES: dict[str, Any] = {"learner": Learner.NAIVE_BAYES, "method": "smc"}
EXACT_WAYS: Mapping[str, dict[str, Any]] = {
    "by transfers": {},
    "by dot products": {"counting": Counting.PAILLIER, "test": Fraction(0)},
}


def bayes_terms(terms: Terms, **changes: Any) -> Terms:
    return learned(terms, **BAYES, **changes)


def plain_bayes(codes: Codes, sizes: list[int], classes: int) -> tuple[list[Fraction], list[Chances]]:
    """Return `P(c)`, and `P(v | c)` of each attribute with Laplace's smoothing, by counting people one by one."""
    of_class = Counter(row[-1] for row in codes.tolist())
    prior = [Fraction(of_class[c], len(codes)) for c in range(classes)]
    tables = []
    for column, size in enumerate(sizes):
        both = Counter((row[column], row[-1]) for row in codes.tolist())
        tables.append([[Fraction(both[v, c] + 1, of_class[c] + size) for c in range(classes)] for v in range(size)])
    return prior, tables


def assert_is(model: object, prior: list[Fraction], tables: list[Chances]) -> None:
    assert isinstance(model, NaiveBayes)
    np.testing.assert_allclose(np.exp(model.prior), np.array(prior, dtype=float), rtol=1e-11)
    for ours, theirs in zip(model.conditional, tables, strict=True):
        np.testing.assert_allclose(np.exp(ours), np.array(theirs, dtype=float), rtol=1e-11)


def right(codes: Codes, prior: list[Fraction], tables: list[Chances]) -> set[int]:
    """Return how many rows the plain classifier may get right: those of a tie may go either way."""
    least = most = 0
    for row in codes.tolist():
        scores = [float(share) for share in prior]
        for column, table in enumerate(tables):
            scores = [score * float(chance) for score, chance in zip(scores, table[row[column]], strict=True)]
        best = max(scores)
        ties = [c for c, score in enumerate(scores) if score >= best * (1 - 1e-9)]
        least += ties == [row[-1]]
        most += row[-1] in ties
    return set(range(least, most + 1))


def sizes_of(case: Case) -> list[int]:
    return [*case.sizes["alice"], *case.sizes["bob"]]


@pytest.mark.parametrize("way", EXACT_WAYS)
@settings(max_examples=at_most(25))
@given(case=cases())
def test_counted_exactly_it_is_plain_naive_bayes_on_the_joined_table(way: str, case: Case) -> None:
    terms = bayes_terms(case.terms, **EXACT_WAYS[way])
    train, test = split_records(terms.seed, len(case.codes), terms.test)
    crossed = Transcript()
    alice, bob = play(replace(case, terms=terms), crossed)
    prior, tables = plain_bayes(case.codes[train], sizes_of(case), case.classes)
    assert_is(alice.model, prior, tables)
    assert alice.model.digest() == bob.model.digest()
    cells = sum(sizes_of(case)) * case.classes
    assert alice.smc_computations == cells
    assert alice.exact_counts_disclosed == cells + case.classes + (len(test) > 0)
    told = [len(m.values) for m in (*crossed.sent_by_a, *crossed.sent_by_b) if isinstance(m, ExactCounts)]
    assert told == [cells, *([1] if len(test) else [])]
    assert alice.correct == bob.correct
    if len(test):
        assert alice.correct in right(case.codes[test], prior, tables)


NAIVE_BAYES_CASE = Case(
    {"alice": (2, 3, 2), "bob": (2, 3)},
    ("alice",),
    2,
    correlated((2, 3, 2, 2, 3, 2), 600, seed=3, flips=0.7),
    {"alice": 2, "bob": 2},
    make_terms(theta=Fraction(4, 5)),
)


def bayes_case(**changes: Any) -> Case:
    return replace(NAIVE_BAYES_CASE, terms=bayes_terms(NAIVE_BAYES_CASE.terms, **changes))


def agreed_outcome(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice.model.digest() == bob.model.digest()
    assert replace(alice, model=bob.model) == bob
    return alice


def noisy_terms(**changes: Any) -> Terms:
    return bayes_terms(make_terms(omega=ALL), noise=Fraction(2), **changes)


def test_with_noise_both_have_the_same_model_and_twice_the_same() -> None:
    test = Fraction(1, 5)
    case = replace(NAIVE_BAYES_CASE, terms=noisy_terms(test=test))
    first, second = agreed_outcome(case), agreed_outcome(case)
    assert first.model.digest() == second.model.digest()
    assert first.correct == second.correct
    train, *_ = split_records(case.terms.seed, len(case.codes), test)
    exact = plain_bayes(case.codes[train], sizes_of(case), 2)[1]
    assert isinstance(first.model, NaiveBayes)
    assert not np.allclose(np.exp(first.model.conditional[0]), np.array(exact[0], dtype=float), rtol=1e-6)


VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "same_bytes.json").read_text("utf-8"))
CODES = correlated([2, 3, 2, 2, 2, 2], 200)
TERMS: dict[str, dict[str, object]] = {
    "hybrid, window 1": {"omega": 1},
    "hybrid, window 2": {"omega": 2},
    "hybrid by dot products": {"counting": "paillier", "omega": 2},
    "smc": {"method": "smc"},
    "randomized": {"method": "randomized", "omega": 1},
}


def case(way: str) -> Case:
    sizes = {"alice": (2, 3, 2), "bob": (2, 2)}
    terms = make_terms(theta=Fraction(2, 5), **TERMS[way])
    return Case(sizes, ("bob",), 2, CODES, {"alice": 2, "bob": 1}, terms)


def test_a_run_ends_with_the_same_model_and_coins() -> None:
    for way in TERMS:
        (_, alice), (_, bob) = run_pair(*make_roles(case(way)))
        told = [alice.tree.digest().hex(), alice.smc_computations, alice.exact_counts_disclosed, alice.correct]
        assert told == VECTORS["models"][way]
        assert bob.tree.digest() == alice.tree.digest()
    local = make_local(case("smc"), "alice")
    coins = np.ascontiguousarray(local.coins(local.design(Fraction(2, 5), class_is_shared=False)))
    assert hashlib.sha256(coins.tobytes()).hexdigest() == VECTORS["coins"]


SECURE_WAYS: Mapping[str, dict[str, Any]] = {
    "hybrid by transfers": {"method": "hybrid", "counting": "oblivious_transfer"},
    "smc by transfers": {"method": "smc", "counting": "oblivious_transfer"},
    "hybrid by dot products": {"method": "hybrid", "counting": "paillier"},
    "smc by dot products": {"method": "smc", "counting": "paillier"},
}


def play_equal(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice == bob
    return alice


def assert_is_plain_id3(case: Case, way: str) -> None:
    terms = replace(case.terms, **SECURE_WAYS[way])
    outcome = play_equal(replace(case, terms=terms))
    plain, correct = plain_id3(case)
    assert outcome.tree == plain.tree
    assert outcome.smc_computations == plain.computations
    assert outcome.correct == (correct if outcome.records_test else None)
    assert outcome.exact_counts_disclosed == plain.computations + case.classes + (outcome.records_test > 0)
    assert outcome.records_train + outcome.records_test == len(case.codes)


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=at_most(24))
@given(case=cases(sizes=(1, 5)))
def test_tree_counts_and_accuracy_are_those_of_plain_id3_on_the_joined_table(way: str, case: Case) -> None:
    """Columns of one value are among them."""
    assert_is_plain_id3(case, way)


@settings(max_examples=at_most(25))
@given(cases(rows=24))
def test_a_window_as_wide_as_the_schema_is_all(case: Case) -> None:
    width = sum(map(len, case.sizes.values()))
    assert_is_plain_id3(replace(case, terms=replace(case.terms, omega=width)), "hybrid by transfers")


@pytest.mark.parametrize("way", few([*SECURE_WAYS], 3))
def test_progress_after_the_tree_is_of_the_held_out_records_alone(way: str) -> None:
    said: list[Phase] = []

    def listen(progress: Progress) -> None:
        said.append(progress.phase)

    one, other = make_roles(replace(CASE, terms=replace(CASE.terms, **SECURE_WAYS[way])))
    run_pair(with_progress(one, listen), other)
    after_tree = said[len(said) - said[::-1].index(Phase.TREE) :]
    assert {*after_tree} == {Phase.HELD_OUT}


@pytest.mark.parametrize("way", SECURE_WAYS)
def test_pages_are_joined(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.two_party.copies.PAGE_RECORDS", 7)
    monkeypatch.setattr("protocols.counting.dot_product.CIPHERTEXT_PAGE_BYTES", 5 * 64)
    codes = np.random.default_rng(5).integers(0, [2, 3, 2, 2], size=(40, 4)).astype(np.uint8)
    case = Case({"alice": (2, 3), "bob": (2,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, make_terms())
    assert_is_plain_id3(case, way)


@st.composite
def limits(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "max_depth": draw(st.none() | st.integers(1, 3)),
        "min_leaf": draw(st.integers(1, 6)),
        "impurity": draw(st.sampled_from(Impurity)),
    }


@pytest.mark.parametrize("way", few([*SECURE_WAYS], 3))
@settings(max_examples=at_most(30))
@given(case=cases(rows=60, sizes=(2, 4)), limited=limits())
def test_with_limits_and_measures_it_is_plain_id3_with_the_same_and_no_other_count_crosses(
    way: str, case: Case, limited: dict[str, Any]
) -> None:
    """The oracle is written independently; the frames hold the counts that it needs at every level, and no more."""
    terms = replace(case.terms, **SECURE_WAYS[way], **limited)
    train, *_ = split_records(terms.seed, len(case.codes), terms.test)
    assume(terms.min_leaf == 1 or 2 * terms.min_leaf <= len(train))
    crossed = Transcript()
    outcome, _ = play(replace(case, terms=terms), crossed)
    sizes = [*case.sizes["alice"], *case.sizes["bob"]]
    reference = ReferenceId3(sizes, case.classes, **limited)
    assert outcome.tree.root == reference.grow(case.codes[train].tolist())
    told = [len(m.values) for m in (*crossed.sent_by_a, *crossed.sent_by_b) if isinstance(m, ExactCounts)]
    levels = [sum(level) for level in reference.asked.values()]
    assert told == [*levels, *([1] if outcome.records_test else [])]
    assert outcome.smc_computations == sum(levels)


@settings(max_examples=at_most(24))
@given(case=cases(rows=24))
def test_both_sides_agree_whatever_the_window(case: Case) -> None:
    small = min(2, len(case.codes) // 4 or 1)
    for terms in (
        replace(case.terms, omega=1),
        replace(case.terms, omega=2, counting=Counting.PAILLIER),
        replace(case.terms, omega=1, min_leaf=small, max_depth=2),
        replace(case.terms, omega=1, impurity=Impurity.GAIN_RATIO),
    ):
        outcome = play_equal(replace(case, terms=terms))
        assert (outcome.key is not None) == terms.encrypts
