"""The collector's commands take baskets; what they cannot do they refuse in one line."""

import csv
import gzip
import json
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from party.association import (
    association_rules,
    disguise_baskets,
    frequent_itemsets,
    read_basket_design,
    read_sent,
    write_sent,
)
from party.association.files import read_baskets
from party.association.mining import ITEMSET_COLUMNS, RULE_COLUMNS
from party.cli import main as cli
from party.cli.main import main
from party.data import Form
from party.errors import ConfigError, DataError
from party.settings.transactions import BasketDesign, BasketLayout, is_of_baskets
from protocols.association.operators import CutAndPaste, SelectASize, Uniform
from protocols.association.sampling import keyed_words, randomize
from protocols.association.transactions import Randomized
from protocols.errors import InputError
from tests.party.association.conftest import DESIGN, ITEMS, lines
from tests.party.survey.files import refused, rows, told, write_design, write_rows


def test_disguising_again_gives_the_same_copy(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = (shop / "d.csv").read_bytes()
    again = ("disguise", "baskets.csv", "design.toml", "-o", "d.csv", "--secret", "coins", "--overwrite")
    text = told(capsys, *again)
    assert "Disguised 400 baskets by design.toml: d.csv" in text
    assert "The original size of every basket is in the copy" in text
    assert (shop / "d.csv").read_bytes() == first
    assert (shop / "coins").stat().st_mode & 0o077 == 0


def test_baskets_more_frequent_than_assumed_are_shown_to_their_owner_alone(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ("disguise", "baskets.csv", "design.toml", "-o", "d.csv", "--secret", "coins", "--overwrite")
    design = (shop / "design.toml").read_text()
    kept = [line for line in design.splitlines() if not line.startswith("supports")]
    for supports, noted in (('["1"]', False), ('["1/100"]', True)):
        (shop / "design.toml").write_text("\n".join([f"supports = {supports}", *kept]))
        assert cli.main(list(again)) == 0
        printed = capsys.readouterr()
        assert ("assumes at most 1% for 1 item" in printed.err) is noted
        assert "assumes" not in printed.out


def test_supports_of_sets_are_estimated(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "estimate", "d.csv", "design.toml", "bread, milk", "salt")
    assert "400 baskets, cut-and-paste" in text
    assert "bread, milk\n  support 0." in text
    assert "baskets have fewer items than the set, so they cannot hold it" in text
    content = json.loads(told(capsys, "estimate", "d.csv", "design.toml", "bread, milk", "--json"))
    assert (content["format"], content["baskets"]) == ("cotally-supports/1", 400)
    (found,) = content["supports"]
    truth = sum(line.startswith("bread,milk") for line in lines()) / 400
    assert found["items"] == ["bread", "milk"]
    assert abs(found["support"] - truth) < 5 * found["standard_error"]  # false alarm under 10^-6; one fixed secret
    assert found["interval"][0] < found["support"] < found["interval"][1]


def test_itemsets_are_mined_and_written(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "mine", "itemsets", "d.csv", "design.toml", "--min-support", "1/5", "-o", "sets.csv")
    assert "bread, milk" in text
    assert "Frequent itemsets at 0.2 or more, by their number of items: " in text
    rows = list(csv.DictReader((shop / "sets.csv").open()))
    assert list(rows[0]) == ["support", "itemsets", "standard_error", "low", "high", "straddles"]
    assert ["bread", "milk"] in [json.loads(row["itemsets"]) for row in rows]
    told(capsys, "mine", "itemsets", "d.csv", "design.toml", "--min-support", "1/5", "-o", "sets.parquet")
    typed = pq.read_table("sets.parquet").to_pylist()
    assert [row["support"] for row in typed] == [float(row["support"]) for row in rows]
    assert [row["itemsets"] for row in typed] == [row["itemsets"] for row in rows]
    assert all(float(row["support"]) >= 0.2 for row in rows)
    straddling = [row for row in rows if row["straddles"] == "True"]
    assert all(float(row["low"]) < 0.2 < float(row["high"]) for row in straddling)


def test_rules_are_mined_and_written_with_mlxtend_s_columns(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("mine", "rules", "d.csv", "design.toml", "--min-support", "1/5", "--min-threshold", "1/2")
    text = told(capsys, *arguments, "-o", "rules.csv")
    assert "bread => milk" in text
    rows = list(csv.DictReader((shop / "rules.csv").open()))
    (rule,) = [row for row in rows if row["antecedents"] == '["bread"]' and row["consequents"] == '["milk"]']
    assert abs(float(rule["confidence"]) - 1) < 5 * float(rule["confidence_error"])
    assert float(rule["low"]) < float(rule["confidence"]) < float(rule["high"])
    lift = told(capsys, *arguments[:-2], "--metric", "lift", "--min-threshold", "99")
    assert "=>" not in lift


def test_nothing_frequent_is_told_apart_from_a_support_below_every_error(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = told(capsys, "mine", "rules", "d.csv", "design.toml", "--min-support", "1", "-o", "rules.csv")
    assert "by their number of items: none." in text
    assert (shop / "rules.csv").read_text().count("\n") == 1
    assert "No sets were looked for" not in text
    text = told(capsys, "mine", "itemsets", "d.csv", "design.toml", "--min-support", "1/10000")
    assert "No sets were looked for: at this support the error of even a single item is larger than the support" in text


def test_rules_over_the_columns_of_a_survey_are_mined(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(shop)
    write_rows(shop, rows(300))
    survey = ("design.toml", "-o", "s.csv", "--secret", "other")
    assert cli.main(["disguise", "data.csv", *survey]) == 0
    text = told(capsys, "mine", "rules", "s.csv", "design.toml", "--min-support", "1/5", "--min-threshold", "1/10")
    assert " = " in text
    assert "Frequent itemsets at 0.2 or more" in text
    text = told(capsys, "mine", "itemsets", "s.csv", "design.toml", "--min-support", "1/5", "-o", "sets.csv")
    assert "Wrote sets.csv." in text
    assert "--min-support and --max-len" in refused(
        capsys, "mine", "tree", "s.csv", "design.toml", "--min-support", "1"
    )


def test_privacy_prints_every_size_and_what_is_beyond_shown_sets(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "design.toml").write_text(DESIGN)
    text = told(capsys, "privacy", "design.toml")
    assert "no set of 1, 2, ... items is in more than 60%, 40%, 20%" in text
    assert "Absent item:" in text
    assert "The original size of every basket is sent in the" in text
    content = json.loads(told(capsys, "privacy", "design.toml", "--json"))
    assert [found["size"] for found in content["sizes"]] == [1, 2, 3]
    assert content["worst"] == max(found["shown_set"]["belief"] for found in content["sizes"])
    # of one item: it is sent with chance 31/40 where it was there, and with 1/10 where another was
    assert content["sizes"][0]["epsilon"] == pytest.approx(log(Fraction(31, 9) * 9))


def test_an_audit_passes_the_shipped_sampler(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del shop
    text = told(capsys, "audit", "design.toml", "--shift", "1/10")
    assert "OK: the sampler randomizes baskets as the design declares." in text


def test_size_prints_how_many_baskets_are_enough(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "size", "design.toml", "--half-width", "1/20", "--expression", "bread, milk")
    assert "For +- 0.05 at 95% for the support of a set of 2 items" in text
    assert "  2 items: " in text
    assert "  1 item" not in text
    assert told(capsys, "size", "design.toml", "--half-width", "1/20").count("for the support of a set of") == 3
    (shop / "flat.toml").write_text('kind = "cut-and-paste"\nitems = 9\ncutoff = 1\n[rho]\n2 = "1/5"\n')
    assert "its parameters hide sets" in told(
        capsys, "size", "flat.toml", "--half-width", "1/20", "--expression", "1, 2"
    )


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


SMALLEST = 'kind = "cut-and-paste"\nitems = 4\ncutoff = 3\nrho = "smallest"\nlargest_size = 1\n'


def read_design(folder: Path, text: str) -> Path:
    path = folder / "d.toml"
    path.write_text(text)
    return path


def test_items_that_are_no_text_are_refused_and_a_copy_by_another_design(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"items.txt is not UTF-8 text"):
        read_basket_design(read_design(tmp_path, 'kind = "uniform"\nitems = "items.txt"\n[replaced]\n1 = "1/2"\n'))
    known = design(tmp_path)
    (tmp_path / "d.csv").write_text(f"cotally-transactions/1,{known.digest()}\n1,milk\n")
    assert len(read_sent(tmp_path / "d.csv", known)) == 1
    other = design(tmp_path, items='["milk", "bread", "tea, black", "jam", "salt"]')
    with pytest.raises(ConfigError, match="was disguised by another design"):
        read_sent(tmp_path / "d.csv", other)


def test_a_design_is_read(tmp_path: Path) -> None:
    found = read_basket_design(read_design(tmp_path, DESIGN))
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
    found = read_basket_design(read_design(tmp_path, text))
    assert [str(op.rho) for op in found.design.operators if isinstance(op, CutAndPaste)] == [
        "0", "47/1000", "109/1000", "179/1000",
    ]  # fmt: skip
    assert found.items == tuple(map(str, range(30)))
    (tmp_path / "items.txt").write_text("\ufeffa\n b \nc\nd\n")
    text = 'kind = "select-a-size"\nitems = "items.txt"\n[chances]\n1 = ["1/3", "2/3"]\n[rho]\n1 = 0.25\n'
    found = read_basket_design(read_design(tmp_path, text))
    assert found.items == ("a", "b", "c", "d")
    assert found.design.operators == (SelectASize(1, (Fraction(1, 3), Fraction(2, 3)), Fraction(1, 4)),)
    text = 'kind = "uniform"\nitems = 4\n[replaced]\n2 = "4/5"\n1 = "1/2"\n'
    found = read_basket_design(read_design(tmp_path, text))
    assert found.design.operators == (Uniform(1, 4, Fraction(1, 2)), Uniform(2, 4, Fraction(4, 5)))
    text = (
        'kind = "select-a-size"\nitems = 9\nrho = "smallest"\nlevel = "1/2"\nsupports = ["1/10"]\n'
        '[chances]\n1 = ["1/2", "1/2"]\n'
    )
    (operator,) = read_basket_design(read_design(tmp_path, text)).design.operators
    assert operator == SelectASize(1, (Fraction(1, 2), Fraction(1, 2)), Fraction(56, 1000))
    marks = {
        read_basket_design(read_design(tmp_path, text)).digest()
        for text in (
            DESIGN,
            DESIGN.replace('"bread", "milk"', '"milk", "bread"'),
            DESIGN.replace('3 = "1/5"', '3 = "1/6"'),
            DESIGN.replace("cutoff = 3", "cutoff = 4"),
        )
    }
    assert len(marks) == 4
    assert read_basket_design(read_design(tmp_path, "# a remark\n" + DESIGN)).digest() in marks
    assert not is_of_baskets(read_design(tmp_path, 'theta = "1/2"\n'))


PLAIN = """\
kind = "select-a-size"
items = ["bread", "milk", "jam", "salt"]
[chances]
0 = ["1"]
1 = ["0", "1"]
2 = ["0", "0", "1"]
3 = ["0", "0", "0", "1"]
4 = ["0", "0", "0", "0", "1"]
[rho]
0 = 0
1 = 0
2 = 0
3 = 0
4 = 0
"""


@pytest.fixture
def plain(tmp_path: Path) -> tuple[pd.DataFrame, Randomized, BasketDesign]:
    """Return baskets as truth values, the copy in which nothing is disguised, and that design."""
    (tmp_path / "plain.toml").write_text(PLAIN)
    design = read_basket_design(tmp_path / "plain.toml")
    chance = np.random.default_rng(5)
    frame = pd.DataFrame(chance.random((200, 4)) < [0.7, 0.6, 0.5, 0.2], columns=list(design.items))
    return frame, disguise_baskets(frame, design, tmp_path / "coins"), design


def test_itemsets_and_rules_of_what_is_not_disguised_are_counted(
    plain: tuple[pd.DataFrame, Randomized, BasketDesign],
) -> None:
    frame, sent, design = plain
    found = frequent_itemsets(sent, design, min_support=0.3)
    assert tuple(found.columns) == ITEMSET_COLUMNS
    for itemset, support in zip(found["itemsets"], found["support"], strict=True):
        assert support == pytest.approx(frame[sorted(itemset)].all(axis=1).mean())
    assert (found["standard_error"] < 1e-6).all()
    least = found["support"].min()
    assert len(frequent_itemsets(sent, design, min_support=least)) == len(found)
    rules = association_rules(sent, design, min_support=0.3, min_threshold=0.6)
    assert tuple(rules.columns) == RULE_COLUMNS
    for rule in rules.to_dict("records"):
        holders = frame[frame[sorted(rule["antecedents"])].all(axis=1)]
        assert rule["confidence"] == pytest.approx(holders[sorted(rule["consequents"])].all(axis=1).mean())
        assert rule["confidence"] >= 0.6
        assert rule["antecedent support"] == pytest.approx(len(holders) / len(frame))


def test_an_empty_result_has_the_types_of_any_other(plain: tuple[pd.DataFrame, Randomized, BasketDesign]) -> None:
    _, sent, design = plain
    for empty, filled in (
        (frequent_itemsets(sent, design, 1), frequent_itemsets(sent, design, 0.3)),
        (association_rules(sent, design, 1), association_rules(sent, design, 0.3, min_threshold=0.1)),
    ):
        assert not len(empty)
        assert len(filled)
        assert list(empty.dtypes) == list(filled.dtypes)


def test_a_support_that_is_no_share_is_refused(plain: tuple[pd.DataFrame, Randomized, BasketDesign]) -> None:
    _, sent, design = plain
    supports: list[Any] = [0, -0.1, 1.5, float("nan"), float("inf"), "much", None]
    for support in supports:
        with pytest.raises(InputError, match="min_support must be above 0 and at most 1"):
            frequent_itemsets(sent, design, support)


def test_a_measure_other_than_confidence_may_be_the_threshold_and_no_other_word(
    plain: tuple[pd.DataFrame, Randomized, BasketDesign],
) -> None:
    _, sent, design = plain
    rules = association_rules(sent, design, 0.1, metric="lift", min_threshold=1.0)
    assert len(rules)
    assert (rules["lift"] >= 1).all()
    assert not rules["straddles"].any()
    with pytest.raises(InputError, match="metric must be one of"):
        association_rules(sent, design, 0.3, metric="antecedents")
    with pytest.raises(InputError, match="min_threshold must be a number"):
        association_rules(sent, design, 0.3, min_threshold=float("nan"))


def test_intervals_and_straddling_follow_from_the_errors(shop: Path) -> None:
    design = read_basket_design(shop / "design.toml")
    sent = read_sent(shop / "d.csv", design)
    found = frequent_itemsets(sent, design, "1/5", confidence=0.9)
    assert np.allclose(found["high"] - found["support"], 1.6448536 * found["standard_error"])
    assert (found["straddles"] == ((found["low"] < 0.2) & (found["high"] > 0.2))).all()
    rules = association_rules(sent, design, "1/5", min_threshold=0.5)
    assert (rules["straddles"] == ((rules["low"] < 0.5) & (rules["high"] > 0.5))).all()
