"""Itemsets of two parties: when all is settled, those of plain Apriori on the joined table, whatever counts them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.association.joint import JointItemsets, JointSet
from protocols.association.own_sets import OwnSets, TermSet
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.messages import CiphertextPage, DisguisedPage, ExactCounts, ModelDigest, PackedCounts, SetCounts, Verdict
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Message, Part, Receive, Role, Save, Send, Transcript, run_alone
from protocols.tables import Attribute, Expression, Term, joint_schema
from protocols.terms import NO_CLASS, Counting, Method, RuleTerms
from protocols.two_party import itemset_search
from protocols.two_party.agreement import Agreement
from protocols.two_party.itemset_search import Evidence, JointSearch
from protocols.two_party.itemsets import FoundTogether, OwnCounts, find_itemsets
from protocols.two_party.power import least_seen
from tests.support.duel import End, Tamper, duel, honest, replay
from tests.support.examples import at_most, few
from tests.support.joint_itemsets import RuleCase, plain_apriori, rule_terms
from tests.support.meeting import on
from tests.support.parties import make_terms
from tests.support.plain import schema_of

RULES = RuleTerms(Fraction(1, 4), 4, 10_000)


@st.composite
def cases(draw: st.DrawFn) -> RuleCase:
    """Draw a small joint table and a threshold."""
    sizes = {party: tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))) for party in ("alice", "bob")}
    records = draw(st.integers(1, 24))
    columns = [draw(st.lists(st.integers(0, size - 1), min_size=records, max_size=records)) for size in
               (*sizes["alice"], *sizes["bob"])]  # fmt: skip
    absent = tuple(draw(st.sets(st.sampled_from(["v0", "v1"]), max_size=1)))
    support = draw(st.fractions(Fraction(1, 20), 1, max_denominator=20))
    rules = RuleTerms(support, draw(st.integers(1, 4)), 10_000, absent)
    return RuleCase(sizes, np.array(columns, dtype=np.uint8).T.copy(), rule_terms(rules, method=Method.SMC))


def counts_of(found: JointItemsets) -> dict[TermSet, int]:
    return {each.terms: int(each.count) for each in found.frequent}


@pytest.mark.parametrize("counting", Counting)
@settings(max_examples=at_most(12))
@given(case=cases())
def test_all_counted_exactly_they_are_those_of_plain_apriori(counting: Counting, case: RuleCase) -> None:
    alice, bob = case.with_terms(counting=counting).play()
    assert counts_of(alice.itemsets) == plain_apriori(case)
    assert all(each.settled for each in alice.itemsets.kept)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.itemsets.undecided == 0


def table(records: int = 400) -> RuleCase:
    """Return a table in which Bob's columns follow Alice's, in part."""
    generator = np.random.default_rng(5)
    first = generator.integers(0, 2, (records, 3))
    second = np.where(generator.random((records, 3)) < 0.85, first, 1 - first)
    codes = np.concatenate([first, second], axis=1).astype(np.uint8)
    return RuleCase({"alice": (2, 2, 2), "bob": (2, 2, 2)}, codes, rule_terms(RULES))


@pytest.mark.parametrize("counting", Counting)
def test_whatever_is_settled_has_the_count_of_the_joined_table(counting: Counting) -> None:
    case = table(150).with_terms(counting=counting)
    alice, bob = case.play()
    plain = plain_apriori(case)
    settled = {each.terms: int(each.count) for each in alice.itemsets.kept if each.settled}
    assert settled
    assert settled == {terms: plain[terms] for terms in settled}
    assert alice.itemsets.digest() == bob.itemsets.digest()
    assert alice.key == bob.key
    assert (alice.key is not None) == (counting is Counting.PAILLIER)


def test_copies_settle_what_they_show_clearly_and_budgets_the_rest() -> None:
    case = table(4000).with_terms(theta=Fraction(19, 20), rules=replace(RULES, min_support=Fraction(2, 5)))
    found, _ = case.play()
    plain = plain_apriori(case)
    assert set(counts_of(found.itemsets)) == set(plain)
    exact, _ = case.with_terms(method=Method.SMC).play()
    assert found.counted < exact.counted
    left = [each for each in found.itemsets.frequent if not each.settled]
    assert left
    for each in left:
        assert abs(float(each.count) - plain[each.terms]) < 6 * each.error
    case = table(4000).with_terms(method=Method.RANDOMIZED, theta=Fraction(19, 20))
    crossed = Transcript()
    alice, bob = case.play(crossed)
    assert not any(each.settled for each in alice.itemsets.kept)
    assert alice.itemsets.digest() == bob.itemsets.digest()
    kinds = {type(message) for message in crossed.sent_by_a + crossed.sent_by_b}
    assert DisguisedPage in kinds
    assert not kinds & {SetCounts, PackedCounts}
    for method in (Method.HYBRID, Method.SMC):
        for most in (18, 20):
            case = table().with_terms(method=method, rules=replace(RULES, most_sets=most, max_len=2))
            without, _ = case.with_terms(rules=replace(RULES, most_sets=10_000, max_len=2)).play()
            found, _ = case.play()
            assert without.counted > most
            assert found.counted == most
            assert (found.itemsets.undecided > 0) == (method == Method.SMC)
    found, _ = table(4000).with_terms(rules=replace(RULES, most_sets=18, max_len=2)).play()
    left = [each for each in found.itemsets.kept if not each.settled]
    assert left
    assert all(float(each.count) >= found.itemsets.least - each.error for each in left)


def rule_of(found: FoundTogether) -> dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[float, float]]:
    return {(r.antecedent, r.consequent): (r.confidence, r.confidence_error) for r in found.itemsets.rules().rules}


def test_rules_of_settled_sets_have_no_error_and_of_estimates_that_of_repeated_runs() -> None:
    case = table(150).with_terms(method=Method.SMC)
    found, _ = case.play()
    first, second = case.codes[:, 0] == 0, case.codes[:, 3] == 0
    confidence, error = rule_of(found)[(0,), (6,)]
    assert confidence == pytest.approx((first & second).sum() / first.sum())
    assert error == 0
    # Over other coins: the spread of the confidence of one rule, of 40 disguises of one table, or of five.
    case = table(400).with_terms(method=Method.RANDOMIZED, theta=Fraction(19, 20))
    seen = [rule_of(play_with_secret(case, number))[(0,), (6,)] for number in few(range(40), 8)]
    spread = float(np.std([confidence for confidence, _ in seen]))
    assert spread < 1.5 * float(np.mean([error for _, error in seen]))


def play_with_secret(case: RuleCase, number: int) -> FoundTogether:
    class _Case(RuleCase):
        def local(self, party: str):  # type: ignore[no-untyped-def]
            local = super().local(party)
            return replace(local, secrets=replace(local.secrets, coins=bytes([number, party == "bob"]) * 16))

    return _Case(case.sizes, case.codes, case.terms, case.groups).play()[0]


CASE = RuleCase(table(200).sizes, table(200).codes, rule_terms(RULES, min_leaf=5))
EXACT = CASE.with_terms(method=Method.SMC, rules=replace(RULES, max_len=2))

Change = Callable[[Any], object]


SCHEMA = schema_of((2, 2, 3, 2), 1, alice=2)  # items 4 to 6 are of Bob's first column, 7 and 8 of his second
DESIGN = RelatedDesign((), (), Fraction(1))
TELLING = RuleTerms(Fraction(1, 4), 2, 4)
CODES = np.array([[row % 2, row % 4 == 0, 0, 0] for row in range(20)], dtype=np.uint8)


def heard(items: tuple[int, ...], sizes: tuple[int, ...], counts: tuple[int, ...], **terms: Any) -> Any:
    """Return the counts that Alice believes of what Bob sends of 20 records, or the kind of error with which she ends.

    A set is frequent with five of them; three set two sets apart.
    """
    rules = replace(TELLING, **terms)
    alice = OwnCounts("alice", Agreement(rule_terms(rules, min_leaf=3), SCHEMA, "bob", DESIGN, DESIGN), rules, CODES)
    end = replay(alice.share(OwnSets((), 0, complete=True)), [Verdict(""), SetCounts(items, sizes, counts)])
    return type(end.error) if end.error else tuple(alice.counts(end.result or ()).values())


def test_what_a_party_can_have_found_is_believed() -> None:
    for told in [
        ((4, 5, 7, 4, 7), (1, 1, 1, 2), (8, 8, 12, 8)),
        ((7,), (1,), (20,)),
        ((4, 7, 4, 7), (1, 1, 2), (8, 12, 5)),
        ((), (), ()),
    ]:
        assert heard(*told) == told[2]


IMPOSSIBLE: dict[str, tuple[dict[str, Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "ours": ({}, (0,), (1,), (8,)),
    "an item that there is not": ({}, (9,), (1,), (8,)),
    "an item that is absent": ({"absent": ("v2",)}, (6,), (1,), (8,)),
    "more than all records": ({}, (4,), (1,), (21,)),
    "too rare": ({}, (4,), (1,), (4,)),
    "all but a few": ({}, (4,), (1,), (18,)),
    "more than a part": ({}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 9)),
    "all but a few of a part": ({}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 6)),
    "a set before its parts": ({}, (4, 7, 4, 7), (2, 1, 1), (8, 8, 12)),
    "items out of order": ({}, (4, 7, 7, 4), (1, 1, 2), (8, 12, 8)),
    "two values of a column": ({}, (4, 5, 4, 5), (1, 1, 2), (8, 8, 5)),
    "twice": ({}, (4, 4), (1, 1), (8, 8)),
    "no items": ({}, (), (0,), (8,)),
    "too many items": ({"max_len": 1}, (4, 7, 4, 7), (1, 1, 2), (8, 12, 8)),
    "too many sets": ({"most_sets": 1}, (4, 7), (1, 1), (8, 12)),
    "sets without counts": ({}, (7,), (1,), ()),
    "items of no set": ({}, (4, 5), (1,), (8,)),
}


def test_what_no_party_can_have_found_is_the_peers_fault() -> None:
    for terms, *told in IMPOSSIBLE.values():
        assert heard(*told, **terms) is PeerError


@pytest.mark.parametrize("most", [1, 2])
def test_who_has_more_sets_than_agreed_sends_none(most: int) -> None:
    """Alice has two of one item each, as many as make a set."""
    case = RuleCase({"alice": (2,), "bob": (2,)}, CODES[:, :2], rule_terms(RuleTerms(Fraction(1, 4), 1, most)))
    end = duel(case.role("alice"), case.role("bob"))[0]
    assert isinstance(end.error, DisagreementError) is (most == 1)
    assert any(isinstance(message, SetCounts) for message in end.sent) is (most > 1)


def play_against(
    change: Change, case: RuleCase = CASE, sender: str = "bob", kind: type = SetCounts, crossed: set[type] | None = None
) -> None:
    """Play both, with messages of one kind of one side changed on their way; `crossed` gets the other's kinds."""
    roles: dict[str, Role[object]] = {name: case.role(name) for name in ("alice", "bob")}
    inbox: dict[str, list[object]] = {"alice": [], "bob": []}
    waiting = dict.fromkeys(roles, False)
    while True:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            while not waiting[name] or inbox[name]:
                effect = roles[name].send(inbox[name].pop(0) if waiting[name] else None)
                waiting[name] = isinstance(effect, Receive)
                if isinstance(effect, Send):
                    told = effect.message
                    if crossed is not None and name != sender:
                        crossed.add(type(told))
                    inbox[other].append(change(told) if name == sender and isinstance(told, kind) else told)


def test_what_is_not_changed_is_believed_and_what_cannot_be_ends_the_run() -> None:
    with pytest.raises(StopIteration):
        play_against(lambda told: told)
    with pytest.raises(PeerError, match="cannot be true"):
        play_against(lambda told: SetCounts(told.items, told.sizes, (201, *told.counts[1:])))


def test_counts_of_own_sets_that_the_copy_contradicts_end_the_run() -> None:
    large, rules = table(2000), replace(RULES, max_len=1)
    case = RuleCase(large.sizes, large.codes, rule_terms(rules))

    def halved(told: SetCounts) -> SetCounts:
        return SetCounts(told.items, told.sizes, tuple(max(count // 2, 500) for count in told.counts))

    assert not ends_at_the_digests(halved, case, "bob", SetCounts)
    slip = lambda told: SetCounts(told.items, told.sizes, tuple(count - 1 for count in told.counts))  # noqa: E731
    assert ends_at_the_digests(slip, case, "bob", SetCounts)  # the copy is too noisy to see it


def test_counts_of_own_sets_that_are_wrong_by_what_both_screens_say_are_seen() -> None:
    large = table(6000)
    case = RuleCase(large.sizes, large.codes, rule_terms(replace(RULES, max_len=1)))
    local = case.local("bob").bringing(case.terms)
    schema = joint_schema(case.attributes, Attribute("alice", NO_CLASS, (NO_CLASS,)), ("alice", "bob"))
    least = least_seen(local.design(case.terms.theta, class_is_shared=True), schema, 6000, 1)
    assert least is not None
    assert 500 < least < 1000

    def fewer(told: SetCounts) -> SetCounts:
        return SetCounts(told.items, told.sizes, (told.counts[0] - ceil(least), *told.counts[1:]))

    assert not ends_at_the_digests(fewer, case, "bob", SetCounts)


def ends_at_the_digests(change: Change, case: RuleCase, sender: str, kind: type) -> bool:
    """Tell whether false counts are seen only by the results, which differ, and not before."""
    crossed = set[type]()
    with pytest.raises(DeviationError):
        play_against(change, case, sender, kind, crossed)
    return ModelDigest in crossed


def test_counts_of_both_that_those_of_subsets_contradict_end_the_run() -> None:
    more = lambda told: ExactCounts(tuple(min(count + 200, 200) for count in told.values))  # noqa: E731
    assert not ends_at_the_digests(more, EXACT, "alice", ExactCounts)
    slip = lambda told: ExactCounts(tuple(count - 1 for count in told.values))  # noqa: E731
    assert ends_at_the_digests(slip, EXACT, "alice", ExactCounts)


SEARCH_RULES = RuleTerms(Fraction(3, 100), 2, 10_000, absent=("v0",))
HERS, HIS = Term(0, 1), Term(1, 1)
BOTH: TermSet = (HERS, HIS)


@dataclass
class SearchCounting:
    """Tells one number of every set, and remembers of which it was asked."""

    number: int
    asked: list[TermSet]

    def count(self, sets: Sequence[Expression]) -> Role[list[int]]:
        self.asked += [each.terms for each in sets]
        yield from ()
        return [self.number] * len(sets)


def find(
    own: Mapping[TermSet, int], told: int, columns: tuple[int, int] = (1, 1), estimate: JointSet | None = None
) -> tuple[JointItemsets, list[TermSet]]:
    """Search 100 records with columns of this many of each; return what is found, and which sets were counted.

    Three make a set frequent. Where there is an estimate, it is that of every set of both, as from copies.
    """

    class Search(JointSearch):
        def _estimate(self, terms: TermSet) -> JointSet:
            del terms
            assert estimate is not None
            return estimate

    copies: Any = None if estimate is None else object()
    counting = SearchCounting(told, [])
    schema = schema_of((2,) * sum(columns), 1, alice=columns[0])
    search = Search(schema, 100, SEARCH_RULES, Evidence(own, copies, counting.count))
    return run_alone(search.find()), counting.asked


def test_a_count_is_believed_between_the_least_and_the_most_that_its_parts_allow() -> None:
    for own, told, believed in [
        ((60, 50), 50, True), ((60, 50), 51, False), ((60, 50), 10, True), ((60, 50), 9, False), ((40, 50), 0, True),
        ((40, 50), -1, False),
    ]:  # fmt: skip
        counts: dict[TermSet, int] = {(HERS,): own[0], (HIS,): own[1]}
        if believed:
            found, _ = find(counts, told)
            assert [each.count for each in found.kept if len(each.terms) == 2] == [told] * (told >= 3)
        else:
            with pytest.raises(DeviationError):
                find(counts, told)


def test_sets_of_one_party_that_it_has_not_sent_are_not_counted() -> None:
    own: dict[TermSet, int] = {(Term(column, 1),): 50 for column in range(3)}
    _, asked = find(own, 20, columns=(2, 1))
    assert asked == [(Term(0, 1), Term(2, 1)), (Term(1, 1), Term(2, 1))]


def test_only_what_is_clear_is_kept_by_its_estimate() -> None:
    for count, variance, counted in [(30, 4, False), (4, 4, True), (40, 16, True), (30, -1, True)]:
        estimate = JointSet(BOTH, Fraction(count), Fraction(variance), settled=False)
        found, asked = find({(HERS,): 50, (HIS,): 50}, 20, estimate=estimate)
        assert asked == [BOTH] * counted
        assert [each.count for each in found.kept if each.terms == BOTH] == [20 if counted else count]


def test_more_candidates_than_can_be_looked_at_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[TermSet, int] = {(Term(column, 1),): 50 for column in range(16)}  # whose items make 120 pairs, 64 of both
    monkeypatch.setattr(itemset_search, "MOST_CANDIDATES", 120)
    assert len(find(own, 20, columns=(8, 8))[1]) == 64
    monkeypatch.setattr(itemset_search, "MOST_CANDIDATES", 119)
    with pytest.raises(InputError, match="more than 119 candidates of 2 items"):
        find(own, 20, columns=(8, 8))


DEVIATING_RULES = RuleTerms(Fraction(3, 10), 2, 10, absent=("v0",))
DEVIATING_CODES = np.array([[row < 500, 200 <= row < 700] for row in range(1000)], dtype=np.uint8)
DEVIATING_CASE = RuleCase(
    {"alice": (2,), "bob": (2,)}, DEVIATING_CODES, rule_terms(DEVIATING_RULES, theta=Fraction(9, 10)), groups=1
)
CLASS = Attribute("bob", "y", ("no", "yes"))
COPIES = DEVIATING_CASE.with_terms(method=Method.RANDOMIZED)


def play(case: RuleCase, tamper: Tamper = honest) -> tuple[End[FoundTogether], End[FoundTogether]]:
    return duel(case.role("alice"), case.role("bob"), tamper)


def kinds(end: End[FoundTogether]) -> set[type[Message]]:
    return {type(message) for message in end.sent}


@pytest.mark.parametrize(("false", "seen"), [(1, False), (150, True)])
def test_a_count_of_both_that_the_copy_contradicts_ends_the_run_before_the_results(false: int, seen: bool) -> None:
    """All that is known of subsets allows 300 more; the copy is too noisy to show one more."""

    def changed(told: ExactCounts) -> ExactCounts:
        return ExactCounts(tuple(count + false for count in told.values))

    _, bob = play(DEVIATING_CASE, on("a", ExactCounts, changed))
    assert type(bob.error) is DeviationError
    assert (ModelDigest in kinds(bob)) is not seen


def test_another_end_than_ours_is_a_deviation() -> None:
    alice, bob = play(COPIES, on("b", ModelDigest, lambda told: ModelDigest(bytes(len(told.digest)))))
    assert type(alice.error) is DeviationError
    assert bob.result is not None
    local, schema = COPIES.local("alice"), joint_schema(COPIES.attributes, CLASS, ("bob",))
    design = local.bringing(COPIES.terms).design(COPIES.terms.theta, class_is_shared=True)
    with pytest.raises(InputError, match="not of rules"):
        next(find_itemsets(local, Agreement(make_terms(), schema, "bob", design, design)))


STORED_CASE = RuleCase(table(150).sizes, table(150).codes, rule_terms(RULES))


class Store:
    """Keeps what a role saves, as the journal does."""

    def __init__(self) -> None:
        self.parts: dict[Part, dict[int, bytes]] = {}

    def save(self, item: Save) -> None:
        self.parts.setdefault(item.part, {})[item.number] = item.content

    def recall(self, part: Part) -> Iterator[bytes]:
        yield from (content for _, content in sorted(self.parts.get(part, {}).items()))


def stored_play(
    stores: dict[str, Store], most: int, *, goes_on: bool, case: RuleCase = STORED_CASE
) -> tuple[dict[str, FoundTogether], Counter[type]]:
    """Play until both have ended, or Bob has kept this many answers; return results and what crossed."""
    roles = {name: case.role(name, stores[name] if goes_on else None) for name in stores}
    inbox: dict[str, list[Any]] = {name: [] for name in stores}
    waiting, ended, crossed = dict.fromkeys(stores, False), dict[str, FoundTogether](), Counter[type]()
    while len(ended) < 2:
        for name, other in (("alice", "bob"), ("bob", "alice")):
            while name not in ended and (not waiting[name] or inbox[name]):
                try:
                    effect = roles[name].send(inbox[name].pop(0) if waiting[name] else None)
                except StopIteration as stop:
                    ended[name] = stop.value
                    break
                waiting[name] = isinstance(effect, Receive)
                if isinstance(effect, Save):
                    stores[name].save(effect)
                if isinstance(effect, Send):
                    crossed[type(effect.message)] += 1
                    inbox[other].append(effect.message)
                if len(stores["bob"].parts.get(Part.ANSWERS, {})) >= most:
                    return ended, crossed
    return ended, crossed


def test_a_search_that_was_cut_off_goes_on_unless_what_it_kept_is_no_answer() -> None:
    whole, everything = stored_play({"alice": Store(), "bob": Store()}, 99, goes_on=False)
    stores = {"alice": Store(), "bob": Store()}
    cut, _ = stored_play(stores, 3, goes_on=False)  # records, own sets, the first sets of both
    assert cut == {}
    ended, crossed = stored_play(stores, 99, goes_on=True)
    assert {each.itemsets.digest() for each in ended.values()} == {whole["bob"].itemsets.digest()}
    assert (crossed[SetCounts], crossed[DisguisedPage], crossed[CiphertextPage]) == (0, 0, 0)
    assert 0 < crossed[ExactCounts] < everything[ExactCounts]
    # Both have the same ones, or they would ask again.
    case = STORED_CASE.with_terms(method=Method.SMC, rules=replace(RULES, max_len=2))
    stores = {"alice": Store(), "bob": Store()}
    assert stored_play(stores, 99, goes_on=False, case=case)[0]
    assert stored_play(stores, 99, goes_on=True, case=case)[0]
    for store in stores.values():
        store.parts[Part.ANSWERS][2] += bytes(8)
    with pytest.raises(DeviationError):
        stored_play(stores, 99, goes_on=True, case=case)
