"""Drawings of naive Bayes and of shares: well-formed whatever names hold, true to their numbers, inside their frame."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import isclose
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.records.finished import FinishedRun, finished_run, runs_alike
from party.records.ledger import LedgerEntry
from party.show.page.drawings import (
    MOST_DRAWN,
    MOST_LEVELS,
    Interval,
    WindowPoint,
    bayes_svg,
    intervals_svg,
    quality_svg,
    shown_levels,
    tidy,
    tree_svg,
    windows_svg,
)
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.quality import ScoreTable
from protocols.learning.tree import Leaf, Split, Tree
from tests.party.models.test_bayes_file import bayes_models, small_bayes
from tests.support.models import NAMES, chain, models, small_model
from tests.support.sessions import ANY_ODDS, CASE, Sessions

SVG = "{http://www.w3.org/2000/svg}"
NEAR = st.floats(-0.2, 1.2)


def bars(drawn: ET.Element) -> list[ET.Element]:
    """The bars of chances, without legend and patterns."""
    return [each for group in drawn.iter(f"{SVG}g") for each in group.iter(f"{SVG}rect")]


@given(bayes_models())
def test_any_naive_bayes_becomes_one_bar_per_chance_that_lies_inside(model: NaiveBayes) -> None:
    drawn = ET.fromstring(bayes_svg(model))
    found = bars(drawn)
    assert len(found) == model.prior.size + sum(table.size for table in model.conditional)
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    for bar in found:
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width
        assert float(bar.attrib["y"]) + float(bar.attrib["height"]) <= height
    tops = [float(bar.attrib["y"]) for bar in found]
    assert all(below - above >= float(found[0].attrib["height"]) for above, below in pairwise(tops))


def test_the_numbers_beside_bars_do_not_overlap() -> None:
    """A line of text takes about 1.2 times its size."""
    drawn = ET.fromstring(bayes_svg(small_bayes()))
    numbers = [each for each in drawn.iter(f"{SVG}text") if each.attrib.get("font-size") == "10"]
    assert len(numbers) == len(bars(drawn))
    heights = [float(each.attrib["y"]) for each in numbers]
    assert all(below - above >= 12 for above, below in pairwise(heights))


def test_a_bar_is_as_long_as_its_chance_and_has_the_colour_of_its_class() -> None:
    model = small_bayes()
    found = bars(ET.fromstring(bayes_svg(model)))
    chances = [*np.exp(model.prior), *(chance for table in model.conditional for chance in np.exp(table).ravel())]
    longest = float(found[1].attrib["width"]) / chances[1]
    for bar, chance in zip(found, chances, strict=True):
        assert isclose(float(bar.attrib["width"]), longest * chance, abs_tol=0.06)
    assert [bar.attrib["fill"] for bar in found[:4]] == ["url(#class-0)", "url(#class-1)"] * 2


@given(st.lists(st.tuples(NAMES, NEAR, st.floats(0, 0.3)), min_size=1, max_size=8), st.none() | st.floats(0.001, 1))
def test_any_shares_lie_inside_in_the_order_of_their_numbers(
    shares: list[tuple[str, float, float]], mark: float | None
) -> None:
    intervals = [Interval("".join(c for c in n if c.isprintable()), s, s - half, s + half) for n, s, half in shares]
    drawn = ET.fromstring(intervals_svg("shares", intervals, mark))
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter(f"{SVG}circle")]
    assert len(dots) == len(intervals)
    for (x, y), each in zip(dots, intervals, strict=True):
        assert 0 < x < width
        assert 0 < y < height
        assert all(
            x <= other + 0.11 for (other, _), far in zip(dots, intervals, strict=True) if far.share >= each.share
        )


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0.0, 0.94, ["0%", "20%", "40%", "60%", "80%", "100%"]), (-0.03, 0.011, ["-3%", "-2%", "-1%", "0%", "1%", "2%"])],
)
def test_the_axis_has_round_numbers(low: float, high: float, ticks: list[str]) -> None:
    drawn = ET.fromstring(intervals_svg("shares", [Interval("a", (low + high) / 2, low, high)]))
    texts = [text.text for text in drawn.findall(f"{SVG}text")]
    assert texts == ticks


def test_a_threshold_is_a_line_and_each_share_says_its_numbers() -> None:
    text = intervals_svg("shares", [Interval("a < b", 0.2, 0.1, 0.3)], 0.25)
    assert "stroke-dasharray" in text
    assert "stroke-dasharray" not in intervals_svg("shares", [Interval("a", 0.2, 0.1, 0.3)])
    assert "a < b: 0.2000, 0.1000 to 0.3000" in [title.text for title in ET.fromstring(text).iter(f"{SVG}title")]


TIDY_NEAR = 1e-6


@st.composite
def trees(draw: st.DrawFn) -> list[list[int]]:
    """Children of each node, parents first: each node but the root picks a parent before it."""
    parents = [draw(st.integers(0, number)) for number in range(draw(st.integers(0, 40)))]
    return [[child for child, parent in enumerate(parents, 1) if parent == node] for node in range(len(parents) + 1)]


def levels_of(children: list[list[int]]) -> list[int]:
    depths = [0] * len(children)
    for node, below in enumerate(children):
        for child in below:
            depths[child] = depths[node] + 1
    return depths


@given(trees())
def test_nodes_of_a_level_stand_at_least_1_apart_and_parents_beside_their_first(children: list[list[int]]) -> None:
    places, depths = tidy(children), levels_of(children)
    assert places[0] == min(places) == 0
    for depth in range(max(depths) + 1):
        level = sorted(place for place, own in zip(places, depths, strict=True) if own == depth)
        assert all(after - before > 1 - TIDY_NEAR for before, after in pairwise(level))
    for node, below in enumerate(children):
        if below:
            assert abs(places[node] - places[below[0]]) < TIDY_NEAR
            assert [places[child] for child in below] == sorted(places[child] for child in below)


def test_places_of_known_trees() -> None:
    assert tidy([[]]) == [0]
    assert tidy([[1, 2], [], []]) == [0, 0, 1]
    assert tidy([[1, 2], [3, 4], [], [], []]) == pytest.approx([0, 0, 1, 0, 1])


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    assert tidy([*([number + 1] for number in range(1500)), []]) == [0] * 1501


def boxes(drawn: ET.Element) -> Iterator[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each node's box."""
    for group in drawn.iter(f"{SVG}g"):
        (box,) = [each for each in group.iter(f"{SVG}rect") if "stroke" in each.attrib]
        x, y, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
        yield x, y, x + width, y + height


@given(models())
def test_any_tree_becomes_well_formed_boxes_that_do_not_overlap_and_lie_inside(tree: Tree) -> None:
    drawn = ET.fromstring(tree_svg(tree))
    found = list(boxes(drawn))
    assert len(found) == tree.size
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    for left, top, right, bottom in found:
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    for one, other in combinations(found, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_every_node_says_what_it_is_and_classes_differ_in_colour_and_in_pattern() -> None:
    text = tree_svg(small_model())
    drawn = ET.fromstring(text)
    whole = [title.text for title in drawn.iter(f"{SVG}title")]
    assert "alice.age [7 9]" in whole
    assert "Oslo: good [0 3]" in whole
    fills = re.findall(r"<pattern .*?</pattern>", text)
    assert len({re.search(r'fill="(#\w+)"', fill)[1] for fill in fills}) == 2  # type: ignore[index]  # each has one
    assert ["<path" in fill for fill in fills] == [False, True]


def test_what_is_deeper_than_its_levels_is_left_out_and_counted() -> None:
    text = tree_svg(small_model(), 1)
    assert len(list(boxes(ET.fromstring(text)))) == 4
    assert "+3 nodes" in text
    assert "+2 nodes" in text
    assert "stroke-dasharray" in text


def test_a_page_draws_as_many_levels_as_can_be_read() -> None:
    assert shown_levels(small_model()) == 2
    assert shown_levels(chain(100)) == MOST_LEVELS
    drawn = ET.fromstring(tree_svg(chain(100), MOST_LEVELS))
    assert float(drawn.attrib["width"]) <= 62 * 16 - 2 * 16, "the page is 62rem wide, its edges are 1rem each"


def test_a_level_that_would_crowd_a_page_is_left_out() -> None:
    pair, schema = Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))), chain(1).schema
    wide = [Tree(schema, Split((many, many), 0, (pair,) * many)) for many in (MOST_DRAWN // 3, MOST_DRAWN // 3 + 1)]
    assert [shown_levels(tree) for tree in wide] == [2, 1]


def last_run(entries: Sequence[LedgerEntry]) -> FinishedRun:
    digests = [str(entry.content["digest"]) for entry in entries if entry.content["kind"] == "model"]
    found = finished_run(entries, bytes.fromhex(digests[-1]))
    assert found is not None
    return found


def test_runs_are_compared_that_differ_in_window_alone(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    for terms in (CASE.terms, replace(CASE.terms, omega=2), replace(CASE.terms, omega=2, min_leaf=3)):
        sessions.run(terms)
    with sessions.ledger("bob") as ledger:
        entries = list(ledger.entries())
    other = last_run(entries)
    assert [run.begun for run in runs_alike(entries, other)] == [other.begun]
    first, second = runs_alike(entries, finished_runs_of_leaf_1(entries)[0])
    assert (first.begun.agreed.omega, second.begun.agreed.omega) == (1, 2)
    assert first.correct is not None
    assert second.counted < second.countable


def finished_runs_of_leaf_1(entries: Sequence[LedgerEntry]) -> list[FinishedRun]:
    digests = [str(entry.content["digest"]) for entry in entries if entry.content["kind"] == "model"]
    found = [finished_run(entries, bytes.fromhex(digest)) for digest in digests]
    return [run for run in found if run is not None and run.begun.agreed.min_leaf == 1]


def test_what_is_larger_stands_higher_and_what_is_unknown_is_left_out() -> None:
    points = [WindowPoint("ω = 1", 0.5, 0.25), WindowPoint("ω = 2", 0.75, None), WindowPoint("smc", None, 1.0)]
    drawn = ET.fromstring(windows_svg("accuracy", points))
    dots = dots_of(drawn)[2:]  # below those of the legend
    (first, second), (low, high) = dots[:2], dots[2:]
    assert first[0] < second[0]
    assert first[1] > second[1]
    assert low[1] > high[1]
    assert {"ω = 1", "ω = 2", "smc"} <= {text.text for text in drawn.iter("text")}


def dots_of(drawn: ET.Element) -> list[tuple[float, float]]:
    return [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter("circle")]


def test_the_quality_of_scores_is_drawn_where_its_figures_say() -> None:
    """Points stand at their shares of a square: 100 people, of whom thresholds select 20, 60 and all."""
    table = ScoreTable(np.array([[36.0, 4.0], [32.0, 8.0], [6.0, 14.0]]), (0, 0, 1), scores=(0.1, 0.3, 0.8))
    drawn = ET.fromstring(quality_svg("quality", table, ("no", "yes")))
    dots = dots_of(drawn)
    (left, bottom), (right, top) = dots[0], dots[3]
    assert right - left == bottom - top == 200
    roc, lift, calibration = dots[:4], dots[4:8], dots[8:]

    def shares(dots: list[tuple[float, float]], at: float) -> list[tuple[float, float]]:
        return [(round((x - at) / 200, 2), round((bottom - y) / 200, 2)) for x, y in dots]

    assert shares(roc, left) == [(0, 0), (0.08, 0.54), (0.51, 0.85), (1, 1)]
    assert shares(lift, lift[0][0]) == [(0, 0), (0.2, 0.54), (0.6, 0.85), (1, 1)]
    (kept,) = [text for text in drawn.iter("text") if text.text == "score"]
    middle = float(kept.attrib["x"])
    assert shares(calibration, middle - 100) == [(0.1, 0.1), (0.3, 0.2), (0.8, 0.7)]
    said = {title.text for title in drawn.iter("title")}
    assert {"20.0% selected: 53.8% of yes, 8.1% of others", "score 0.300: 0.200 ± 0.063"} <= said
