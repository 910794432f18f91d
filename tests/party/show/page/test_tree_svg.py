"""The drawing of a tree: well-formed whatever the names are, and nothing in it overlaps or is lost."""

import re
from collections.abc import Iterator
from itertools import combinations
from xml.etree import ElementTree as ET

from hypothesis import given

from party.show.page.tree_svg import MOST_DRAWN, MOST_LEVELS, shown_levels, tree_svg
from protocols.learning.tree import Leaf, Split, Tree
from tests.support.models import chain, models, small_model

SVG = "{http://www.w3.org/2000/svg}"


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
