"""What a run for rules will probably tell: near to what it tells where the peer is as it is taken to be."""

from fractions import Fraction

import numpy as np
import pytest

from party.forecast.model import guess_rules
from protocols.errors import InputError
from protocols.terms import Method, RuleTerms, Terms
from tests.support.joint_itemsets import RuleCase, rule_terms


def case(terms: Terms, records: int = 600) -> RuleCase:
    """Return two independent halves of like columns, each with a chain of dependence in it."""
    generator = np.random.default_rng(3)
    halves = []
    for _ in range(2):
        first = generator.random((records, 1)) < 0.6
        rest = np.where(generator.random((records, 2)) < 0.8, first, generator.random((records, 2)) < 0.5)
        halves.append(np.hstack([first, rest]))
    return RuleCase({"alice": (2, 2, 2), "bob": (2, 2, 2)}, np.hstack(halves).astype(np.uint8), terms)


@pytest.mark.parametrize(
    "terms",
    [
        rule_terms(RuleTerms(Fraction(1, 5), 3, 10_000), method=Method.SMC),
        rule_terms(RuleTerms(Fraction(1, 5), 3, 10_000), theta=Fraction(4, 5)),
        rule_terms(RuleTerms(Fraction(1, 4), 3, 60), theta=Fraction(3, 5)),
    ],
)
def test_it_is_near_to_what_a_run_with_such_a_peer_tells(terms: Terms) -> None:
    made = case(terms)
    assert terms.rules is not None
    run, _ = made.play()
    guess = guess_rules(made.local("alice"), terms, terms.rules)
    assert run.told / 1.25 <= guess.own <= run.told * 1.25
    assert run.counted / 1.6 <= guess.both <= run.counted * 1.6
    assert guess.counts <= terms.rules.most_told


def test_copies_alone_tell_none_and_more_records_leave_less_in_doubt() -> None:
    rules = RuleTerms(Fraction(1, 5), 3, 100)
    terms = rule_terms(rules, method=Method.RANDOMIZED)
    assert guess_rules(case(terms).local("alice"), terms, rules).both == 0
    rules = RuleTerms(Fraction(1, 5), 3, 10_000)
    terms = rule_terms(rules, theta=Fraction(2, 3))
    local = case(terms).local("alice")
    assert guess_rules(local, terms, rules, 100_000).both < guess_rules(local, terms, rules).both
    rules = RuleTerms(Fraction(1, 100), 3, 4)
    terms = rule_terms(rules)
    with pytest.raises(InputError, match="more than most_sets = 4 sets"):
        guess_rules(case(terms).local("alice"), terms, rules)
