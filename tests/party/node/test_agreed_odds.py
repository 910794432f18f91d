"""What a party agrees to have told of its columns: by the odds of each, on both sides, before anything leaves."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.files import locked_folder
from party.node.policy import check_disguise, check_job, make_policy
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.records.releases import Memory
from party.settings.party import PartyConfig, read_party_config
from protocols.errors import InputError
from protocols.jobs import Train
from protocols.role import run_pair
from protocols.terms import Counting, Method, Terms
from protocols.two_party.agreement import Objection
from protocols.two_party.inputs import PartyInputs
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_roles, make_terms

CASE = Case(
    sizes={"alice": (2, 4), "bob": (2,)},
    class_owners=("bob",),
    classes=3,
    codes=correlated((2, 4, 2, 3), 2000),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)


@pytest.fixture
def alice() -> PartyInputs:
    return make_local(CASE, "alice")


@pytest.mark.parametrize(
    ("theta", "most", "words"),
    [
        ("9/20", "11/9", None),
        ("9/20", "6/5", "the values of column 'a1' odds of 9 to 11, our [agree] odds allow 6/5 to 1 either way"),
        ("2/3", "2", None),
        ("2/3", "9/5", "'a1' odds of 2 to 1, our [agree] odds allow 9/5 to 1 either way: take theta nearer 1/2"),
        ("3/4", "2", "'a1' odds of 3 to 1, our [agree] odds allow 2 to 1 either way: take theta nearer 1/2"),
        ("4/5", "2", "'a0' odds of 5 to 2, our [agree] odds allow 2 to 1 either way: take theta nearer 1/2"),
    ],
)
def test_the_strongest_odds_of_a_column_are_what_a_party_agrees_to(
    alice: PartyInputs, theta: str, most: str, words: str | None
) -> None:
    terms = make_terms(theta=Fraction(theta))
    check_disguise(alice, terms, most_odds=None)
    if words is None:
        apart = replace(CASE, groups={"alice": 2, "bob": 1})
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
        memory = Memory(alice, PeerPages(ledger, PeerName("bob", "")))
        return make_policy(alice, config, memory.judge_job)(Train(terms))


@pytest.mark.parametrize(("odds", "agreed"), [('"5/4"', True), ('"6/5"', False), ('"any"', True)])
def test_neither_our_own_job_nor_a_peers_passes_the_odds(
    tmp_path: Path, alice: PartyInputs, odds: str, agreed: bool
) -> None:
    config = settings(tmp_path, odds)
    terms = replace(CASE.terms, key_bits=3072)
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
        check_job(alice, settings(tmp_path, "2"), Train(replace(CASE.terms, counting=Counting.PAILLIER, key_bits=3072)))


def test_odds_do_not_matter_where_nothing_is_disguised(tmp_path: Path, alice: PartyInputs) -> None:
    terms = replace(CASE.terms, method=Method.SMC, key_bits=3072, theta=Fraction(1, 4))
    assert objection_of(alice, settings(tmp_path, '"11/10"'), terms) is None
    terms = replace(CASE.terms, method=Method.RANDOMIZED, key_bits=16384)
    check_job(alice, settings(tmp_path, "2"), Train(terms))
    (_, outcome), _ = run_pair(*make_roles(replace(CASE, terms=terms)))
    assert outcome.key is None
