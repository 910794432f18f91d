"""`cotally show`: every kind of model in every form that it has, and one line for those that it has not."""

import struct
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from party.cli.main import main
from party.models.any_file import KeptResult, model_json
from party.show.page import parts
from party.show.page.tree_svg import tree_svg
from protocols.learning.tree import Leaf, Split
from tests.party.models.test_bayes_file import small_bayes
from tests.party.models.test_itemset_file import FOUND
from tests.support.models import chain, small_model

MODELS: dict[str, KeptResult] = {"tree": small_model(), "bayes": small_bayes(), "itemsets": FOUND}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with a file for each kind of model."""
    monkeypatch.chdir(tmp_path)
    for name, model in MODELS.items():
        Path(f"{name}.json").write_text(model_json(model))
    return tmp_path


@pytest.mark.parametrize("telling", [True, False])
def test_a_column_that_alone_tells_the_class_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], telling: bool
) -> None:
    tree = small_model()
    leaves = tuple(Leaf(counts, counts[1] > 0) for counts in ((0, 3), (4, 0), (0, 0 if telling else 9)))
    root = Split((4, 3), 1, leaves if telling else (Leaf((1, 3), 1), *leaves[1:]))
    Path("told.json").write_text(model_json(replace(tree, root=root)))
    assert main(["show", "told.json"]) == 0
    said = "alice.city alone gives the class of every training record." in capsys.readouterr().out
    assert said == telling


def size_of(image: bytes) -> tuple[int, int]:
    """Width and height of a PNG whose parts are whole."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    rest, parts = image[8:], []
    while rest:
        length = struct.unpack(">I", rest[:4])[0]
        part, check = rest[4 : 8 + length], struct.unpack(">I", rest[8 + length : 12 + length])[0]
        assert zlib.crc32(part) == check
        parts.append(part)
        rest = rest[12 + length :]
    assert parts[-1] == b"IEND"
    width, height = struct.unpack(">II", parts[0][4:12])
    return width, height


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("folder")
def test_every_kind_is_drawn_and_its_image_shows_the_drawing_twice_as_large(
    name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["show", f"{name}.json", "--svg"]) == 0
    drawn = ET.fromstring(capfdbinary.readouterr().out)
    assert main(["show", f"{name}.json", "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert (width, height) == (2 * int(drawn.attrib["width"]), 2 * int(drawn.attrib["height"]))


@pytest.mark.usefixtures("folder")
def test_levels_leave_out_deeper_splits_and_larger_sets_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        assert main(["show", *arguments]) == 0
        return capsys.readouterr().out

    assert told("tree.json", "--svg", "--levels", "1") == tree_svg(small_model(), 1)
    assert "city [5 3] …" in told("tree.json", "--levels", "1")
    dot, whole = told("tree.json", "--dot", "--levels", "1"), told("tree.json", "--dot")
    assert (dot.count("->"), whole.count("->")) == (3, 8)
    assert dot.count("…") == 2
    assert "alice.bread=1, bob.milk=yes" in told("itemsets.json")
    assert "alice.bread=1, bob.milk=yes" not in told("itemsets.json", "--levels", "1")
    assert told("itemsets.json", "--svg").count("<circle") == 3
    assert told("itemsets.json", "--svg", "--levels", "1").count("<circle") == 2


def test_an_image_of_too_many_dots_is_made_smaller_or_refused(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(chain(6)))
    most = 300_000
    monkeypatch.setattr(parts, "_MOST_PIXELS", most)
    assert main(["show", str(path), "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert most / 2 < width * height < 1.01 * most
    monkeypatch.setattr(parts, "_MOST_PIXELS", 10_000)
    assert main(["show", str(path), "--png"]) == 2
    assert b"leave levels out" in capfdbinary.readouterr().err


def test_without_the_library_an_image_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(small_model()))
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["show", str(path), "--png"]) == 2
    assert "'.[png]'" in capsys.readouterr().err
