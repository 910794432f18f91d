"""Frequent sets of which no count is shown are those of plain Apriori, and nothing else of them is opened."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.errors import DeviationError, InputError
from protocols.messages import ClassCounts, DisguisedPage, ExactCounts, MaskedPage, OpenedPage, SetCounts
from protocols.role import Part, Phase, Progress, Transcript, run_pair, with_progress
from protocols.terms import Method, Metric, Reveal
from protocols.two_party.opened_sets import Rule
from tests.protocols.oblivious.parts import lengths, pages_opened
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.protocols.two_party.test_itemsets import RULES, Store, cases, stored_play, table
from tests.support.examples import at_most, few
from tests.support.joint_itemsets import RuleCase, plain_apriori
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.simulators import simulate_answers


def hiding(case: RuleCase) -> RuleCase:
    return case.with_terms(method=Method.SMC, reveal=Reveal.SETS)


def of_both(case: RuleCase) -> set[TermSet]:
    return {terms for terms in plain_apriori(case) if len({case.attributes[term.column].party for term in terms}) > 1}


def sets(found: JointItemsets) -> set[TermSet]:
    return {each.terms for each in found.kept}


@settings(max_examples=at_most(25), deadline=None)
@given(cases())
def test_they_are_the_sets_of_both_that_plain_apriori_finds(case: RuleCase) -> None:
    alice, bob = hiding(case).play()
    assert sets(alice.itemsets) == of_both(case)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.itemsets.undecided == 0


def asking(case: RuleCase, metric: Metric, least: Fraction, **others: Any) -> RuleCase:
    """Return the case with rules that are asked about too."""
    return hiding(case).with_terms(rules=replace(case.terms.rules, metric=metric, min_threshold=least, **others))


def plain_rules(case: RuleCase) -> set[Rule]:
    """Compare every rule of a frequent set of both by fractions of counts of the joined table."""
    rules, counts, records = case.terms.rules, plain_apriori(case), len(case.codes)
    assert rules.min_threshold is not None
    found = set()
    for whole in of_both(case):
        for first in (part for k in range(1, len(whole)) for part in combinations(whole, k)):
            rest = tuple(term for term in whole if term not in first)
            value = Fraction(counts[whole], counts[first])
            if rules.metric is Metric.LIFT:
                value /= Fraction(counts[rest], records)
            found |= {(first, rest)} if value >= rules.min_threshold else set()
    return found


def reached(found: JointItemsets) -> list[Rule]:
    assert found.reached is not None
    return list(found.reached.rules)


@pytest.mark.parametrize("metric", Metric)
@settings(max_examples=at_most(20), deadline=None)
@given(case=cases(), least=st.fractions(Fraction(1, 8), 3, max_denominator=12))
def test_their_rules_are_those_that_plain_rules_have_at_the_threshold(
    metric: Metric, case: RuleCase, least: Fraction
) -> None:
    case = asking(case, metric, min(least, Fraction(1)) if metric is Metric.CONFIDENCE else least)
    alice, bob = case.play()
    rules = reached(alice.itemsets)
    assert (set(rules), len(set(rules))) == (plain_rules(case), len(rules))
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.itemsets.undecided == 0


@pytest.mark.parametrize("metric", Metric)
def test_a_rule_that_meets_its_threshold_to_the_last_record_reaches_it(metric: Metric) -> None:
    """The measures of the rules of a table are thresholds that are met, and a millionth more is one that is not."""
    case = asking(table(150), metric, Fraction(1, 10**6), max_len=2)
    first, rest = max(reached(case.play()[0].itemsets))
    counts = plain_apriori(case)
    value = Fraction(counts[tuple(sorted(first + rest))], counts[first])
    value = value if metric is Metric.CONFIDENCE else value * 150 / counts[rest]
    for least, reaches in ((value, True), (value + Fraction(1, 10**6), value + Fraction(1, 10**6) <= value)):
        there = asking(table(150), metric, least, max_len=2)
        assert ((first, rest) in reached(there.play()[0].itemsets)) is reaches


ASKED: list[tuple[Metric, Fraction | None]] = [
    (Metric.CONFIDENCE, None),
    (Metric.CONFIDENCE, Fraction(7, 10)),
    (Metric.LIFT, Fraction(11, 10)),
]


def test_what_is_opened_follows_from_sets_and_rules_and_nothing_else_of_one_crosses() -> None:
    """Either side's view is that of a simulator: masked words, half of whose bits are ones, and these openings."""
    for metric, least in ASKED:
        crossed = Transcript()
        case = hiding(table(150)) if least is None else asking(table(150), metric, least)
        alice, _ = case.play(crossed)
        rules = case.terms.rules
        assert 0 < len(alice.itemsets.kept) < alice.counted
        assert least is None or 0 < len(reached(alice.itemsets)) < alice.counted
        assert pages_opened(crossed) == [each.tobytes() for each in simulate_answers(alice.itemsets, rules)]
        for sent in vars(crossed).values():
            assert not {type(each) for each in sent} & {SetCounts, ExactCounts, DisguisedPage, ClassCounts}
            assert off(bits_of(b"".join(each.words for each in sent if isinstance(each, MaskedPage)), 8)) == []


@pytest.mark.parametrize("metric", few([*Metric], 2))
def test_lengths_are_those_of_the_records_the_terms_and_the_frequent_sets(metric: Metric) -> None:
    """Two tables of other counts with the same frequent sets; a third has others."""
    first = asking(table(150), metric, Fraction(7, 10), min_support=Fraction(1, 3))
    near, other = first.codes.copy(), 0 * first.codes
    near[:3, 0] ^= 1
    seen, found = [], []
    for codes in (first.codes, near, other):
        crossed = Transcript()
        found.append(sets(replace(first, codes=codes).play(crossed)[0].itemsets))
        seen.append(lengths(crossed))
    assert found[0] == found[1] != found[2]
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize("metric", few([*Metric], 2))
def test_a_search_that_was_cut_off_opens_no_level_and_no_rule_again_and_ends_alike(metric: Metric) -> None:
    case = asking(table(100), metric, Fraction(7, 10), min_support=Fraction(1, 10))
    whole, everything = stored_play({"alice": Store(), "bob": Store()}, 99, goes_on=False, case=case)
    stores = {"alice": Store(), "bob": Store()}
    assert stored_play(stores, 2, goes_on=False, case=case)[0] == {}
    ended, crossed = stored_play(stores, 99, goes_on=True, case=case)
    assert {each.itemsets.digest() for each in ended.values()} == {whole["bob"].itemsets.digest()}
    assert 0 < crossed[OpenedPage] < everything[OpenedPage]
    for store in stores.values():
        store.parts[Part.ANSWERS][1] += bytes(8)
    with pytest.raises(DeviationError):
        stored_play(stores, 99, goes_on=True, case=case)


def test_no_more_sets_are_asked_about_than_agreed_and_progress_grows_level_by_level() -> None:
    whole, _ = hiding(table(150)).play()
    cut, _ = hiding(table(150)).with_terms(rules=replace(RULES, most_sets=20)).play()
    assert whole.counted > cut.counted == 20
    assert sets(cut.itemsets) < sets(whole.itemsets)
    assert cut.itemsets.undecided > 0
    with pytest.raises(InputError, match="no counts"):
        cut.itemsets.rules()
    few, _ = asking(table(150), Metric.LIFT, Fraction(1), most_sets=20).play()
    every, _ = asking(table(150), Metric.LIFT, Fraction(1)).play()
    assert few.counted <= 20
    assert 0 < len(sets(few.itemsets)) <= 10  # half of the questions are left to rules
    assert set() < set(reached(few.itemsets)) < set(reached(every.itemsets))
    # What is masked and counted within a level is a part of its progress.
    case, said = asking(table(60), Metric.LIFT, Fraction(1)), list[Progress]()

    def listen(progress: Progress) -> Progress:
        said.append(progress)
        return progress

    run_pair(with_progress(case.role("alice"), listen), case.role("bob"))
    counting = [each for each in said if each.phase is Phase.COUNTS]
    shares = [each.done / each.total for each in counting]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {each.phase for each in said[said.index(counting[0]) :]} == {Phase.COUNTS}


def test_no_mask_serves_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    asking(table(60), Metric.LIFT, Fraction(1)).play()
    assert recorder.times() <= ONCE
