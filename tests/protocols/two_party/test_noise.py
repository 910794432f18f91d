"""Runs with noise: what each side sees, that both end alike, and that no term draws the same noise again."""

import pickle
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from protocols import messages
from protocols.counting.dot_product import make_layout, plan, shapes_of
from protocols.counts import Query
from protocols.errors import CotallyError
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CiphertextPage,
    ClassCounts,
    CorrectionPage,
    CountShares,
    DisguisedPage,
    ExactCounts,
    Greeting,
    HiddenContents,
    HolderKey,
    JointDigests,
    MaskedPage,
    ModelDigest,
    OpenedPage,
    PackedCounts,
    SeedHints,
    SentTree,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.noise.both import BothNoises
from protocols.role import Joinable, Message, Transcript, run_pair
from protocols.tables import ROOT, Table
from protocols.terms import ALL, Counting, Impurity, Learner, Method, Splits, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs, split_records
from protocols.two_party.noise import noises_of, run_digest
from tests.support.cases import correlated
from tests.support.curious import Told, listening
from tests.support.duel import End, Tamper, duel, honest
from tests.support.examples import few
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
    private_key_of,
)

SIZES: dict[str, tuple[int, ...]] = {"alice": (3, 2), "bob": (2, 2)}
WAYS = [
    {"method": "hybrid", "counting": "oblivious_transfer"}, {"method": "hybrid", "counting": "paillier"},
    {"method": "smc"},
]  # fmt: skip
GINI = {"method": "smc", "impurity": "gini"}


def _case(owners: tuple[str, ...] = ("bob",), rows: int = 300, **changes: Any) -> Case:
    terms = make_terms(**({"noise": Fraction(4), "max_depth": 2} | changes))
    return Case(SIZES, owners, 2, correlated([3, 2, 2, 2, 2], rows), {"alice": 1, "bob": 1}, terms)


def _crossed(transcript: Transcript) -> list[Message]:
    return [*transcript.sent_by_a, *transcript.sent_by_b]


def _agreed(case: Case, transcript: Transcript | None = None) -> dict[str, Agreement]:
    (alice, _), (bob, _) = run_pair(*make_roles(case), transcript)
    return {"alice": alice, "bob": bob}


def _noises(case: Case, agreed: dict[str, Agreement]) -> dict[str, BothNoises]:
    made = {party: noises_of(make_local(case, party), agreed[party]) for party in ("alice", "bob")}
    assert all(made.values())
    return {party: noises for party, noises in made.items() if noises}


@pytest.mark.parametrize(("owners", "way"), few([*product([("alice",), ("bob",), ("alice", "bob")], WAYS)], 2), ids=str)
def test_noise_that_is_next_to_nothing_leaves_plain_id3(owners: tuple[str, ...], way: dict[str, Any]) -> None:
    """At scale 0.028 or less a number is changed with a chance below 1e-15."""
    case = _case(owners, noise=Fraction(1000), **way)
    a, b = play(case)
    plain, correct = plain_id3(case)
    assert a == b
    assert a.tree == plain.tree
    assert a.correct == correct


@pytest.mark.parametrize("way", few([*WAYS, GINI], 3), ids=str)
def test_both_sides_end_alike_however_much_noise_there_is(way: dict[str, Any]) -> None:
    for noise in (Fraction(1, 10), Fraction(5)):
        a, b = play(_case(noise=noise, **way))
        assert a == b
        assert a.tree.depth <= 2
        assert all(count >= 0 for _, node in a.tree.walk() for count in node.counts)
        assert a.standard_error > 0


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_shown_number_is_the_count_with_both_sides_noise_and_no_side_sees_it_with_less(way: dict[str, Any]) -> None:
    case = _case(**way)
    transcript = Transcript()
    agreed = _agreed(case, transcript)
    noises, schema = _noises(case, agreed), agreed["alice"].schema
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
    (alice, outcome), (bob, _) = run_pair(*make_roles(case), transcript)
    assert outcome.key is not None
    holder = outcome.key.holder
    noises = _noises(case, {"alice": alice, "bob": bob})[holder]
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


def test_the_class_counts_are_sent_with_their_holders_noise() -> None:
    case = _case()
    transcript = Transcript()
    noises = _noises(case, _agreed(case, transcript))["bob"]
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


SMC = make_terms(method="smc", noise=Fraction(20), max_depth=2)
VARIED: dict[str, dict[str, Any]] = {
    "method": {"method": Method.HYBRID, "omega": ALL}, "theta": {"theta": Fraction(3, 5)}, "omega": {"omega": 3},
    "counting": {"counting": Counting.PAILLIER}, "seed": {"seed": 3}, "test": {"test": Fraction(1, 4)},
    "key_bits": {"key_bits": 128}, "max_depth": {"max_depth": 3}, "min_leaf": {"min_leaf": 12},
    "noise": {"noise": Fraction(10)}, "impurity": {"impurity": Impurity.GINI}, "splits": {"splits": Splits.TWO_WAY},
}  # fmt: skip
IDLE = {"method", "theta", "omega", "counting", "key_bits"}
OF_THE_TRUTH = {"seed", "test", "splits"}
OF_THE_SCALE = {"max_depth", "noise"}


def case_of(terms: Terms) -> Case:
    codes = correlated([3, 2, 2, 2, 3], 400)
    return Case({"alice": (3, 2), "bob": (2, 2)}, ("bob",), 3, codes, {"alice": 1, "bob": 1}, terms)


def by_node(told: Told) -> dict[Any, list[list[float]]]:
    """Return shown tables by what was asked, whatever the order of a path."""
    return {(frozenset(e.terms), c, t.shape): t.tolist() for (e, c), t in told.items()}


@cache
def run_on(terms: Terms) -> tuple[bytes, dict[Any, list[list[float]]]]:
    """Return Alice's digest of a run, and all counts that it shows."""
    case = case_of(terms)
    with listening() as told:
        (agreed, _), _ = run_pair(*make_roles(case))
    return run_digest(make_local(case, "alice"), agreed), by_node(told)


def test_every_term_that_a_partner_may_choose_is_varied_here() -> None:
    # No rules, and no hidden counts or leaves, under noise; learners are below.
    beside = {"class_name", "rules", "learner", "reveal", "most_bits", "leaves", "weights"}
    assert {*VARIED, *beside} == {field.name for field in fields(Terms)}


@pytest.mark.parametrize("name", VARIED)
def test_a_varied_term_shows_the_same_numbers_again_or_spends_epsilon_of_its_own(name: str) -> None:
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
    """The root's counts are asked by both; a tree shows more of the same people, so that its scale is another."""
    everyone = replace(SMC, test=Fraction(0))
    (before, tree), (after, bayes) = (run_on(everyone), run_on(learned(everyone, Learner.NAIVE_BAYES)))
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


CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2, 3, 4)},
    class_owners=("alice",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 3, 4, 2), 60, seed=9, flips=0.5),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(),
)

AGREEMENT = {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}
CLASS = {ClassCounts}
COPIES = {DisguisedPage}
BASE = {BaseOffer, BasePoints, SeedHints}
CHOOSER = {ChoicePage, ExactCounts} | BASE
CORRECTOR = {CorrectionPage, CountShares} | BASE
HOLDER = {HolderKey, CiphertextPage, ExactCounts}
EVALUATOR = {PackedCounts}
TESTED = {ChoicePage, CorrectionPage, MaskedPage}  # classes are compared by gates on shared bits
RANKED = {ChoicePage, MaskedPage, OpenedPage}  # windows are found by such gates
MODELS = {ModelDigest}

ALLOWED: dict[str, tuple[dict[str, Any], set[type[Message]], set[type[Message]]]] = {
    "hybrid, window 2": (
        {"omega": 2},
        AGREEMENT | COPIES | CORRECTOR | RANKED | MODELS,
        AGREEMENT | COPIES | CHOOSER | RANKED | MODELS,
    ),
    "hybrid, window 2, dot products": (
        {"omega": 2, "counting": "paillier"},
        AGREEMENT | COPIES | HOLDER | BASE | RANKED | MODELS,
        AGREEMENT | COPIES | EVALUATOR | BASE | RANKED | MODELS,
    ),
    "hybrid, window all": ({}, AGREEMENT | COPIES | CORRECTOR | MODELS, AGREEMENT | COPIES | CHOOSER | MODELS),
    "hybrid, window all, dot products": (
        {"counting": "paillier"},
        AGREEMENT | COPIES | HOLDER | MODELS,
        AGREEMENT | COPIES | EVALUATOR | MODELS,
    ),
    "smc": ({"method": "smc"}, AGREEMENT | CORRECTOR | MODELS, AGREEMENT | CHOOSER | MODELS),
    "smc, dot products": (
        {"method": "smc", "counting": "paillier"},
        AGREEMENT | HOLDER | MODELS,
        AGREEMENT | EVALUATOR | MODELS,
    ),
    "randomized": ({"method": "randomized"}, AGREEMENT | {SentTree} | MODELS, AGREEMENT | COPIES | MODELS),
    "naive Bayes, smc": (
        {"learner": Learner.NAIVE_BAYES, "method": "smc"},
        AGREEMENT | CORRECTOR | TESTED | MODELS,
        AGREEMENT | CHOOSER | TESTED | MODELS,
    ),
}
"""What Alice may send, and what Bob. She holds the class, and so is the one who mines, and corrects what Bob chooses;
by dot products she holds the key: 6 combinations, 12 with the class, against Bob's 48."""


def transcript(case: Case) -> Transcript:
    result = Transcript()
    play(case, result)
    return result


def test_each_side_sends_the_kinds_of_its_method_and_no_other() -> None:
    for way, initiator in few([*product(ALLOWED, ["alice", "bob"])], 5):
        changes, alice, bob = ALLOWED[way]
        sent = transcript(replace(CASE, terms=make_terms(**changes), initiator=initiator))
        counts = set() if way == "randomized" else CLASS  # she holds the class
        assert {type(message) for message in sent.sent_by_a} == alice | counts
        assert {type(message) for message in sent.sent_by_b} == bob


def test_a_tree_takes_two_openings_a_level_and_each_kind_is_used() -> None:
    used = set().union(*(kinds for _, a, b in ALLOWED.values() for kinds in (a, b, CLASS)))
    every = {kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, Message)}
    between_runs = {messages.MemoryHeads, messages.SignedHead}  # before and after, whatever the method
    between_runs |= {messages.KeptParts, messages.LostAnswers}  # in a run that goes on
    aligning = {
        messages.IdList, messages.CodePage, messages.HintPage, messages.ValuesPage, messages.CommonRows,
        messages.PeopleOffer,
    }  # fmt: skip
    of_rules = {messages.SetCounts}
    predicting = {messages.RowsShare, messages.RowsAsked, messages.RowShares}
    assert used == every - {Message, Joinable} - between_runs - aligning - predicting - of_rules
    # DESIGN 7.2: one of windows, where they leave a candidate out, and one of counts.
    sent = Transcript()
    depth = play(replace(CASE, terms=make_terms(omega=1, test=Fraction(0))), sent)[0].tree.depth
    batches = [message for message in sent.sent_by_b if isinstance(message, ExactCounts)]
    windows = [message for message in sent.sent_by_b if isinstance(message, OpenedPage)]
    assert len(batches) == depth
    assert 0 < len(windows) <= depth


def copies(case: Case, party: str = "b") -> bytes:
    sent = transcript(case)
    pages = sent.sent_by_a if party == "a" else sent.sent_by_b
    return b"".join(message.codes for message in pages if isinstance(message, DisguisedPage))


def test_the_copy_is_the_same_in_every_run_and_disguised() -> None:
    """FAULTS cases 35 and 37: whatever else the run is about."""
    first = copies(CASE)
    assert len(first) == 60 * 4
    others = make_terms(omega=1), make_terms(seed=99), make_terms(method="randomized", test=Fraction(1, 2))
    assert all(copies(replace(CASE, terms=terms)) == first for terms in others)
    assert copies(replace(CASE, initiator="bob")) == first
    true = np.ascontiguousarray(CASE.codes[:, 2:6]).tobytes()
    assert len(first) == len(true)
    assert first != true


CANARY = "canary-4711"


def with_canaries(case: Case) -> tuple[PartyInputs, PartyInputs]:
    """Plant the canary in record ids, data set names and secrets."""
    sides = []
    for party in ("alice", "bob"):
        local = make_local(case, party)
        secret = replace(local.secrets, coins=CANARY.encode().ljust(32, party.encode()[:1]))
        records = tuple(f"{CANARY}-{i}" for i in range(len(local.table)))
        sides.append(replace(local, records=records, dataset=f"{CANARY} data", secrets=secret))
    return sides[0], sides[1]


def content(message: Message) -> bytes:
    """Return every byte and text that a message holds, one way or another."""
    return pickle.dumps(message)


def assert_no_canary(sent: list[Message], private: list[bytes]) -> None:
    for message in sent:
        assert CANARY not in repr(message)
        held = content(message)
        assert not any(each in held for each in (CANARY.encode(), *private))


def private_bytes(local: PartyInputs) -> list[bytes]:
    """Return what must not cross in any form: key, factors, and each column and the whole table as bytes."""
    key = private_key_of(local)
    sizes = [(int(prime), (int(prime).bit_length() + 7) // 8) for prime in (key.p, key.q)]
    factors = [prime.to_bytes(size, "big") for prime, size in sizes]
    factors += [prime.to_bytes(size, "little") for prime, size in sizes]
    codes = local.table.codes
    columns = [np.ascontiguousarray(codes[:, c]).tobytes() for c in range(codes.shape[1])]
    return [local.secrets.coins, *factors, *columns, codes.tobytes()]


def test_no_message_holds_a_record_id_a_secret_or_a_true_column() -> None:
    for way in few([*ALLOWED], 3):
        case = replace(CASE, terms=make_terms(**ALLOWED[way][0]))
        alice, bob = with_canaries(case)
        sent = Transcript()
        run_pair(*make_roles(case, alice, bob), sent)
        assert_no_canary(sent.sent_by_a, private_bytes(alice))
        assert_no_canary(sent.sent_by_b, private_bytes(bob))


def test_smc_sends_nothing_that_depends_on_the_codes_but_a_keyed_digest_what_is_masked_and_counts() -> None:
    """A table and the same with its records in another order have equal counts; nothing else tells them apart."""
    for counting in Counting:
        hidden = CiphertextPage | PackedCounts | TableCommitment | BaseOffer | BasePoints | SeedHints | ChoicePage
        hidden |= CorrectionPage | CountShares
        case = replace(CASE, terms=make_terms(method="smc", test=Fraction(0), counting=counting))
        seen = []
        for each in (case, replace(case, codes=case.codes[::-1].copy())):
            sent = Transcript()
            run_pair(*make_roles(each, nonce=b"n" * 32), sent)
            shown = [m for m in (*sent.sent_by_a, *sent.sent_by_b) if not isinstance(m, hidden)]
            seen.append(shown)
        assert seen[0] == seen[1]
        assert seen[0]


def errors_of(ends: tuple[End[Any], End[Any]]) -> list[Exception]:
    return [end.error for end in ends if end.error is not None]


FAILURES: dict[str, tuple[dict[str, Any], Tamper]] = {
    "page": ({}, lambda who, n, m: DisguisedPage(b"\xff" * 180) if isinstance(m, DisguisedPage) else m),
    "kind": ({}, lambda who, n, m: Verdict(CANARY) if isinstance(m, CountShares) else m),
    "ciphertexts": ({"counting": "paillier"}, lambda who, n, m: Verdict(CANARY) if isinstance(m, PackedCounts) else m),
    "choices": ({}, lambda who, n, m: ChoicePage(m.matrix[::-1], m.check) if isinstance(m, ChoicePage) else m),
    "counts": ({}, lambda who, n, m: ExactCounts(m.values[:-1]) if isinstance(m, ExactCounts) else m),
    "digest": ({}, lambda who, n, m: ModelDigest(CANARY.encode()) if isinstance(m, ModelDigest) else m),
    "windows": ({"omega": 1}, lambda who, n, m: OpenedPage(b"1") if isinstance(m, OpenedPage) else m),
    "a mined model": ({"method": "randomized"}, lambda who, n, m: SentTree(()) if isinstance(m, SentTree) else m),
    "terms": ({"theta": Fraction(10**17, 10**18 - 1)}, honest),
    "verdict": ({}, lambda who, n, m: Verdict(CANARY) if isinstance(m, Verdict) else m),
}


def test_no_message_holds_a_canary_that_the_search_would_find_and_no_error_does() -> None:
    alice, _ = with_canaries(CASE)
    page = DisguisedPage(private_bytes(alice)[-1])
    with pytest.raises(AssertionError):
        assert_no_canary([page], private_bytes(alice))
    with pytest.raises(AssertionError):
        assert_no_canary([Verdict(CANARY)], [])
    with pytest.raises(AssertionError):
        assert_no_canary([HolderKey(private_bytes(alice)[1])], private_bytes(alice))
    for entry in FAILURES.values():
        changes, tamper = entry
        case = replace(CASE, terms=make_terms(**changes))
        errors = errors_of(duel(*make_roles(case, *with_canaries(case)), tamper))
        assert errors
        for error in errors:
            assert isinstance(error, CotallyError)
            assert CANARY not in f"{error!s} {error!r}"
    alice, bob = with_canaries(CASE)
    other = replace(bob, records=tuple(f"{CANARY}-{i + 1}" for i in range(60)))
    errors = errors_of(duel(*make_roles(CASE, alice, other)))
    assert len(errors) == 2
    assert all(CANARY not in f"{error!s} {error!r}" for error in errors)
