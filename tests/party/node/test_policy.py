from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.data import ColumnTreatment
from party.errors import ConfigError
from party.files import locked_folder
from party.node.approval import is_bounded
from party.node.policy import check_disguise, check_job, first_objection, make_policy
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.records.releases import Memory, record_release, release_of
from party.settings.party import Acceptance, AlignmentBounds, ColumnSettings, LifeBounds, PartyConfig, read_party_config
from protocols.errors import InputError
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Predict, PredictionTerms, Receiver, Train
from protocols.role import run_pair
from protocols.terms import ALL, MODEL_BYTES, Counting, Impurity, Learner, Method, Reveal, RuleTerms, Terms, TreeTerms
from protocols.two_party.inputs import Limits, PartyInputs
from protocols.two_party.objections import Objection
from tests.support.cases import correlated
from tests.support.joint_itemsets import rule_terms
from tests.support.parties import Case, make_local, make_roles, make_terms
from tests.support.sessions import CASE, Sessions

TERMS = TreeTerms(
    method=Method.HYBRID, theta=Fraction(9, 20), omega=2, counting=Counting.PAILLIER, class_name="outcome",
    seed=0, test=Fraction(1, 5), key_bits=3072, min_leaf=5,
)  # fmt: skip
AGREE = Acceptance(
    (Method.HYBRID, Method.SMC),
    Fraction(5, 2),
    3,
    (Counting.PAILLIER,),
    3072,
    None,
    5,
    Limits(5, 25, 50),
    exact_counts=True,
)


def make(**changes: Any) -> Terms:
    return replace(TERMS, **changes)


def test_the_first_term_that_this_party_does_not_agree_to_is_named() -> None:
    changes: list[tuple[dict[str, Any], str | None]] = [
        ({}, None),
        ({"omega": 3}, None),
        ({"theta": Fraction(7, 10)}, None),
        ({"method": Method.RANDOMIZED}, "method"),
        ({"omega": 4}, "omega"),
        ({"omega": ALL}, "omega"),
        ({"key_bits": 3071}, "key_bits"),
        ({"key_bits": 2048, "omega": 9}, "omega"),
        ({"method": Method.SMC, "theta": Fraction(1, 2), "omega": 3}, "omega"),
        ({"counting": Counting.OBLIVIOUS_TRANSFER}, "counting"),
        ({"counting": Counting.OBLIVIOUS_TRANSFER, "method": Method.RANDOMIZED}, "method"),
        ({"min_leaf": 6, "max_depth": 9}, None),
        ({"min_leaf": 4}, "min_leaf"),
    ]
    for change, field in changes:
        objection = first_objection(AGREE, make(**change))
        assert (objection and objection.field) == field


@pytest.mark.parametrize(
    ("change", "field"),
    [({"theta": Fraction(1, 2), "omega": 99}, None), ({"key_bits": 2048}, "key_bits"), ({"min_leaf": 1}, "min_leaf")],
)
def test_of_smc_a_party_that_agrees_to_all_windows_looks_at_what_it_uses(
    change: dict[str, object], field: str | None
) -> None:
    """`smc` counts every attribute, so that it passes any narrower window, whatever `omega` its job has."""
    objection = first_objection(replace(AGREE, omega=ALL), make(method=Method.SMC, **change))
    assert (objection and objection.field) == field


def test_who_agrees_to_all_agrees_to_none_less() -> None:
    agree = replace(AGREE, omega=ALL)
    assert first_objection(agree, make(omega=999)) is None
    assert first_objection(agree, make(omega=ALL)) is None
    agree = replace(AGREE, max_depth=4)
    assert first_objection(agree, make(max_depth=4)) is None
    for depth in (5, None):
        objection = first_objection(agree, make(max_depth=depth))
        assert objection is not None
        assert (objection.field, objection.reason.split(",")[0]) == (
            "max_depth",
            f"the job asks for max_depth = {depth or 'any'}",
        )
    agree = replace(AGREE, methods=(Method.RANDOMIZED,))
    assert first_objection(agree, make(method=Method.RANDOMIZED, key_bits=8, omega=9)) is None


def test_what_the_job_asks_for_and_which_key_refuses_it_are_shown_to_its_owner() -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"omega": ALL}, "omega = all, our [agree] omega"),
        ({"omega": 4}, "omega = 4, our [agree] omega"),
        ({"method": Method.RANDOMIZED}, "method = randomized, our [agree] methods"),
        ({"method": Method.SMC}, "omega = smc (all attributes), our [agree] omega"),
        ({"min_leaf": 1}, "min_leaf = 1, our [agree] min_leaf"),
        ({"key_bits": 2048}, "key_bits = 2048, our [agree] smallest_key_bits"),
    ]
    for change, value in changes:
        objection = first_objection(AGREE, make(**change))
        assert objection is not None
        assert objection.reason == f"the job asks for {value} does not allow it: change the job, or allow it there"


POLICY_CASE = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 80, seed=1, flips=0.5),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(theta=Fraction(7, 10), omega=1),
)


def test_a_job_of_our_own_that_we_would_refuse_a_peer_is_refused_before_anybody_is_called(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, POLICY_CASE, 'odds = "any"\nomega = 1\n')
    config = read_party_config(tmp_path / "bob" / "party.toml", POLICY_CASE.terms.key_bits)
    bob, job = sessions.local("bob"), Train(POLICY_CASE.terms)
    check_job(bob, config, job)
    with pytest.raises(ConfigError, match=r"the job asks for omega = 2, our .agree. omega does not allow it"):
        check_job(bob, config, Train(replace(POLICY_CASE.terms, omega=2)))
    large = replace(bob.limits, smallest_class=79)
    with pytest.raises(ConfigError, match=r"79"):
        check_job(replace(bob, limits=large), config, job)


def test_exact_counts_are_revealed_only_where_their_owner_allows_them() -> None:
    agree = replace(AGREE, exact_counts=False, omega=ALL)
    objection = first_objection(agree, make())
    assert objection is not None
    assert (objection.field, objection.reason[:22]) == ("reveal", 'by reveal = "counts" o')
    of_sets = rule_terms(RuleTerms(Fraction(1, 4), 2, 10), method=Method.SMC, reveal=Reveal.SETS, min_leaf=100)
    assert first_objection(replace(agree, methods=tuple(Method), counting=tuple(Counting)), of_sets) == objection
    for changes in (
        {
            "method": Method.SMC, "reveal": Reveal.TREE, "counting": Counting.OBLIVIOUS_TRANSFER, "max_depth": 3,
            "test": Fraction(0),
        },
    ):  # fmt: skip
        assert first_objection(replace(agree, counting=tuple(Counting)), make(**changes)) is None
    mined = make(method=Method.RANDOMIZED)  # no bits bound what such a tree says
    assert first_objection(replace(agree, methods=tuple(Method)), mined) == objection
    of_bits = replace(mined, reveal=Reveal.TREE, counting=Counting.OBLIVIOUS_TRANSFER, max_depth=3, test=Fraction(0))
    assert first_objection(replace(agree, methods=tuple(Method), counting=tuple(Counting)), of_bits) is None


def test_an_owner_may_bound_how_many_itemsets_a_job_asks_about() -> None:
    agree = replace(AGREE, methods=tuple(Method), counting=tuple(Counting), most_sets=9)
    of_sets = rule_terms(
        RuleTerms(Fraction(1, 4), 2, 10), method=Method.SMC, reveal=Reveal.SETS, min_leaf=100, key_bits=3072
    )
    objection = first_objection(agree, of_sets)
    assert objection is not None
    assert (objection.field, objection.reason) == (
        "rules",
        "the job asks for most_sets = 10, our [agree] most_sets does not allow it: use 9 or fewer",
    )
    for other in (replace(agree, most_sets=10), replace(agree, most_sets=None)):
        assert first_objection(other, of_sets) is None
    assert first_objection(replace(agree, most_sets=0), make()) is None


@pytest.mark.parametrize(
    "changes",
    [{"omega": ALL}, {"method": Method.SMC, "reveal": Reveal.TREE, "impurity": Impurity.GINI, "min_leaf": 1}],
    ids=["counts", "tree"],
)
def test_noise_takes_the_place_of_other_bounds_only_where_their_owner_bounds_epsilon(changes: dict[str, Any]) -> None:
    terms = make(**{"noise": Fraction(1000), "max_depth": 3, "counting": Counting.OBLIVIOUS_TRANSFER} | changes)
    agree = replace(AGREE, exact_counts=False, omega=ALL, methods=tuple(Method), counting=tuple(Counting))
    objection = first_objection(agree, terms)
    assert objection is not None
    assert (objection.field, objection.reason[:62]) == (
        "noise",
        'the job asks for noise = 1000: our [agree] epsilon is "any", a',
    )
    assert first_objection(replace(agree, epsilon=Fraction(1000)), terms) is None


AGREED_ODDS_CASE = Case(
    sizes={"alice": (2, 4), "bob": (2,)},
    class_owners=("bob",),
    classes=3,
    codes=correlated((2, 4, 2, 3), 2000),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)


@pytest.fixture
def alice() -> PartyInputs:
    return make_local(AGREED_ODDS_CASE, "alice")


@pytest.mark.parametrize(
    ("theta", "most", "words"),
    [
        ("9/20", "11/9", None),
        ("9/20", "6/5", "column 'a1' with odds of 9 to 11; our [agree] odds allow 6/5 to 1"),
        ("2/3", "2", None),
        ("2/3", "9/5", "'a1' with odds of 2 to 1; our [agree] odds allow 9/5 to 1: choose a theta closer to 1/2"),
        ("3/4", "2", "'a1' with odds of 3 to 1; our [agree] odds allow 2 to 1: choose a theta closer to 1/2"),
        ("4/5", "2", "'a0' with odds of 5 to 2; our [agree] odds allow 2 to 1: choose a theta closer to 1/2"),
    ],
)
def test_the_strongest_odds_of_a_column_are_what_a_party_agrees_to(
    alice: PartyInputs, theta: str, most: str, words: str | None
) -> None:
    terms = make_terms(theta=Fraction(theta))
    check_disguise(alice, terms, most_odds=None)
    if words is None:
        apart = replace(AGREED_ODDS_CASE, groups={"alice": 2, "bob": 1})
        check_disguise(make_local(apart, "alice"), terms, Fraction(most))
        return
    with pytest.raises(InputError) as refusal:
        check_disguise(alice, terms, Fraction(most))
    assert words in str(refusal.value)


def test_a_theta_that_leaves_nothing_above_its_noise_is_refused_whatever_the_odds(alice: PartyInputs) -> None:
    with pytest.raises(InputError, match="too close to 1/2"):
        check_disguise(alice, make_terms(theta=Fraction(1001, 2000)), most_odds=None)


def settings(folder: Path, odds: str) -> PartyConfig:
    path = folder / "party.toml"
    agree = f"[agree]\nexact_counts = true\nodds = {odds}\nmin_leaf = 1\n"
    path.write_text(f'name = "alice"\n[data]\nfile = "data.csv"\nid = "id"\n{agree}')
    return read_party_config(path)


ALIKE = Case(
    sizes={"alice": (2, 2, 2, 2), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=np.column_stack(
        [
            np.random.default_rng(1).random((2000, 1)) < np.random.default_rng(2).random((2000, 4)) * 0.6,
            np.arange(4000).reshape(2000, 2) // 2 % 2,
        ]
    ).astype(np.uint8),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(theta=Fraction(3, 5)),
)
CONSTANT = replace(ALIKE, codes=np.zeros((2000, 6), dtype=np.uint8))


def test_columns_that_share_a_coin_are_refused_where_a_receiver_reads_them_more_often_and_only_there(
    tmp_path: Path,
) -> None:
    """Four columns that hang together, on one coin, on two, and on coins of their own; and four that are constant."""
    allowed, bounded = settings(tmp_path, '"any"'), settings(tmp_path, "2")
    terms = replace(ALIKE.terms, key_bits=3072)
    for groups, names in ((1, "'a0', 'a1', 'a2', 'a3'"), (2, "'a0', 'a1'")):
        alice = make_local(replace(ALIKE, groups={"alice": groups, "bob": 1}), "alice")
        read = alice.disclosed(alice.design(terms.theta, class_is_shared=False))
        assert read is not None
        shared, apart = (f"{100 * each.groups[0] / 2000:.1f}%" for each in (read.copy, read.apart))
        words = (
            f"columns {names} share a coin: a receiver would read them in {shared} of records, with one coin per "
            f"column in {apart}; our [agree] odds refuse that: leave [disguise] groups out, or set odds = "
        )
        objection = objection_of(alice, bounded, terms)
        assert objection is not None
        assert (objection.field, objection.reason) == ("theta", f'{words}"any"')
        own = replace(terms, key_bits=alice.secrets.key.bits)
        with pytest.raises(InputError, match="share a coin: a receiver would read them"):
            check_job(alice, replace(bounded, agree=replace(bounded.agree, smallest_key_bits=own.key_bits)), Train(own))
        assert objection_of(alice, allowed, terms) is None
    assert objection_of(make_local(replace(ALIKE, groups={"alice": 4, "bob": 1}), "alice"), bounded, terms) is None
    assert objection_of(make_local(CONSTANT, "alice"), bounded, terms) is None


def objection_of(alice: PartyInputs, config: PartyConfig, terms: Terms) -> Objection | None:
    with locked_folder(config.folder) as held, open_ledger(held, alice.secrets.coins) as ledger:
        memory = Memory(alice, PeerEntries(ledger, PeerName("bob", "")))
        return make_policy(alice, config, memory.judge_job)(Train(terms))


@pytest.mark.parametrize(("odds", "agreed"), [('"5/4"', True), ('"6/5"', False), ('"any"', True)])
def test_neither_our_own_job_nor_a_peers_passes_the_odds(
    tmp_path: Path, alice: PartyInputs, odds: str, agreed: bool
) -> None:
    config = settings(tmp_path, odds)
    terms = replace(AGREED_ODDS_CASE.terms, key_bits=3072)
    objection = objection_of(alice, config, terms)
    own = replace(terms, key_bits=alice.secrets.key.bits)
    config = replace(config, agree=replace(config.agree, smallest_key_bits=own.key_bits))
    if agreed:
        check_job(alice, config, Train(own))
        assert objection is None
        return
    assert objection is not None
    assert objection.field == "theta"
    assert "9 to 11" in objection.reason
    with pytest.raises(InputError, match="9 to 11"):
        check_job(alice, config, Train(own))


def test_a_job_that_asks_for_a_larger_key_than_ours_is_refused_with_both_ways_out(
    tmp_path: Path, alice: PartyInputs
) -> None:
    bits = alice.secrets.key.bits
    words = rf"the key in .* has {bits} bits, the job asks for 3072: lower key_bits, or make a new folder"
    with pytest.raises(InputError, match=words):
        check_job(
            alice,
            settings(tmp_path, "2"),
            Train(replace(AGREED_ODDS_CASE.terms, counting=Counting.PAILLIER, key_bits=3072)),
        )


def test_odds_do_not_matter_where_nothing_is_disguised(tmp_path: Path, alice: PartyInputs) -> None:
    terms = replace(AGREED_ODDS_CASE.terms, method=Method.SMC, key_bits=3072, theta=Fraction(1, 4))
    assert objection_of(alice, settings(tmp_path, '"11/10"'), terms) is None
    terms = replace(AGREED_ODDS_CASE.terms, method=Method.RANDOMIZED, key_bits=16384)
    check_job(alice, settings(tmp_path, "2"), Train(terms))
    (_, outcome), _ = run_pair(*make_roles(replace(AGREED_ODDS_CASE, terms=terms)))
    assert outcome.key is None


BOB = make_local(CASE, "bob")
ASKED = PredictionTerms(bytes(MODEL_BYTES), Receiver.BOTH, False)


ANSWERS = replace(AGREE, life=LifeBounds(most_predictions=1))


def config(folder: Path, agree: Acceptance = AGREE) -> PartyConfig:
    (folder / "party.toml").write_text('name = "bob"\n[data]\nfile = "data.csv"\nid = "id"\n')
    return replace(read_party_config(folder / "party.toml"), agree=agree)


def test_each_job_is_judged_by_its_own_settings(tmp_path: Path) -> None:
    jobs: list[tuple[Job, Acceptance, str | None]] = [
        (Align(), AGREE, None),
        (Align(), replace(AGREE, alignments=AlignmentBounds(most_alignments=0)), "job"),
        (Predict(ASKED), ANSWERS, None),
        (Predict(ASKED), AGREE, "predictions"),
        (Predict(ASKED), replace(ANSWERS, epsilon=Fraction(1)), "predictions"),
        (Predict(replace(ASKED, receiver=Receiver.INITIATOR)), AGREE, "predictions"),
        (Predict(replace(ASKED, receiver=Receiver.RESPONDER)), AGREE, None),
        (Predict(replace(ASKED, receiver=Receiver.RESPONDER)), replace(AGREE, epsilon=Fraction(1)), None),
        (Predict(replace(ASKED, probabilities=True)), ANSWERS, "probabilities"),
        (Predict(replace(ASKED, probabilities=True)), replace(ANSWERS, probabilities=True), None),
    ]
    for job, agree, field in jobs:
        objection = make_policy(BOB, config(tmp_path, agree))(job)
        assert (objection and objection.field) == field


@pytest.mark.parametrize(
    ("treatment", "refused"),
    [
        (ColumnTreatment(bins="class"), True),
        (ColumnTreatment(max_values=2, group="class"), True),
        (ColumnTreatment(bins="quantiles:4", max_values=2), False),
    ],
)
def test_noise_is_refused_beside_values_that_follow_from_the_class(
    tmp_path: Path, treatment: ColumnTreatment, refused: bool
) -> None:
    ours = config(tmp_path, replace(AGREE, omega=ALL))
    noisy = replace(TERMS, method=Method.SMC, reveal=Reveal.COUNTS, noise=Fraction(1), max_depth=2)
    for columns in (ColumnSettings({}, treatment), ColumnSettings({"age": treatment}, ColumnTreatment())):
        judge = make_policy(BOB, replace(ours, columns=columns))
        found = judge(Train(noisy))
        assert (found is not None and "follow from the class" in found.reason) == (found is not None) == refused
        assert judge(Train(replace(noisy, noise=None))) is None
    name = BOB.attributes[0].name
    for named, of_table in (({name: treatment}, refused), ({"age": treatment}, False)):
        judge = make_policy(BOB, replace(ours, columns=ColumnSettings(named, ColumnTreatment())))
        found = judge(Crosstab(CrosstabTerms("theirs", name, Fraction(1))))
        assert (found is not None and "follow from the class" in found.reason) == of_table


def test_a_prediction_that_we_would_refuse_is_not_asked_for(tmp_path: Path) -> None:
    ours = config(tmp_path, ANSWERS)
    check_job(BOB, ours, Predict(ASKED))
    with pytest.raises(ConfigError, match="probabilities"):
        check_job(BOB, ours, Predict(replace(ASKED, probabilities=True)))
    for terms in (ASKED, replace(ASKED, receiver=Receiver.RESPONDER)):  # we open: it would be for us to answer
        with pytest.raises(ConfigError, match="most_predictions is 0"):
            check_job(BOB, config(tmp_path), Predict(terms))
    check_job(BOB, config(tmp_path), Predict(replace(ASKED, receiver=Receiver.INITIATOR)))


def test_a_job_about_another_class_than_ours_is_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="our class column is 'class': write class = 'class' in the job"):
        check_job(BOB, config(tmp_path), Train(make()))


def test_a_training_in_another_split_than_was_used_before_is_not_asked_for(tmp_path: Path) -> None:
    agree = replace(
        AGREE, exact_counts=True, odds=None, min_leaf=1, counting=tuple(Counting), smallest_key_bits=CASE.terms.key_bits
    )
    ours, other = config(tmp_path, agree), replace(CASE.terms, seed=CASE.terms.seed + 1)
    for terms in (CASE.terms, other):
        check_job(BOB, ours, Train(terms))
    with locked_folder(tmp_path) as held, open_ledger(held, BOB.secrets.coins) as ledger:
        record_release(PeerEntries(ledger, PeerName("alice", "")), release_of(BOB, Train(CASE.terms), None))
    check_job(BOB, ours, Train(CASE.terms))
    with pytest.raises(ConfigError, match="show single records: return to the first"):
        check_job(BOB, ours, Train(other))


def test_a_job_is_within_bounds_if_each_bound_that_counts_what_it_reveals_is_a_number() -> None:
    tree = make_terms(method="smc", reveal="tree", max_depth=2, most_bits=40)
    smc, copies = make_terms(method="smc"), make_terms(theta=Fraction(7, 10), omega=1)
    noisy = make_terms(method="smc", noise=Fraction(1), max_depth=2)
    noisy_copies = make_terms(omega=ALL, theta=Fraction(7, 10), noise=Fraction(1), max_depth=2)
    rules = make_terms(learner=Learner.RULES, rules=RuleTerms(Fraction(1, 2), 2, 9), method="smc")
    exact, answers = (
        Crosstab(CrosstabTerms("b", "a", None)),
        Predict(PredictionTerms(bytes(32), Receiver.INITIATOR, probabilities=False)),
    )
    noisy_table, counts, one = Crosstab(CrosstabTerms("b", "a", Fraction(1))), {"most_counts": 9}, Fraction(1)
    cases: list[tuple[Terms | Job, dict[str, Any], dict[str, Any]]] = [
        (tree, {}, {"most_bits": None}),
        (smc, counts, {}),
        (smc, counts, {**counts, "most_runs": None}),
        (copies, counts, {**counts, "odds": None}),
        (noisy, {"epsilon": one}, {}),
        (make_terms(method="randomized"), {}, {"most_bits": None}),
        (rules, {**counts, "most_sets": 9}, counts),
        (noisy_copies, {"epsilon": one}, {"epsilon": one, "odds": None}),
        (exact, counts, {}),
        (exact, counts, {**counts, "most_runs": None}),
        (noisy_table, {"epsilon": one}, {}),
        (answers, {"most_predictions": 5}, {"most_predictions": None}),
        (answers, {"most_predictions": 5}, {"most_predictions": 5, "most_bits": None}),
    ]
    of_life = vars(LifeBounds()).keys()
    for job, narrow, wide in cases:
        asked = Train(job) if isinstance(job, Terms) else job
        for bounds, fits in ((narrow, True), (wide, False)):
            life = LifeBounds(**{key: value for key, value in bounds.items() if key in of_life})
            agree = Acceptance(**{key: value for key, value in bounds.items() if key not in of_life}, life=life)
            assert is_bounded(agree, asked) is fits, (job, bounds)
            assert is_bounded(agree, Align())
