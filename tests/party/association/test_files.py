"""Baskets are read in every layout alike; what cannot be read is refused with file and line, without its content."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from party.association.files import read_baskets
from party.association.sent import read_sent, write_sent
from party.cli.main import main
from party.data import Form
from party.errors import ConfigError, DataError
from party.settings.transactions import BasketDesign, read_basket_design
from protocols.association.sampling import keyed_words, randomize
from tests.party.association.conftest import DESIGN

BASKETS = [{0, 1}, {2, 3, 4}, set(), {1}]
"""By numbers of items: bread 0, milk 1, tea 2, jam 3, salt 4."""


def design(folder: Path, *more: str, items: str | None = None) -> BasketDesign:
    text = DESIGN if items is None else DESIGN.replace('["bread", "milk", "tea, black", "jam", "salt"]', items)
    path = folder / "design.toml"
    path.write_text("\n".join([*more, text]))
    return read_basket_design(path)


def held(path: Path | str | pd.DataFrame, known: BasketDesign, form: Form | None = None) -> list[frozenset[int]]:
    return list(read_baskets(path, known, form or Form()).transactions.sets())


def test_baskets_are_read_from_lines_numbers_and_columns(tmp_path: Path) -> None:
    text = 'bread,milk\n"tea, black", jam ,salt\n\nmilk\n'
    for name, data in (
        ("b.csv", text.encode()),
        ("b.csv.gz", gzip.compress(text.encode())),
        ("bom.csv", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
        ("tabs.tsv", b"bread\tmilk\ntea, black\tjam\tsalt\n\nmilk\n"),
    ):
        (tmp_path / name).write_bytes(data)
        found = read_baskets(tmp_path / name, design(tmp_path))
        assert found.transactions.sets() == list(map(frozenset, BASKETS))
        assert found.ids == ["1", "2", "3", "4"]
    (tmp_path / "latin.txt").write_bytes("café;milk\n".encode("cp1252"))
    cafe = design(tmp_path, items='["café", "milk", "salt"]')
    assert held(tmp_path / "latin.txt", cafe, Form(";", "cp1252")) == [frozenset({0, 1})]
    for name, pack in (("b.dat", bytes), ("b.dat.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(b"0 1 \n2 3 4\n\n1\n"))
        assert held(tmp_path / name, design(tmp_path, items="5")) == list(map(frozenset, BASKETS))
    known = design(tmp_path, 'layout = "long"', 'id = "who"', 'item = "what"')
    path = tmp_path / "long.csv"
    path.write_text('what,who,price\nmilk,a,1\n"tea, black",b,2\nbread,a,3\n,c,0\nsalt,b,1\njam,b,1\nmilk,7,2\n')
    found = read_baskets(path, known)
    assert found.transactions.sets() == list(map(frozenset, BASKETS))
    assert found.ids == ["a", "b", "c", "7"]
    assert held(pd.read_csv(path), known) == list(map(frozenset, BASKETS))
    for truths in (("True", "False"), ("1", "0"), ("true", "FALSE")):
        known = design(tmp_path, 'layout = "columns"')
        order = ["salt", "bread", "tea, black", "jam", "milk"]
        rows = [[truths[0] if known.items.index(name) in basket else truths[1] for name in order] for basket in BASKETS]
        text = ",".join(f'"{name}"' for name in order) + "\n" + "".join(",".join(row) + "\n" for row in rows)
        (tmp_path / "columns.csv").write_text(text)
        assert held(tmp_path / "columns.csv", known) == list(map(frozenset, BASKETS))


def test_a_data_frame_of_truth_values_is_read_in_any_design_without_ids(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {name: [number in basket for basket in BASKETS] for number, name in enumerate(design(tmp_path).items)}
    )
    assert held(frame, design(tmp_path)) == list(map(frozenset, BASKETS))
    named = frame.assign(id=["p", "q", "r", "s"])[["salt", "id", "milk", "jam", "bread", "tea, black"]]
    found = read_baskets(named, design(tmp_path, 'layout = "columns"', 'id = "id"'))
    assert found.transactions.sets() == list(map(frozenset, BASKETS))
    assert found.ids == ["p", "q", "r", "s"]
    with pytest.raises(DataError, match=r"DataFrame, line 2: .* of size 4: it has them for 0 to 3"):
        held(
            pd.DataFrame([[0, 0, 0, 0, 0], [1, 1, 1, 1, 0]], columns=list(frame.columns)).astype(bool), design(tmp_path)
        )


def test_an_item_that_stands_in_a_basket_more_than_once_counts_once_and_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, known = tmp_path / "b.csv", design(tmp_path)
    path.write_text("bread\nmilk,bread,milk\nmilk,milk,milk\n")
    baskets = read_baskets(path, known)
    assert (list(map(sorted, baskets.transactions.sets())), baskets.repeating) == ([[0], [0, 1], [1]], 2)
    arguments = ("disguise", path, known.path, "-o", tmp_path / "d.csv", "--secret", tmp_path / "key")
    assert main(list(map(str, arguments))) == 0
    assert capsys.readouterr().err == f"cotally: note: {path}: 2 baskets name an item more than once; it counts once\n"


def test_a_copy_is_written_and_read_back_with_its_sizes(tmp_path: Path) -> None:
    known = design(tmp_path)
    (tmp_path / "b.csv").write_text('bread,milk\n"tea, black",jam,salt\n\nmilk\n')
    baskets = read_baskets(tmp_path / "b.csv", known)
    sent = randomize(baskets.transactions, known.design, keyed_words(bytes(32), "d", baskets.ids))
    for name in ("d.csv", "d.csv.gz"):
        write_sent(tmp_path / name, sent, known)
        found = read_sent(tmp_path / name, known)
        assert found.sizes.tolist() == [2, 3, 0, 1]
        assert found.transactions.sets() == sent.transactions.sets()
    first = (tmp_path / "d.csv.gz").read_bytes()
    write_sent(tmp_path / "d.csv.gz", sent, known)
    assert first == (tmp_path / "d.csv.gz").read_bytes()


def test_a_copy_by_another_design_is_refused(tmp_path: Path) -> None:
    known = design(tmp_path)
    (tmp_path / "d.csv").write_text(f"cotally-transactions/1,{known.digest()}\n1,milk\n")
    assert len(read_sent(tmp_path / "d.csv", known)) == 1
    other = design(tmp_path, items='["milk", "bread", "tea, black", "jam", "salt"]')
    with pytest.raises(ConfigError, match="was disguised by another design"):
        read_sent(tmp_path / "d.csv", other)
