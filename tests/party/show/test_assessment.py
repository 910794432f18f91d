"""What a run reveals and what is left, in the words and the JSON that `plan`, `check` and the report share."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import ceil, hypot, log, prod
from typing import Any

import numpy as np
import pytest

from party.forecast.model import Forecast
from party.node.check import Assessment, Past
from party.records.releases import Earlier
from party.records.tally import Revealed
from party.settings.party import Acceptance
from party.show.assessment import (
    amount_lines,
    deviations_of,
    ended_lines,
    follows_lines,
    noise_lines,
    past_json,
    past_lines,
    revealed_lines,
    run_json,
    run_lines,
    seen_json,
    seen_line,
)
from party.show.costs import accuracy_outlook, memory_lines, ranking_outlook
from party.show.document import counted
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.learning.whole import GINI_BITS
from protocols.noise.accounting import Spending, TreeSpending
from protocols.randomized_response.moments import gain_error
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import run_pair
from protocols.secret_tree.bits import Allowance, Follows
from protocols.secret_tree.held_out import Scores, noise_of_table
from protocols.terms import ALL, HALF, Counting, Impurity, Leaves, Method, Reveal, Splits, Terms
from protocols.two_party.bounds import room_for_levels
from protocols.two_party.power import Seen, SeenTogether, seen_as_agreed, seen_of_alike
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_roles, make_terms
from tests.support.plain import schema_of
from tests.support.simulators import simulate_openings

TOLD = Past({}, 2, Revealed(27, 2, 1), Fraction(3, 2))
REFUSED = "which refuses it"
SAME = "a run that is the same as an earlier one spends nothing more"
CASE = Case(
    sizes={"alice": (2,), "bob": (2, 2)},
    class_owners=("alice",),
    classes=2,
    codes=np.random.default_rng(1).integers(0, 2, (400, 4)).astype(np.uint8),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(9, 10), omega=1, max_depth=1),
)


@pytest.fixture
def agree() -> Acceptance:
    return Acceptance(
        methods=tuple(Method), odds=None, omega=ALL, counting=tuple(Counting),
        smallest_key_bits=2048, max_depth=None, min_leaf=1,
    )  # fmt: skip


def test_bounds_are_said_not_to_add_up_over_names_of_one_table(agree: Acceptance) -> None:
    told = replace(TOLD, others=((Earlier("old", ("age", "city")), Past({}, 1, Revealed(tables=9), None)),) * 2)
    line, _ = [line for line in past_lines(told, agree) if "'old'" in line]
    assert line.startswith("Columns of this data set (age, city) were released as 'old' too: 1 run, whose 9 counts no")
    assert "do not add up over names" in line
    assert past_json(told, agree, ())["others"] == [{"dataset": "old", "columns": ["age", "city"]}] * 2
    assert not any("names" in line for line in past_lines(TOLD, agree))


ALONE = make_terms(method=Method.SMC, reveal=Reveal.TREE, max_depth=3, test=Fraction(1, 5))
TENTHS = replace(ALONE, min_leaf=100, leaves=Leaves.TENTHS)


@pytest.mark.parametrize(
    ("terms", "rows"), [(ALONE, [(-1, 0), (-1, 1)]), (TENTHS, [(k, k > 4) for k in range(-1, 11)])]
)
@pytest.mark.parametrize("tests", [240, 900, 4000])
def test_before_a_run_the_error_is_said_that_its_accuracy_will_have_at_most(
    agree: Acceptance, terms: Terms, rows: list[tuple[int, int]], tests: int
) -> None:
    """It is that of a table of half the people right, and enough people, by the next step, have the error wanted."""
    run = Assessment(terms, 0, None, records=4 * tests, tests=tests)

    def error(people: int) -> float:
        cells = np.zeros((len(rows), 2), dtype=int)
        cells[0] = people // 2, people - people // 2
        told = [number for row, own in zip(rows, cells.tolist(), strict=True) for number in (*row, *own)]
        return Scores.read(told, 2, people, noise_of_table(HALF)).table.accuracy().error

    assert run_json(run)["accuracy_error"] == pytest.approx(error(tests))
    (said,) = [line for line in run_lines(run, TOLD, agree) if line.startswith("Held out: ")]
    assert f"{tests:,} people, who show accuracy to ±{error(tests):.3f} or better" in said
    assert ("Next: " in said) == (error(tests) > 0.03)
    if found := re.search(r"hold out ([\d,]+) \(", said):
        assert error(int(found[1].replace(",", ""))) == pytest.approx(0.03, rel=0.002)
    few = replace(run, records=10)
    assert any("hold out more, or none" in line for line in run_lines(few, TOLD, agree)) == (error(tests) > 0.03)


def test_the_bits_that_a_partner_chooses_are_those_that_are_opened_of_a_node_and_a_leaf() -> None:
    """With 78 conditions SECURITY counts them too: eight at a node, eleven at a leaf of tenths."""
    for (columns, classes), leaves, holds_class in product([(78, 2), (2, 2), (9, 5)], Leaves, [True, False]):
        terms = replace(ALONE, min_leaf=100, leaves=leaves, max_depth=1)
        leaf = Leaf((), 0, (10, *[0] * (classes - 1)) if leaves == Leaves.TENTHS else ())
        tree = Tree(schema_of([2] * columns, classes), Split((), 0, (leaf, leaf)), terms.growth)
        allowance = Allowance(tree.schema, 1, leaves=leaves)
        opened = [prod(wires.shape[:-1]) for wires in simulate_openings(tree, allowance)]
        run = Assessment(terms, 0, None, records=400, columns=columns, classes=classes, holds_class=holds_class)
        said = " ".join(amount_lines(run))
        node, ended = sum(opened[:2]), sum(opened[2:])
        assert f"up to {counted(node, 'yes-or-no answer')} of its choice per split, and {ended} per leaf" in said
        for deeper in (1, 2):  # of a leaf that could be split it is opened too that it is not
            (can, *_) = deviations_of(replace(run, terms=replace(terms, max_depth=deeper)), tree)
            assert f"per leaf: up to {node + 2 * (ended + deeper - 1):,} in this tree" in can
        if (columns, classes, leaves) == (78, 2, Leaves.TENTHS):
            assert (node, ended) == (8, 11)


@pytest.mark.parametrize("rarest", [0.0, 0.18])
def test_before_a_run_the_error_of_auc_is_said_that_a_tree_has_which_tells_nobody_apart(
    agree: Acceptance, rarest: float
) -> None:
    run = Assessment(TENTHS, 0, None, records=19_200, tests=4800, rarest=rarest)
    rows, ranked = sorted([*((k, k > 4) for k in range(11)), (5, False)]), round(400 * (rarest or 0.5))
    told = [number for row in rows for number in (*row, 400 - ranked, ranked)]
    of_run = Scores.read(told, 2, 4800, noise_of_table(HALF)).table.auc()
    assert of_run is not None
    said = run_json(run)["auc_error"]
    assert said == pytest.approx(of_run.error, rel=0.04)
    (line,) = [line for line in run_lines(run, TOLD, agree) if line.startswith("Held out: ")]
    assert f"AUC to about ±{said:.3f}{'.' if rarest else ', or less well if one class is rare'}" in line
    assert run_json(replace(run, terms=ALONE))["auc_error"] is None


@pytest.mark.parametrize("terms", [replace(ALONE, test=Fraction(0)), make_terms(method=Method.RANDOMIZED)])
def test_nothing_is_said_of_people_held_out_where_there_are_none_or_nobody_counts_them(
    agree: Acceptance, terms: Terms
) -> None:
    run = Assessment(terms, 0, None, records=400, tests=0 if not terms.test else 100)
    assert not any(line.startswith("Held out: ") for line in run_lines(run, TOLD, agree))
    assert run_json(run)["accuracy_error"] is None


def test_what_was_revealed_stands_beside_what_may_be(agree: Acceptance) -> None:
    bounded = replace(agree, epsilon=Fraction(3), life=replace(agree.life, most_runs=5, most_counts=20))
    assert past_lines(TOLD, bounded) == [
        "Revealed so far: 2 runs on different terms; 3 of 5 left.",
        "Revealed so far: 30 counts (27 of tables, 2 of classes, 1 of accuracy); 0 of 20 left.",
        "Epsilon spent: 1.5; [agree] epsilon allows 3.",
    ]
    spent = past_lines(
        Past({}, 1, Revealed(tables=1), Fraction(0)),
        replace(agree, life=replace(agree.life, most_runs=1, most_counts=20)),
    )
    refused = "a run on other terms is refused, one on the same terms is not"
    assert spent[0] == f"Revealed so far: 1 run on different terms; 0 of 1 left: {refused}."
    assert spent[1] == "Revealed so far: 1 count (1 of tables); 19 of 20 left."
    assert past_lines(replace(TOLD, epsilon=None), bounded)[-1].startswith("Epsilon spent: no bound")


@pytest.mark.parametrize(
    ("bits", "left"), [("n/50", "2 of 14 left"), (9, "0 of 9 left"), (None, "[agree] sets no bound")]
)
def test_bits_that_were_revealed_stand_beside_those_that_may_be(
    agree: Acceptance, bits: int | str | None, left: str
) -> None:
    line = past_lines(replace(TOLD, bits=12, records=700), replace(agree, life=replace(agree.life, most_bits=bits)))[-2]
    assert line == f"Revealed so far by trees alone, and predictions by them: 12 bits at most; {left}."


@pytest.mark.parametrize(("most", "whom"), [(None, "anybody"), (1200, "1,200 people")])
def test_what_an_asker_reads_is_said_where_answers_are_allowed(agree: Acceptance, most: int | None, whom: str) -> None:
    allowed = replace(agree, life=replace(agree.life, most_predictions=most))
    last = past_lines(TOLD, allowed)[-2]
    assert last.startswith(
        f"[agree] most_predictions allows answers about {whom}: an asker whose rows all have the one"
    )
    for closed in (agree, replace(allowed, epsilon=Fraction(3))):
        assert not any("most_predictions" in line for line in past_lines(TOLD, closed))


def test_nothing_is_said_of_what_is_neither_revealed_nor_bounded(agree: Acceptance) -> None:
    nothing = Past({}, 0, Revealed(), Fraction(0))
    assert past_lines(nothing, replace(agree, life=replace(agree.life, most_runs=None, most_counts=None))) == []
    assert past_lines(nothing, replace(agree, life=replace(agree.life, most_runs=1, most_counts=None))) == [
        "Revealed so far: no runs yet; 1 of 1 left."
    ]
    told = past_lines(
        Past({}, 1, Revealed(4), None), replace(agree, life=replace(agree.life, most_runs=None, most_counts=None))
    )
    assert [line.split(";")[0] for line in told] == [
        "Revealed so far: 1 run on different terms",
        "Revealed so far: 4 counts (4 of tables)",
        "Epsilon spent: no bound, as counts or a tree without noise were revealed",
    ]


@pytest.mark.parametrize(
    ("spent", "allowed", "said"),
    [
        (Fraction(3, 2), Fraction(3), f"1 and leaves 0.5 of [agree] epsilon; {SAME}."),
        (Fraction(5, 2), Fraction(3), f"1, 0.5 more than [agree] epsilon leaves, {REFUSED}; {SAME}."),
        (None, Fraction(3), "1, but no epsilon bounds what was revealed before: [agree] epsilon refuses it."),
        (Fraction(9), None, f"1; {SAME}."),
    ],
)
def test_what_a_run_spends_and_leaves_is_said(
    agree: Acceptance, spent: Fraction | None, allowed: Fraction | None, said: str
) -> None:
    run = Assessment(make_terms(noise=Fraction(1), max_depth=3), 40, 30)
    past, bounded = replace(TOLD, epsilon=spent), replace(agree, epsilon=allowed)
    assert run_lines(run, past, bounded)[3:] == [f"This run spends epsilon {said}"]
    assert not any("epsilon" in line for line in run_lines(Assessment(make_terms(), 40, 30), past, bounded))


@pytest.mark.parametrize(("method", "what"), [("smc", "the whole run"), ("hybrid", "all counts, beside the disguised")])
def test_what_noise_bounds_and_by_how_much_numbers_are_off_stands_in_one_line(method: str, what: str) -> None:
    """Both scales are 80: a count has a variance of 4 times 6,400."""
    spending = Spending(Fraction(1), 80)
    terms = make_terms(method=method, noise=Fraction(1), max_depth=3)
    (line,) = noise_lines(Assessment(terms, 0, None, noise=(spending, spending)))
    assert line.startswith(f"Noise: {what}")
    assert "reveals epsilon 1 at most (delta 9.1e-13) to each side" in line
    assert "noise of scale 80.0 (ours) and 80.0 (the peer's) puts" in line
    assert "a count off by about 160 records (standard deviation), the number classified correctly by 2.0" in line
    assert noise_lines(Assessment(make_terms(), 0, None)) == []


@pytest.mark.parametrize(("test", "epsilon", "delta"), [(Fraction(0), "0.25", "1.4e-12"), (HALF, "0.5", "2.7e-12")])
def test_what_noise_bounds_of_a_tree_alone_and_how_large_it_is_stands_in_one_line(
    test: Fraction, epsilon: str, delta: str
) -> None:
    """Three levels share six tenths: `2 * 1 / (0.25 * 0.6/3)` records; labels have `2 / (0.25 * 0.4)`."""
    noise = Fraction(1, 4)
    terms = make_terms(method="smc", reveal="tree", max_depth=3, noise=noise, impurity=Impurity.GINI, test=test)
    run = Assessment(terms, 0, None, noise=TreeSpending(noise, 3, 2**GINI_BITS, 6), records=16_000)
    line, values = noise_lines(run)
    assert values.startswith("Noise favours columns of many values")
    run = replace(run, terms=replace(terms, splits=Splits.TWO_WAY))
    assert noise_lines(run) == [line]
    few = "1,999 training records are few for this noise"
    assert noise_lines(replace(run, records=1_999))[1].startswith(few)
    assert "a max_depth of 4 or 5" in noise_lines(replace(run, noise=TreeSpending(noise, 6, 2**GINI_BITS, 6)))[1]
    assert line == (
        f"Noise: the whole run reveals epsilon {epsilon} at most (delta {delta}) to each side; each side adds noise of "
        "scale 40.0 records to what a column is worth at a node, and of 20.0 to the classes of a leaf."
    )


def test_a_tree_is_forecast_by_its_bound_alone_and_what_is_over_is_shown_with_its_parts(agree: Acceptance) -> None:
    run = Assessment(make_terms(), most=451_371, likely=None)
    before, copies, danger, deviating = amount_lines(run)
    assert copies == "It also reveals a disguised copy of each side."
    assert danger.startswith("Exact counts are equations about single people")
    assert deviating == "A partner that deviates can read some records of one of our columns in each count."
    assert "about 11 records of one" in amount_lines(replace(run, records=2_100))[-1]
    assert "any records of ours to be counted" in amount_lines(replace(run, holds_class=True))[-1]
    assert "key of Paillier" in amount_lines(replace(run, terms=make_terms(counting=Counting.PAILLIER)))[-1]
    _, _, noisy = amount_lines(replace(run, terms=make_terms(noise=Fraction(1), max_depth=3, omega=ALL), records=2_100))
    assert noisy.endswith("read some records of one of our columns in each count, whatever epsilon is.")
    assert before.startswith(
        "This run reveals at most 451,371 exact counts, whatever tree it grows, and often far fewer."
    )
    assert "about" not in before
    assert run_lines(run, TOLD, agree)[0] == before.replace(".", ", if the peer has columns like ours.")
    parts = "4,711 exact counts (4,708 of tables, 2 of classes, 1 of accuracy)"
    assert revealed_lines(run.terms, Revealed(4_708, 2, 1)) == [f"This run revealed {parts}."]
    assert "(about 5,300 are likely)" in amount_lines(replace(run, likely=5_273))[0]


@pytest.mark.parametrize(("leaves", "once", "thrice"), [(Leaves.LABEL, 30, 126), (Leaves.TENTHS, 181, 757)])
def test_how_many_held_out_people_a_partner_reads_that_deviates_is_said_before_a_run_and_after(
    leaves: Leaves, once: int, thrice: int
) -> None:
    """Of 12 bits a cell noise takes 4.4, and of three openings as many; four cells, or 24 with tenths."""
    terms = make_terms(method="smc", reveal="tree", max_depth=3, leaves=leaves, min_leaf=100)
    run = Assessment(terms, 0, None, records=6_000, tests=2_000)
    read = (
        f"read up to {once} of 2,000 people for certain, or {thrice} if it ends two runs, whatever epsilon is, by the"
    )
    assert any(read in line for line in amount_lines(run))
    assert any(read in can for can in deviations_of(run))
    assert not any("for certain" in line for line in amount_lines(replace(run, tests=0)))


def test_a_tree_that_bits_end_is_called_so_before_the_run_and_after_it() -> None:
    schema = schema_of((2, 2, 2), 2, 1)
    tree = Tree(schema, Split((), 0, (Leaf((), 0), Leaf((), 1))))
    terms = make_terms(method="smc", reveal="tree", max_depth=3, most_bits=5)
    (line,) = ended_lines(tree, terms, 100)
    allows = "Next: most_bits = 18, in the job and under [agree] of both, leaves room for all"
    risk = ": a partner may then know as many facts about people."
    ended = "The tree ended at 2 nodes that might have split, since most_bits allowed no more: 4 of 5 bits are used"
    assert line == f"{ended}. {allows}{risk}"
    for enough in (replace(terms, most_bits=18), replace(terms, max_depth=1)):
        assert ended_lines(tree, enough, 100) == []
    run = Assessment(terms, 0, None, bits=5, room=room_for_levels([2, 2, 2], 2, 100, terms))
    said = " ".join(amount_lines(run, ", supposed"))
    early = "The tree may end early: the job's most_bits, 5, leaves room for 1 of 3 levels of any width"
    assert f"{early}. {allows}, supposed; `cotally train` shows the exact number{risk}" in said
    assert f"{early}. {allows}{risk}" in " ".join(amount_lines(run))
    assert "leaves room" not in " ".join(amount_lines(replace(run, room=None)))


def test_people_who_are_too_few_for_a_split_are_not_advised_to_raise_the_bound() -> None:
    """Their number is said, as before the run so of a tree that ended at its root."""
    terms = make_terms(method="smc", reveal="tree", max_depth=3, most_bits=6)
    run = Assessment(terms, 0, None, records=240, tests=60, bits=6, room=room_for_levels([9, 9], 2, 300, terms))
    assert run.room is not None
    assert run.room.levels == 0
    before, after = " ".join(amount_lines(run)), *ended_lines(Tree(schema_of((9, 9), 2, 1), Leaf((), 0)), terms, 300)
    for said in (before, after):
        assert "300 people are too few for a tree within most_bits, 6. Next: more people; or fewer columns" in said
        assert "most_bits = " not in said


def test_what_a_partner_that_deviates_reads_of_people_held_out_is_said_with_noise_and_without() -> None:
    """SECURITY has it: some in each cell of their table, whatever epsilon is; nothing where nobody is held out."""
    for terms in (TENTHS, replace(TENTHS, noise=Fraction(1), min_leaf=1, impurity=Impurity.GINI, most_bits=None)):
        run = Assessment(terms, 0, None, records=8000, tests=2000, columns=9)
        said = " ".join(amount_lines(run))
        read = "up to 181 of 2,000 people for certain, or 757 if it ends two runs, whatever epsilon is,"
        assert f"It can also read {read} by the table of those held out." in said
        assert "It can also break off once after it sees a digest of our table" in said
        assert ("(up to 3 answers have the same noise)" in said) == (terms.noise is not None)
        none = Assessment(replace(terms, test=Fraction(0)), 0, None, records=400, columns=9)
        assert "for certain" not in " ".join(amount_lines(none))


def test_programs_read_the_epsilon_the_bound_and_the_refusal(agree: Acceptance) -> None:
    run = Assessment(make_terms(noise=Fraction(1), max_depth=3), 40, None, flaw=InputError("no"))
    assert run_json(run) == {
        "accuracy_error": None, "auc_error": None, "counts_at_most": 40,
        "counts_probably": None, "bits_at_most": None, "epsilon": "1",
        "seen": None, "refused": "no",
    }  # fmt: skip
    assert run_lines(run, TOLD, agree)[-1] == "This party refuses this job: no"


def test_what_a_run_that_mines_reveals_is_said_by_role() -> None:
    """The class holder sends no copy, but an answer about its true columns; the other side sends a copy alone."""
    run = Assessment(make_terms(method="randomized", reveal="tree", max_depth=3), 0, None, bits=54)
    said = {holds: " ".join(amount_lines(replace(run, holds_class=holds))) for holds in (True, False)}
    assert "mine from our true columns and its copy: an answer of at most 54 bits" in said[True]
    assert "No copy of ours leaves." in said[True]
    assert "a disguised copy of our columns, and nothing else" in said[False]
    assert "true columns" not in said[False]


def test_who_can_be_certain_of_what_is_said_by_role() -> None:
    found = Follows(120, 3, 0, 7)
    ours, theirs = follows_lines(found, "bob", holds_class=True)
    assert ours.endswith(" we can be certain of 3 people's value in a column of bob, of 120 people.")
    own = "Only bob's report shows for how many people bob can be certain of a value in a column of ours"
    assert theirs == f"bob can be certain of at most 7 people's class. {own}: ask for that line before you sign."
    nobody, one = (follows_lines(Follows(120, 3, 0, n), "bob", holds_class=True)[1] for n in (0, 1))
    assert "bob can be certain of nobody's class." in nobody
    assert "bob can be certain of at most 1 person's class." in one
    assert "certain of nobody's class, and of 3 people's value" in follows_lines(found, "bob", holds_class=False)[0]
    assert follows_lines(None, "bob", holds_class=True) == []


# what is noticed of false counts


def seen(**changes: Any) -> Seen:
    case = replace(CASE, terms=replace(CASE.terms, **changes))
    (agreed, _), _ = run_pair(*make_roles(case))
    found = seen_as_agreed(make_local(case, "alice"), agreed)
    assert found is not None
    return found


def test_how_wrong_a_count_must_be_stands_in_the_line_and_in_the_json() -> None:
    found = seen()
    assert found.one is not None
    least = ceil(found.one)
    run = Assessment(CASE.terms, 40, None, seen=found, records=100 * least)
    line = seen_line(run)
    assert f"end the run if one is wrong by {least:,} of {100 * least:,} records or more" in line
    assert (seen_json(found) or {})["one_group"] == least
    both = seen_line(replace(run, seen=replace(found, together=SeenTogether(3, 12.1))))
    assert "or all counts of a column by about 13;" in both


def test_a_count_that_may_be_wrong_by_half_of_all_records_is_said_to_be_practically_unchecked() -> None:
    run = Assessment(CASE.terms, 40, None, seen=Seen(one=729.2), records=1_500)
    said = seen_line(run)
    assert said.startswith("False counts from the peer go practically unnoticed: the run ends only if one")
    assert "ends only if one is wrong by 730 of 1,500 records or more" in said
    assert "practically" not in seen_line(replace(run, seen=Seen(one=70.0)))


@pytest.mark.parametrize("changes", [{"theta": Fraction(9, 20)}, {"theta": Fraction(11, 20)}, {"method": Method.SMC}])
def test_where_nothing_is_noticed_it_is_said(changes: dict[str, Any]) -> None:
    run = Assessment(replace(CASE.terms, **changes), 40, None, seen=seen(**changes), records=400)
    assert seen_line(run).startswith("False counts from the peer would not be noticed")


def test_for_programs_what_is_not_seen_is_null_and_all_of_it_where_nothing_is_counted() -> None:
    assert seen_json(None) is None
    assert seen_json(Seen()) == {"one_group": None, "two_groups": None, "together": None}
    assert seen_of_alike(make_local(CASE, "alice"), replace(CASE.terms, method=Method.RANDOMIZED), 400) is None


def test_before_the_peer_is_known_the_same_is_seen_of_one_that_turns_out_to_be_alike() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (4000, 7)).astype(np.uint8)
    terms = make_terms(theta=Fraction(9, 10), omega=None, max_depth=1)
    alike = Case({"alice": (2,) * 3, "bob": (2,) * 3}, ("alice",), 2, codes, {"alice": 3, "bob": 3}, terms)
    (agreed, _), _ = run_pair(*make_roles(alike))
    local = make_local(alike, "alice")
    local = replace(local, groups=((0,), (1,), (2,)))  # without the class, as Bob has no class
    agreed = replace(agreed, peer_design=local.design(terms.theta, class_is_shared=True))
    found = seen_of_alike(local, terms, 4000)
    assert found == seen_as_agreed(local, agreed)
    assert None not in (seen_json(found) or {}).values()


def test_held_out_records_that_are_too_few_are_reported_with_how_many_would_do() -> None:
    """Of 400 records sqrt(400 * 0.55 * 0.45) / 0.1 = 99.5 is 0.249, and 3.92 times that above 1/2."""
    design = RelatedDesign((2, 2), ((0,), (1,)), Fraction(11, 20))
    (told,) = accuracy_outlook(design, 400)
    assert told.startswith("Accuracy: 400 held-out records will be too few to estimate it from disguised copies (")
    assert told.endswith("(standard error of about 0.249 or more); it takes about 1,522 or more")
    assert not accuracy_outlook(design, 1_522)
    assert accuracy_outlook(design, 1_521)
    assert not accuracy_outlook(design, 0)


def test_more_memory_than_there_is_is_warned_of() -> None:
    forecast = Forecast(1.0, 1.0, 1e6, 3, 0)
    assert memory_lines(forecast) == []
    (told,) = memory_lines(replace(forecast, memory=1e18))
    assert told.endswith(
        "MiB of memory, the run takes more: lower max_depth, or bring fewer columns, values or records."
    )


def test_a_copy_in_the_clear_gives_an_accuracy_from_few_records() -> None:
    assert not accuracy_outlook(RelatedDesign((2, 2), (), Fraction(1)), 3)


@pytest.mark.parametrize("contrast", [1 / 3, 1 / 2])
def test_the_error_of_a_gain_is_that_of_simulated_columns_that_tell_nothing(contrast: float) -> None:
    """A column of four values as it is, two classes disguised: the variance of 2,000 gains, to second order."""
    rng, records = np.random.default_rng(1), 3000
    gains = []
    for _ in range(2000):
        sizes = rng.multinomial(records, [1 / 4] * 4)
        off = 2 * (rng.binomial(sizes, 1 / 2) - sizes / 2) / contrast  # how far N(v, 1) - N(v, 0) seems from 0
        gains.append(((off - off.sum() * sizes / records) ** 2 / sizes).sum() / (2 * records * log(2)))
    assert np.std(gains) == pytest.approx(gain_error(records, 4, 2, contrast), rel=0.1)


def test_a_ranking_by_noise_is_foretold_and_one_by_many_records_is_not() -> None:
    case = Case(
        sizes={"alice": (8, 2), "bob": (2,)},
        class_owners=("bob",),
        groups={"alice": 2, "bob": 1},
        codes=correlated((8, 2, 2, 2), 40),
        classes=2,
        terms=make_terms(theta=Fraction(2, 3), omega=1, method="hybrid"),
    )
    alice = make_local(case, "alice")
    design = RelatedDesign.of_odds((8, 2), ((0,), (1,)), Fraction(2, 3))
    (line,) = ranking_outlook(alice, design, case.terms, 1000)
    wide = hypot(*(gain_error(1000, 8, 2, each) for each in (float(design.contrast(0)), 1 / 3))) / 2
    assert f"a0 (8 values) may be off by {wide:.2g} bits (of at most 1)" in line, line
    assert not ranking_outlook(alice, design, case.terms, 10**6)
    assert not ranking_outlook(alice, design, replace(case.terms, omega=ALL), 1000)
