"""Drawings of naive Bayes and of shares: well-formed whatever names hold, true to their numbers, inside their frame."""

from itertools import pairwise
from math import isclose
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.show.page.interval_svg import Interval, bayes_svg, intervals_svg
from protocols.learning.naive_bayes import NaiveBayes
from tests.party.models.test_bayes_file import bayes_models, small_bayes
from tests.support.models import NAMES

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
