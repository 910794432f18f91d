"""Frequent sets of which no count is shown are those of plain Apriori, and nothing else of them is opened."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from protocols.association.joint import JointItemsets
from protocols.association.own_sets import TermSet
from protocols.errors import DeviationError, InputError
from protocols.messages import ClassCounts, DisguisedPage, ExactCounts, MaskedPage, OpenedPage, SetCounts
from protocols.role import Message, Part, Transcript
from protocols.terms import Method, Reveal
from protocols.two_party.opened_sets import simulate_answers
from tests.protocols.oblivious.test_views import bits_of, off
from tests.protocols.two_party.test_itemsets import RULES, cases, table
from tests.protocols.two_party.test_itemsets_going_on import Store, play
from tests.support.joint_itemsets import RuleCase, plain_apriori
from tests.support.mask_recorder import ONCE, MaskRecorder


def hiding(case: RuleCase) -> RuleCase:
    return case.with_terms(method=Method.SMC, reveal=Reveal.SETS)


def of_both(case: RuleCase) -> set[TermSet]:
    return {terms for terms in plain_apriori(case) if len({case.attributes[term.column].party for term in terms}) > 1}


def sets(found: JointItemsets) -> set[TermSet]:
    return {each.terms for each in found.kept}


@settings(max_examples=25, deadline=None)
@given(cases())
def test_they_are_the_sets_of_both_that_plain_apriori_finds(case: RuleCase) -> None:
    alice, bob = hiding(case).play()
    assert sets(alice.itemsets) == of_both(case)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.itemsets.undecided == 0


def opened(transcript: Transcript) -> list[bytes]:
    pages = ([m.words for m in sent if isinstance(m, OpenedPage)] for sent in vars(transcript).values())
    return [bytes(a ^ b for a, b in zip(one, other, strict=True)) for one, other in zip(*pages, strict=True)]


def test_what_is_opened_follows_from_the_frequent_sets_and_nothing_else_of_a_set_crosses() -> None:
    """Either side's view is that of a simulator: masked words, half of whose bits are ones, and these openings."""
    case, crossed = hiding(table(150)), Transcript()
    alice, _ = case.play(crossed)
    rules = case.terms.rules
    assert rules is not None
    assert 0 < len(alice.itemsets.kept) < alice.counted
    assert opened(crossed) == [each.tobytes() for each in simulate_answers(alice.itemsets, rules)]
    for sent in vars(crossed).values():
        assert not {type(each) for each in sent} & {SetCounts, ExactCounts, DisguisedPage, ClassCounts}
        assert off(bits_of(b"".join(each.words for each in sent if isinstance(each, MaskedPage)), 8)) == []


def test_lengths_are_those_of_the_records_the_terms_and_the_frequent_sets() -> None:
    """Two tables of other counts with the same frequent sets; a third has others."""
    first = hiding(table(150)).with_terms(rules=replace(RULES, min_support=Fraction(1, 3)))
    near, other = first.codes.copy(), 0 * first.codes
    near[:3, 0] ^= 1
    lengths, found = [], []
    for codes in (first.codes, near, other):
        crossed = Transcript()
        found.append(sets(replace(first, codes=codes).play(crossed)[0].itemsets))
        lengths.append([[(type(m).__name__, *map(len, parts(m))) for m in sent] for sent in vars(crossed).values()])
    assert found[0] == found[1] != found[2]
    assert lengths[0] == lengths[1] != lengths[2]


def parts(message: Message) -> list[bytes]:
    return [each for each in vars(message).values() if isinstance(each, bytes)]


def test_no_more_sets_are_asked_about_than_agreed_and_the_rest_is_undecided() -> None:
    whole, _ = hiding(table(150)).play()
    cut, _ = hiding(table(150)).with_terms(rules=replace(RULES, most_sets=20)).play()
    assert whole.counted > cut.counted == 20
    assert sets(cut.itemsets) < sets(whole.itemsets)
    assert cut.itemsets.undecided > 0
    with pytest.raises(InputError, match="no counts"):
        cut.itemsets.rules()


def test_a_search_that_was_cut_off_opens_no_level_again_and_ends_alike() -> None:
    case = hiding(table(150)).with_terms(rules=replace(RULES, min_support=Fraction(1, 10)))
    whole, everything = play({"alice": Store(), "bob": Store()}, 99, goes_on=False, case=case)
    stores = {"alice": Store(), "bob": Store()}
    assert play(stores, 2, goes_on=False, case=case)[0] == {}
    ended, crossed = play(stores, 99, goes_on=True, case=case)
    assert {each.itemsets.digest() for each in ended.values()} == {whole["bob"].itemsets.digest()}
    assert 0 < crossed[OpenedPage] < everything[OpenedPage]
    for store in stores.values():
        store.parts[Part.ANSWERS][1] += bytes(8)
    with pytest.raises(DeviationError):
        play(stores, 99, goes_on=True, case=case)


def test_no_mask_serves_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    hiding(table(60)).play()
    assert recorder.times() <= ONCE
