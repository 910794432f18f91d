"""A design of baskets says which items there are and how each size is randomized, or it is refused with its place."""

from fractions import Fraction
from pathlib import Path

import pytest

from party.errors import ConfigError
from party.settings.transactions import BasketLayout, is_of_baskets, read_basket_design
from protocols.association.operators import CutAndPaste, SelectASize, Uniform
from tests.party.association.conftest import DESIGN, ITEMS

SMALLEST = 'kind = "cut-and-paste"\nitems = 4\ncutoff = 3\nrho = "smallest"\nlargest_size = 1\n'


def design(folder: Path, text: str) -> Path:
    path = folder / "d.toml"
    path.write_text(text)
    return path


def test_items_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"items.txt is not UTF-8 text"):
        read_basket_design(design(tmp_path, 'kind = "uniform"\nitems = "items.txt"\n[replaced]\n1 = "1/2"\n'))


def test_a_design_is_read(tmp_path: Path) -> None:
    found = read_basket_design(design(tmp_path, DESIGN))
    assert (found.items, found.layout, found.level) == (ITEMS, BasketLayout.LINES, None)
    assert found.design.operators == (
        CutAndPaste(0, 3, Fraction(1, 10)),
        CutAndPaste(1, 3, Fraction(1, 10)),
        CutAndPaste(2, 3, Fraction(1, 5)),
        CutAndPaste(3, 3, Fraction(1, 5)),
    )
    assert is_of_baskets(tmp_path / "d.toml")
    assert repr(found).endswith("5 items, 4 sizes>")
    text = (
        'kind = "cut-and-paste"\nitems = 30\nlargest_size = 3\ncutoff = 7\nrho = "smallest"\nlevel = "1/2"\n'
        'supports = ["1/20", "1/100", "1/200"]\n'
    )
    found = read_basket_design(design(tmp_path, text))
    assert [str(op.rho) for op in found.design.operators if isinstance(op, CutAndPaste)] == [
        "0", "47/1000", "109/1000", "179/1000",
    ]  # fmt: skip
    assert found.items == tuple(map(str, range(30)))
    (tmp_path / "items.txt").write_text("\ufeffa\n b \nc\nd\n")
    text = 'kind = "select-a-size"\nitems = "items.txt"\n[chances]\n1 = ["1/3", "2/3"]\n[rho]\n1 = 0.25\n'
    found = read_basket_design(design(tmp_path, text))
    assert found.items == ("a", "b", "c", "d")
    assert found.design.operators == (SelectASize(1, (Fraction(1, 3), Fraction(2, 3)), Fraction(1, 4)),)
    text = 'kind = "uniform"\nitems = 4\n[replaced]\n2 = "4/5"\n1 = "1/2"\n'
    found = read_basket_design(design(tmp_path, text))
    assert found.design.operators == (Uniform(1, 4, Fraction(1, 2)), Uniform(2, 4, Fraction(4, 5)))
    text = (
        'kind = "select-a-size"\nitems = 9\nrho = "smallest"\nlevel = "1/2"\nsupports = ["1/10"]\n'
        '[chances]\n1 = ["1/2", "1/2"]\n'
    )
    (operator,) = read_basket_design(design(tmp_path, text)).design.operators
    assert operator == SelectASize(1, (Fraction(1, 2), Fraction(1, 2)), Fraction(56, 1000))
    marks = {
        read_basket_design(design(tmp_path, text)).digest()
        for text in (
            DESIGN,
            DESIGN.replace('"bread", "milk"', '"milk", "bread"'),
            DESIGN.replace('3 = "1/5"', '3 = "1/6"'),
            DESIGN.replace("cutoff = 3", "cutoff = 4"),
        )
    }
    assert len(marks) == 4
    assert read_basket_design(design(tmp_path, "# a remark\n" + DESIGN)).digest() in marks
    assert not is_of_baskets(design(tmp_path, 'theta = "1/2"\n'))
