"""A run's own steps: the split, who chooses or holds the key, pages of copies, equal models."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import DeviationError, InputError, PeerError
from protocols.messages import ChoicePage, CiphertextPage, DisguisedPage, HolderKey, ModelDigest
from protocols.role import Message, Transcript, run_pair
from protocols.two_party import secure
from protocols.two_party.inputs import split_records
from protocols.two_party.secure import SharedKey, lighter_side
from protocols.two_party.training import Outcome
from tests.support.cases import correlated
from tests.support.duel import End, duel
from tests.support.models import bayes_of, small_model
from tests.support.parties import TEST_BITS, Case, key_holder, make_local, make_roles, make_terms, play, private_key

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


def test_the_split_depends_on_the_seed_alone() -> None:
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


Sizes = dict[str, tuple[int, ...]]


@pytest.mark.parametrize(
    ("sizes", "holder"),
    [
        ({"alice": (3,), "bob": (2, 2)}, "alice"),
        ({"alice": (5,), "bob": (2, 2)}, "bob"),
        ({"alice": (4,), "bob": (2, 2)}, "alice"),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"method": "smc"}])
@pytest.mark.parametrize("initiator", ["alice", "bob"])
def test_the_key_holder_is_who_has_less_to_encrypt_and_the_first_name_of_equals(
    changes: dict[str, Any], sizes: Sizes, holder: str, initiator: str
) -> None:
    columns = [*sizes["alice"], *sizes["bob"], 2]
    terms, groups = make_terms(counting="paillier", **changes), {"alice": 1, "bob": 1}
    a, b = play(Case(sizes, ("alice", "bob"), 2, correlated(columns, 12), groups, terms, initiator))
    key = private_key(0 if holder == "alice" else 1).public_key
    assert a.key == b.key == SharedKey(holder, key.fingerprint())


@pytest.mark.parametrize(
    ("sizes", "owners", "chooser"),
    [
        ({"alice": (2, 2, 2), "bob": (2,)}, ("bob",), "alice"),
        ({"alice": (2,), "bob": (2, 2, 2)}, ("bob",), "alice"),
        ({"alice": (2, 2), "bob": (2, 2)}, ("alice",), "bob"),
        ({"alice": (3,), "bob": (2, 2)}, ("alice", "bob"), "alice"),
        ({"alice": (5,), "bob": (2, 2)}, ("alice", "bob"), "bob"),
    ],
)
@pytest.mark.parametrize("initiator", ["alice", "bob"])
def test_who_lacks_the_class_chooses_or_who_has_less_to_choose(
    sizes: Sizes, owners: tuple[str, ...], chooser: str, initiator: str
) -> None:
    codes, sent = correlated([*sizes["alice"], *sizes["bob"], 2], 30), Transcript()
    a, b = play(Case(sizes, owners, 2, codes, {"alice": 1, "bob": 1}, make_terms(), initiator), sent)
    assert a.key is b.key is None
    choosing, other = (sent.sent_by_a, sent.sent_by_b) if chooser == "alice" else (sent.sent_by_b, sent.sent_by_a)
    assert any(isinstance(message, ChoicePage) for message in choosing)
    assert not any(isinstance(message, ChoicePage) for message in other)


@pytest.mark.parametrize(
    ("peer", "classes", "lighter"),
    [([2], 2, "bob"), ([2, 2], 2, "bob"), ([2, 2, 2], 2, "bob"), ([3, 3], 2, "alice"), ([3, 3], 3, "bob")],
)
def test_a_class_that_one_side_alone_holds_is_one_more_column_to_encrypt(
    peer: list[int], classes: int, lighter: str
) -> None:
    columns = {"alice": [2, 2], "bob": peer}
    seen_by_bob = dict(reversed(columns.items()))
    assert lighter_side(columns, "alice", classes) == lighter_side(seen_by_bob, "alice", classes) == lighter
    shared = "bob" if peer == [2] else "alice"
    assert lighter_side(columns, None, classes) == lighter_side(seen_by_bob, None, classes) == shared


def mirrored(owner: str, **changes: object) -> Case:
    """Both sides hold three columns of two values; the class, and the columns that tell it, go to the owner."""
    codes = correlated((2,) * 7, 60, seed=5, flips=0.3)
    halves = (codes[:, :3], codes[:, 3:6]) if owner == "alice" else (codes[:, 3:6], codes[:, :3])
    codes = np.column_stack([*halves, codes[:, 6]])
    terms = make_terms(counting="paillier", **changes)
    return Case({"alice": (2,) * 3, "bob": (2,) * 3}, (owner,), 2, codes, {"alice": 3, "bob": 3}, terms)


@pytest.mark.parametrize("changes", [{"method": "smc"}, {"omega": 1}, {"omega": 2}])
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


def test_an_accuracy_is_exact_or_none() -> None:
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


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: DisguisedPage(m.codes[:-1]), "wrong length"),
        (lambda m: DisguisedPage(m.codes + b"\0"), "wrong length"),
        (lambda m: DisguisedPage(b""), "wrong length"),
        (lambda m: DisguisedPage(b"\2" + m.codes[1:]), "outside its domains"),
        (lambda m: DisguisedPage(m.codes[:-1] + b"\xff"), "outside its domains"),
    ],
)
def test_a_page_that_is_no_disguised_copy_is_refused(change: Callable[[Any], Message], text: str) -> None:
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
    for method in ("hybrid", "smc", "randomized"):
        case = replace(CASE, terms=make_terms(method=method))
        alice, bob = against("b", ModelDigest, lambda m: ModelDigest(bytes(32)), case)
        assert type(alice.error) is DeviationError
        assert isinstance(bob.result[1] if bob.result else None, Outcome)
