"""Randomizers, transactions and their audit: what cannot be is refused, and a sampler that departs is caught."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import comb, prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import protocols.association
from protocols.association.audit import OperatorAudit, audit_operators
from protocols.association.chances import WORD_BITS, Binomial, Chances, Hypergeometric, Listed, bounds, outcomes
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform, transition
from protocols.association.sampling import Words, below, draw, keyed_words, randomize, subsets
from protocols.association.support import Support, estimate_support, is_recoverable, recovery, variance, weights
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.privacy.chernoff import Goal, alarm_bound, trials_needed
from tests.support.examples import few
from tests.support.transactions import OPERATORS, estimate_covariance, every_form, fractions, overlaps

FIFTH = Fraction(1, 5)


def test_a_randomizer_that_cannot_be_is_refused() -> None:
    refused: list[tuple[Callable[[], Operator], str]] = [
        (lambda: SelectASize(-1, (), FIFTH), "size must be 0 or more"),
        (lambda: SelectASize(2, fractions("1/2 1/2"), FIFTH), "size 2 must have 3 chances"),
        (lambda: SelectASize(1, fractions("1/2 1/3"), FIFTH), "add up to 1"),
        (lambda: SelectASize(1, fractions("3/2 -1/2"), FIFTH), "0 or more"),
        (lambda: SelectASize(0, fractions("1"), Fraction(1)), "rho must be at least 0 and below 1"),
        (lambda: SelectASize(0, fractions("1"), Fraction(-1, 2)), "rho must be at least 0"),
        (lambda: CutAndPaste(3, 0, FIFTH), "cutoff must be above 0"),
        (lambda: CutAndPaste(3, 2, Fraction(1)), "rho must be"),
        (lambda: CutAndPaste(3, 2, Fraction(1, 10**9 + 1)), "denominator of at most"),
        (lambda: Uniform(1, 4, Fraction(3, 2)), "replaced must be between 0 and 1"),
        (lambda: Uniform(3, 5, FIFTH), "universe of 5 items is too small: list 6"),
    ]
    for make, problem in refused:
        with pytest.raises(InputError, match=problem):
            make()


def test_a_design_that_cannot_be_is_refused() -> None:
    for universe, operators, problem in [
        (5, (), "at least one size"),
        (5, (CutAndPaste(2, 1, FIFTH), CutAndPaste(2, 3, FIFTH)), "two operators"),
        (2, (CutAndPaste(3, 1, FIFTH),), "too small"),
        (2, (SelectASize(3, fractions("0 0 0 1"), FIFTH),), "too small"),
        (9, (Uniform(2, 8, FIFTH),), "declared for 8 items, there are 9"),
    ]:
        with pytest.raises(InputError, match=problem):
            TransactionDesign(universe, operators)


def column(operator: Operator, k: int, held: int) -> tuple[Fraction, ...]:
    return tuple(row[held] for row in transition(operator, k))


def test_a_frequent_triple_that_is_shown_under_uniform_randomization_is_almost_surely_true() -> None:
    """Review section 3.1: ten items of ten thousand, each replaced with chance 4/5."""
    shown = transition(Uniform(10, 10_000, Fraction(4, 5)), 3)[3]
    assert shown[3] == Fraction(8, 1000)
    assert float(shown[0]) == pytest.approx(3.70e-10, rel=2e-3)
    assert float(Fraction(comb(9_997, 7), comb(10_000, 10))) == pytest.approx(7.2e-10, rel=2e-3)
    share = Fraction(1, 100)
    posterior = share * shown[3] / (share * shown[3] + (1 - share) * shown[0])
    assert float(posterior) == pytest.approx(0.9999954, abs=1e-7)


def test_every_set_of_every_transaction_is_shown_as_often_as_declared() -> None:
    for operator, universe in OPERATORS:
        transaction = range(universe - operator.size, universe)
        forms = every_form(operator, transaction, universe)
        assert sum(forms.values()) == 1
        for k in range(min(universe, 4) + 1):
            for itemset in combinations(range(universe), k):
                held = len(set(itemset).intersection(transaction))
                assert tuple(overlaps(forms, itemset)) == column(operator, k, held)


def test_own_items_stay_as_often_as_declared_whatever_enters() -> None:
    for operator, universe in OPERATORS:
        own = set(range(operator.size))
        forms = every_form(operator, sorted(own), universe)
        foreign = universe - operator.size
        for j in (j for j in range(operator.size + 1) if operator.kept[j]):
            for f in range(foreign + 1):
                joint = sum(p for sent, p in forms.items() if len(sent & own) == j and len(sent - own) == f)
                assert joint == operator.kept[j] * operator.entering(j, foreign)[f]


def test_known_answers_of_both_operators_hold_and_chances_of_two_hundred_names_add_up() -> None:
    for m, n, k, held, p, expected in (
        (3, 8, 2, 1, "4/5", "48/125 69/125 8/125"),
        (3, 8, 3, 2, "1/3", "8/135 17/45 8/15 4/135"),
        (3, 7, 3, 3, "4/5", "64/125 48/125 12/125 1/125"),
    ):
        assert column(Uniform(m, n, Fraction(p)), k, held) == fractions(expected)
    for m, k, held, expected in (
        (5, 2, 0, "81/100 18/100 1/100"),
        (5, 2, 1, "567/1000 99/250 37/1000"),
        (5, 2, 2, "81/200 9/20 29/200"),
        (3, 3, 3, "729/4000 1053/4000 1107/4000 1111/4000"),
    ):
        assert column(CutAndPaste(m, 3, Fraction(1, 10)), k, held) == fractions(expected)
    for m, cutoff in ((3, 2), (2, 3), (3, 3), (3, 5), (1, 7)):
        cut = CutAndPaste(m, cutoff, Fraction(1, 5))
        assert sum(cut.kept.fractions) == 1
        same = SelectASize(m, cut.kept.fractions, cut.rho)
        assert every_form(cut, range(m), m + 2) == every_form(same, range(m), m + 2)
    for operator, universe in OPERATORS:
        renamed = [(item * 2 + 1) % universe if universe % 2 else universe - 1 - item for item in range(universe)]
        transaction = range(operator.size)
        forms = every_form(operator, transaction, universe)
        other = every_form(operator, sorted(renamed[item] for item in transaction), universe)
        assert other == {frozenset(renamed[item] for item in sent): p for sent, p in forms.items()}
    with pytest.raises(InputError, match="0 or more items"):
        transition(CutAndPaste(2, 1, Fraction(1, 5)), -1)
    matrix = transition(CutAndPaste(200, 7, Fraction(1, 20)), 3)
    assert [sum(part) for part in zip(*matrix, strict=True)] == [1, 1, 1, 1]


def test_an_item_twice_or_outside_the_universe_is_refused() -> None:
    for baskets, problem in [
        ([[0], [1, 2, 1]], "transaction 1 must hold each item once"),
        ([[0], [], [4]], "transaction 2 holds an item outside the universe of 4"),
        ([[0], [-1]], "transaction 1 holds an item outside"),
        ([[2**40]], "transaction 0 holds an item outside"),
    ]:
        with pytest.raises(InputError, match=problem):
            Transactions.of(baskets, 4)


def test_arrays_that_do_not_fit_are_refused() -> None:
    for starts, items, problem in [
        ([0, 2], [1, 0], "transaction 0 must hold each item once, and its items must rise"),
        ([0, 1, 1, 3], [3, 2, 2], "transaction 2 must hold each item once"),
        ([0, 3], [0, 1], "starts"),
        ([1, 2], [0, 1], "starts"),
        ([], [], "starts"),
        ([0, 2, 1, 2], [0, 1], "must not fall"),
        ([0, 1, 2], [0, 9], "transaction 1 holds an item outside"),
    ]:
        with pytest.raises(InputError, match=problem):
            Transactions(4, np.array(starts, dtype=np.int64), np.array(items, dtype=np.int32))


def test_a_size_has_declared_parameters_in_order_and_transactions_are_kept_as_given() -> None:
    known = TransactionDesign(9, tuple(CutAndPaste(m, 2, FIFTH) for m in (1, 2, 3)))
    with pytest.raises(InputError, match="no parameters for transactions of size 4: it has them for 1 to 3"):
        known.check_sizes([1, 4, 3])
    with pytest.raises(InputError, match="it has them for 1, 3"):
        TransactionDesign(9, (known.operators[0], known.operators[2])).operator(2)
    operators = (Uniform(2, 8, FIFTH), CutAndPaste(1, 7, Fraction(1, 10)), SelectASize(0, fractions("1"), FIFTH))
    assert TransactionDesign(8, operators).declaration() == {
        "universe": 8,
        "operators": [
            {"kind": "select-a-size", "size": 0, "chances": ["1"], "rho": "1/5"},
            {"kind": "cut-and-paste", "size": 1, "cutoff": 7, "rho": "1/10"},
            {"kind": "uniform", "size": 2, "replaced": "1/5"},
        ],
    }
    made = Transactions.of([[3, 1], [], [0], []], 4)
    assert made.sets() == list(map(frozenset, ([1, 3], [], [0], [])))
    assert made.sizes.tolist() == [2, 0, 1, 0]
    assert made.row(0).tolist() == [1, 3]
    assert made.matrix(np.array([2, 0])).astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 1]]
    assert repr(made) == "<Transactions 4 over 4 items>"
    assert len(Transactions.of([], 0)) == 0
    assert Transactions.of([[]], 0).sets() == [frozenset()]
    assert Transactions.of([[3], [0], [], [2], [1, 3]], 4).sizes.tolist() == [1, 1, 0, 1, 2]
    for universe in (-1, 2**31):
        with pytest.raises(InputError, match="a universe has"):
            Transactions.of([], universe)
    for sizes in ([1], [1, -1], [1, 1, 1]):
        with pytest.raises(InputError, match="one original size each"):
            Randomized(Transactions.of([[0], [1]], 2), np.array(sizes))


DESIGN = TransactionDesign(
    9,
    (
        SelectASize(0, fractions("1"), Fraction(1, 5)),
        CutAndPaste(2, 3, Fraction(1, 10)),
        Uniform(3, 9, Fraction(1, 3)),
        SelectASize(4, fractions("0 1/4 1/4 0 1/2"), Fraction(1, 4)),
    ),
)
GOAL = Goal(shift=Fraction(1, 20))
"""An honest sampler fails with a chance of 10^-6; one that is off by 1/20 passes with at most 1/1000."""

Sampler = Callable[[Transactions, TransactionDesign, Words], Randomized]


def words(records: int) -> Words:
    return keyed_words(bytes(range(32)), "audit", list(map(str, range(records))))


def audited(sampler: Sampler = randomize, design: TransactionDesign = DESIGN) -> OperatorAudit:
    return audit_operators(design, words, sampler, GOAL)


def changed(operator: CutAndPaste | SelectASize | Uniform, size: int) -> TransactionDesign:
    rest = (known for known in DESIGN.operators if known.size != size)
    return TransactionDesign(9, (*rest, operator))


def sampler_of(design: TransactionDesign) -> Sampler:
    return lambda transactions, _, chance: randomize(transactions, design, chance)


DEPARTURES = {
    "a smaller rho": changed(CutAndPaste(2, 3, Fraction(1, 20)), 2),
    "a larger rho": changed(SelectASize(4, fractions("0 1/4 1/4 0 1/2"), Fraction(3, 10)), 4),
    "another cut-off": changed(CutAndPaste(2, 7, Fraction(1, 10)), 2),
    "other chances of what stays, by one mean": changed(
        SelectASize(4, fractions("0 0 1/2 1/4 1/4"), Fraction(1, 4)), 4
    ),
    "fewer replacements": changed(Uniform(3, 9, Fraction(1, 4)), 3),
    "nothing enters an empty transaction": changed(SelectASize(0, fractions("1"), Fraction(0)), 0),
}


def test_a_sampler_is_held_against_its_declaration_and_one_that_differs_fails() -> None:
    """Of what stays it sends the first items, whichever number was drawn."""

    def first(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        sent = randomize(transactions, design, chance)
        own = transactions.sizes
        sets = [
            [*range(sum(item < size for item in row)), *(item for item in row if item >= size)]
            for row, size in zip(sent.transactions.sets(), own.tolist(), strict=True)
        ]
        return replace(sent, transactions=Transactions.of(sets, transactions.universe))

    failed = {test.what.split(":")[0] for test in audited(first).failures}
    assert "of 1 items, 1 of them own, shown" in failed
    assert "own items that stay" not in failed

    def paired(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        return randomize(transactions, design, lambda purpose, rows, count: chance(purpose, rows - rows % 2, count))

    failed = {test.what.split(":")[0] for test in audited(paired).failures}
    assert "one foreign item, in one transaction and the next, shown" in failed
    found = audited()
    assert found.passed, found.failures
    assert {test.size for test in found.tests} == {0, 2, 3, 4}
    assert found.disguised >= 4000
    for case in few([*DEPARTURES.values()], 5):
        found = audited(sampler_of(case))
        sizes = {test.size for test in found.failures}
        assert sizes == {size for size in DESIGN.sizes if case.operator(size) != DESIGN.operator(size)}

    def none(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        del transactions, chance
        return Randomized(Transactions.of([], design.universe), np.zeros(0, dtype=np.int64))

    with pytest.raises(InputError, match="the sampler returned 0 transactions for"):
        audited(none)
    with pytest.raises(InputError, match="the goal needs more than 10000000 transactions"):
        audit_operators(DESIGN, words, goal=Goal(shift=Fraction(1, 10_000)))


SECRET = bytes(range(32))
WHOLE = 2**WORD_BITS
DISTRIBUTIONS: list[Chances] = [
    Listed(fractions("0 1/3 0 2/3 0")), Listed(fractions("1/2 1/4 1/8 1/8")), Listed(fractions("1")),
    Binomial(5, Fraction(81, 1000)), Binomial(3, Fraction(0)), Binomial(2, Fraction(1)), Binomial(0, Fraction(1, 3)),
    Hypergeometric(9, 4, 3), Hypergeometric(4, 4, 2), Hypergeometric(0, 0, 0),
]  # fmt: skip


class Told:
    """Words from a list, the same for every transaction and purpose."""

    def __init__(self, *words: int) -> None:
        self.words = words

    def __call__(self, purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        del purpose
        return np.array([self.words[:count]] * len(rows), dtype=np.uint64)


def by_definition(chances: Chances) -> list[Fraction]:
    if isinstance(chances, Binomial):
        n, p = chances.trials, chances.chance
        return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    if isinstance(chances, Hypergeometric):
        every = list(combinations(range(chances.population), chances.drawn))
        hits = Counter(sum(thing < chances.marked for thing in choice) for choice in every)
        return [Fraction(hits[i], len(every)) for i in range(max(hits) + 1)]
    assert isinstance(chances, Listed)
    return list(chances.chances)


def test_a_distribution_is_what_its_name_says() -> None:
    for chances in DISTRIBUTIONS:
        expected = by_definition(chances)
        found = list(chances.fractions)
        assert found[: len(expected)] == expected
        assert not any(found[len(expected) :])
        assert [chances[i] for i in range(-1, len(found) + 1)] == [0, *found, 0]
        assert sum(found) == 1


def test_a_word_gives_an_outcome_only_where_all_that_may_follow_does_and_choices_do_not_touch() -> None:
    """Held against the definition at every boundary and beside it: an outcome's words are its chance, exactly."""
    for chances in DISTRIBUTIONS:
        ends = list(accumulate(by_definition(chances)))
        words = {word for end in ends for near in range(-2, 3) if 0 <= (word := int(end * WHOLE) + near) < WHOLE}
        words |= {0, 1, WHOLE // 3, WHOLE - 1}
        found, open_ones = outcomes(chances, np.array(sorted(words), dtype=np.uint64))
        for position, word in enumerate(sorted(words)):
            first = next(i for i, end in enumerate(ends) if end * WHOLE > word)
            last = next(i for i, end in enumerate(ends) if end * WHOLE >= word + 1)
            assert (position in open_ones) == (first != last)
            assert chances.outcome(word, WORD_BITS) == (first if first == last else None)
            if first == last:
                assert found[position] == first
    third = Listed(fractions("1/3 2/3"))
    edge = WHOLE // 3  # 1/3 is 0.010101... in binary, so its words repeat
    rows = np.array([0])
    for more, expected in (((edge - 1,), 0), ((edge + 1,), 1), ((edge, edge, edge + 1), 1), ((edge, edge - 1), 0)):
        assert draw(third, Told(edge, *more, 0), b"", rows).tolist() == [expected]
    high, low = bounds(Listed(fractions("1/3 1/3 1/3")))
    assert high.tolist() == [WHOLE // 3 + 1, 2 * WHOLE // 3 + 1]
    assert low.tolist() == [WHOLE // 3, 2 * WHOLE // 3]
    high, low = bounds(Binomial(3, Fraction(1, 10**9)))  # all three fall on it with chance 10^-27: less than a word
    assert len(high) == 2
    assert low.tolist()[2] == WHOLE - 1
    uniform = np.array([[1, 0], [3, 0], [0, 0]])
    assert subsets(uniform, np.array([2, 1, 0]), 4).astype(int).tolist() == [[1, 1, 0, 0], [0, 0, 0, 1], [0] * 4]
    for population, count in ((4, 0), (4, 1), (4, 2), (4, 3), (4, 4), (5, 3)):
        every = list(product(*(range(population - count + step + 1) for step in range(count))))
        uniform = np.array(every, dtype=np.int64).reshape(len(every), count)
        taken = subsets(uniform, np.full(len(every), count), population)
        tally = Counter(tuple(np.flatnonzero(row).tolist()) for row in taken)
        assert set(tally) == set(combinations(range(population), count))
        assert len(set(tally.values())) == 1


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**31 - 1])
def test_a_word_is_drawn_again_only_where_the_last_round_of_numbers_is_not_whole(bound: int) -> None:
    short = WHOLE % bound
    words = [short, WHOLE - 1] + ([short - 1] if short else [])

    def told(purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        assert count == 1
        return np.array([[WHOLE - 1 if b"again" in purpose else words[row]] for row in rows], dtype=np.uint64)

    found = below(np.full((len(words), 1), bound), told, b"p", np.arange(len(words)))[:, 0].tolist()
    assert found == [short, (WHOLE - 1) % bound] + ([(WHOLE - 1) % bound] if short else [])


TRIALS = 10_000
ALARM = 1e-9
"""False-alarm rate of each of the fewer than 500 counts below, over the choice of the secret; by Chernoff's bound."""


def test_every_form_is_sent_as_often_as_declared() -> None:
    """A chance of 1/4 that is off by 5/100 is caught with a chance above 0.99, as the last lines compute."""
    for operator, universe in few(OPERATORS, 4):
        transaction = list(range(universe - operator.size, universe))
        design = TransactionDesign(universe, (operator,))
        words = keyed_words(SECRET, "all forms", list(map(str, range(TRIALS))))
        sent = Counter(randomize(Transactions.of([transaction] * TRIALS, universe), design, words).transactions.sets())
        expected = every_form(operator, transaction, universe)
        assert set(sent) <= set(expected)
        for form, chance in expected.items():
            assert alarm_bound(sent[form], TRIALS, chance) > ALARM
    for other in (Fraction(20, 100), Fraction(30, 100)):
        needed = trials_needed(Fraction(1, 4), other, ALARM, 0.01)
        assert needed is not None
        assert needed <= TRIALS


def small() -> tuple[Transactions, TransactionDesign]:
    baskets = [[0, 3], [1], [], [2, 3, 4], [4, 1], [5], []]
    return Transactions.of(baskets, 6), TransactionDesign(6, tuple(CutAndPaste(m, 2, Fraction(1, 5)) for m in range(4)))


def sent(records: str, order: list[int], secret: bytes = SECRET, dataset: str = "d") -> list[frozenset[int]]:
    transactions, design = small()
    chosen = Transactions.of([transactions.row(k).tolist() for k in order], 6)
    randomized = randomize(chosen, design, keyed_words(secret, dataset, [records[k] for k in order]))
    assert randomized.sizes.tolist() == chosen.sizes.tolist()
    return list(randomized.transactions.sets())


@pytest.mark.parametrize("changed", [{"secret": bytes(32)}, {"dataset": "e"}, {"records": "tuvwxyz"}])
def test_another_secret_data_set_or_record_has_other_coins(changed: dict[str, object]) -> None:
    words = keyed_words(SECRET, "d", ["a"])(b"own", np.array([0]), 4)
    arguments = {"secret": SECRET, "dataset": "d", "records": "a", **changed}
    other = keyed_words(arguments["secret"], arguments["dataset"], [arguments["records"]])  # type: ignore[arg-type,list-item]
    assert not set(other(b"own", np.array([0]), 4)[0].tolist()) & set(words[0].tolist())
    assert not set(keyed_words(SECRET, "d", ["a"])(b"kept", np.array([0]), 4)[0].tolist()) & set(words[0].tolist())


def test_coins_go_with_records_and_blocks_and_a_longer_answer_change_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sent("abcdefg", list(range(7)))
    assert whole == sent("abcdefg", list(range(7)))
    turned = [6, 2, 0, 5, 1, 4, 3]
    assert [whole[k] for k in turned] == sent("abcdefg", turned)
    assert [whole[3]] == sent("abcdefg", [3])
    words = keyed_words(SECRET, "d", ["a", "b"])
    rows = np.array([1, 0])
    assert (words(b"own", rows, 9)[:, :4] == words(b"own", rows, 4)).all()
    monkeypatch.setattr("protocols.association.sampling._BLOCK_CELLS", 1)
    assert whole == sent("abcdefg", list(range(7)))


def test_a_wrong_universe_is_refused_and_no_transactions_give_none() -> None:
    transactions, design = small()
    words = keyed_words(SECRET, "d", list("abcdefg"))
    with pytest.raises(InputError, match="the design has 6 items, the transactions 7"):
        randomize(Transactions.of([], 7), design, words)
    with pytest.raises(InputError, match="size 3: it has them for 0 to 2"):
        randomize(transactions, TransactionDesign(6, design.operators[:3]), words)
    randomized = randomize(Transactions.of([], 6), small()[1], keyed_words(SECRET, "d", []))
    assert len(randomized) == 0
    assert randomized.transactions.items.dtype == np.int32


@pytest.mark.parametrize("name", ["chances", "operators", "sampling", "transactions"])
def test_no_float_and_no_other_source_of_chance_is_in_the_sampling_path(name: str) -> None:
    tree = ast.parse((Path(protocols.association.__file__).parent / f"{name}.py").read_text("utf-8"))
    forbidden = {"float", "float32", "float64", "double", "round", "random", "secrets", "urandom", "default_rng"}
    for node in ast.walk(tree):
        names = [getattr(node, field, None) for field in ("id", "attr", "module", "name")]
        assert not forbidden.intersection(n for n in names if isinstance(n, str))
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not isinstance(node, ast.Div)


UNIVERSE = 5
SUPPORT_OPERATORS: tuple[Operator, ...] = (
    SelectASize(0, fractions("1"), FIFTH),
    CutAndPaste(1, 2, Fraction(1, 4)),
    Uniform(2, UNIVERSE, Fraction(1, 3)),
    CutAndPaste(3, 3, FIFTH),
)
SAMPLED_DESIGN = TransactionDesign(UNIVERSE, SUPPORT_OPERATORS)

Cells = dict[int, list[list[int]]]


def support_outcomes(
    baskets: Sequence[Sequence[int]], first: Sequence[int], rest: Sequence[int]
) -> Iterator[tuple[Cells, Fraction]]:
    """Yield, for all outcomes, how many transactions of each size hold `a` of the first items and `b` of the rest."""
    each = []
    for basket in baskets:
        shown: dict[tuple[int, int, int], Fraction] = {}
        for form, chance in every_form(SAMPLED_DESIGN.operator(len(basket)), basket, UNIVERSE).items():
            cell = (len(basket), len(form.intersection(first)), len(form.intersection(rest)))
            shown[cell] = shown.get(cell, Fraction(0)) + chance
        each.append(shown.items())
    for outcome in product(*each):
        cells: Cells = {len(b): [[0] * (len(rest) + 1) for _ in range(len(first) + 1)] for b in baskets}
        for (size, a, b), _ in outcome:
            cells[size][a][b] += 1
        yield cells, prod((chance for _, chance in outcome), start=Fraction(1))


def all_items(cells: Cells) -> dict[int, list[int]]:
    """Return the counts by how many items of both together are held."""
    counts = {}
    for size, table in cells.items():
        counts[size] = [0] * (len(table) + len(table[0]) - 1)
        for a, row in enumerate(table):
            for b, count in enumerate(row):
                counts[size][a + b] += count
    return counts


def first_items(cells: Cells) -> dict[int, list[int]]:
    return {size: [sum(row) for row in table] for size, table in cells.items()}


BASKETS = [([], [2], [0, 1], [0, 1, 4]), ([0, 1], [1, 2], [0, 3]), ([0, 1, 2], [0, 1, 2]), ([3], [4], [])]


def test_over_all_outcomes_estimates_have_the_truth_for_mean_and_their_variance_for_spread() -> None:
    """No tolerance: support, its variance, and the covariance with the support of a part, all as exact fractions."""
    parts: list[tuple[list[int], list[int]]] = [([0], [1]), ([1], [0, 2]), ([0, 1], []), ([], [0]), ([0, 1], [2])]
    for baskets, (first, rest) in few([*product(BASKETS, parts)], 3):
        union = {*first, *rest}
        n, truth = len(baskets), Fraction(sum(union <= set(b) for b in baskets), len(baskets))
        inner_truth = Fraction(sum(set(first) <= set(b) for b in baskets), n)
        mean = square = mixed = told = told_mixed = inner_mean = Fraction(0)
        for cells, chance in support_outcomes(baskets, first, rest):
            whole = estimate_support(SAMPLED_DESIGN, all_items(cells))
            inner = estimate_support(SAMPLED_DESIGN, first_items(cells))
            mean += chance * whole.share
            inner_mean += chance * inner.share
            square += chance * whole.share**2
            mixed += chance * whole.share * inner.share
            told += chance * whole.variance
            told_mixed += chance * estimate_covariance(SAMPLED_DESIGN, cells, whole)
        assert (mean, inner_mean) == (truth, inner_truth)
        assert told == square - mean**2
        assert told_mixed == mixed - mean * inner_mean
        assert told == by_formula(baskets, sorted(union))


def by_formula(baskets: Sequence[Sequence[int]], itemset: Sequence[int]) -> Fraction:
    """Return the variance over all sizes by Review equation 9."""
    total = Fraction(0)
    for size in {len(basket) for basket in baskets}:
        own = [set(basket) for basket in baskets if len(basket) == size]
        held = [len(basket.intersection(itemset)) for basket in own]
        partial = [Fraction(held.count(items), len(own)) for items in range(len(itemset) + 1)]
        total += Fraction(len(own), len(baskets)) ** 2 * variance(SAMPLED_DESIGN.operator(size), partial, len(own))
    return total


def test_the_known_variance_and_conditions() -> None:
    partial = [Fraction(1, 3)] * 3
    assert variance(CutAndPaste(3, 2, FIFTH), partial, 3) == Fraction(551, 144)
    for m, expected in ((3, (2.4, 5.5, 12.9)), (5, (2.8, 6.9, 17.0)), (10, (4.8, 19.8, 78.5))):
        operator = CutAndPaste(m, 7, Fraction(2, 5))
        found = [np.linalg.cond(np.array(transition(operator, k), dtype=float)) for k in (1, 2, 3)]
        assert [round(float(condition), 1) for condition in found] == list(expected)
    operator = CutAndPaste(5, 3, Fraction(1, 10))
    forth, back = transition(operator, 3), recovery(operator, 3)
    for i, j in product(range(4), repeat=2):
        assert sum(back[i][x] * forth[x][j] for x in range(4)) == (i == j)
    assert not any(weights(SUPPORT_OPERATORS[1], 2))
    assert variance(SUPPORT_OPERATORS[1], [Fraction(1, 2), Fraction(1, 2), Fraction(0)], 7) == 0
    assert estimate_support(SAMPLED_DESIGN, {1: [3, 2, 4]}) == Support(Fraction(0), Fraction(0))
    with pytest.raises(InputError, match="transactions of size 1 hold no set of 2 items"):
        recovery(SUPPORT_OPERATORS[1], 2)


def test_estimates_are_refused_of_nothing_and_of_what_cannot_be_recovered_and_are_not_cut() -> None:
    hidden = SelectASize(3, fractions("64/125 48/125 12/125 1/125"), FIFTH)  # own items come as foreign ones do
    one = SelectASize(3, fractions("1/2 1/2 0 0"), Fraction(0))
    with pytest.raises(
        InputError, match=r"sets of 1 items cannot be recovered from transactions of size 3.*no set's can"
    ):
        weights(hidden, 1)
    with pytest.raises(InputError, match=r"sets of 3 items cannot be .*; sets of up to 1 can"):
        weights(one, 3)
    with pytest.raises(InputError, match="sets of up to 1 can"):
        estimate_support(TransactionDesign(5, (one,)), {3: [4, 3, 2]})
    with pytest.raises(InputError, match="sets of up to 2 can"):  # a cut-off of 2 never keeps three as they are
        weights(CutAndPaste(5, 2, FIFTH), 3)
    operators = (one, CutAndPaste(5, 5, FIFTH), SelectASize(0, fractions("1"), FIFTH))
    mixed = TransactionDesign(6, operators)
    assert [k for k in range(1, 6) if is_recoverable(mixed, [3, 5], k)] == [1, 4, 5]
    assert all(is_recoverable(mixed, [5, 0], k) for k in range(1, 6))
    with pytest.raises(InputError, match="no transactions"):
        estimate_support(SAMPLED_DESIGN, {2: [0, 0]})
    with pytest.raises(InputError, match="no transactions"):
        estimate_support(SAMPLED_DESIGN, {})
    with pytest.raises(InputError, match="no transactions"):
        variance(SUPPORT_OPERATORS[1], fractions("1 0"), 0)
    found = estimate_support(SAMPLED_DESIGN, {3: [4, 0, 0]})
    assert found.share != 0
    assert Support(Fraction(-1, 3), Fraction(-1, 9)).standard_error == 0


def test_names_of_items_do_not_matter_to_an_estimate() -> None:
    """Tallies of overlaps are all that an estimate reads, so all itemsets of equal counts have one estimate."""
    baskets = [[0, 1, 2], [1, 2]]
    found = set()
    for first in combinations(range(UNIVERSE), 2):
        held = tuple(len(set(first) & set(b)) for b in baskets)
        if held == (2, 1):
            mean = Fraction(0)
            for cells, chance in support_outcomes(baskets, first, []):
                mean += chance * estimate_support(SAMPLED_DESIGN, all_items(cells)).share
            found.add(mean)
    assert found == {Fraction(1, 2)}
