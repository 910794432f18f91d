"""The collector's commands take baskets; what they cannot do they refuse in one line."""

import csv
import json
from fractions import Fraction
from math import log
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from party.cli import main as cli
from tests.party.association.conftest import DESIGN, lines
from tests.party.survey.commands import refused, told
from tests.party.survey.files import rows, write_design, write_rows


def test_disguising_again_gives_the_same_copy_and_other_baskets_are_refused(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = (shop / "d.csv").read_bytes()
    again = ("disguise", "baskets.csv", "design.toml", "-o", "d.csv", "--secret", "coins", "--overwrite")
    text = told(capsys, *again)
    assert "Disguised 400 baskets by design.toml: d.csv" in text
    assert "The original size of every basket is in the copy" in text
    assert (shop / "d.csv").read_bytes() == first
    assert (shop / "coins").stat().st_mode & 0o077 == 0
    (shop / "baskets.csv").write_text("\n".join(lines()[1:]) + "\n")
    assert "has been released with other records before" in refused(capsys, *again)
    (shop / "baskets.csv").write_text("\n".join(lines()) + "\n")
    design = (shop / "design.toml").read_text()
    (shop / "design.toml").write_text(design.replace('3 = "1/5"', '3 = "1/6"'))
    assert "other operators" in refused(capsys, *again)
    (shop / "design.toml").write_text(design.replace('"bread", "milk"', '"milk", "bread"'))
    assert "other items" in refused(capsys, *again)


def test_baskets_more_frequent_than_assumed_are_told_to_their_owner_alone(
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


def test_privacy_tells_every_size_and_what_is_beyond_shown_sets(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_size_tells_how_many_baskets_are_enough(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "size", "design.toml", "--half-width", "1/20", "--expression", "bread, milk")
    assert "For +- 0.05 at 95% for the support of a set of 2 items" in text
    assert "  2 items: " in text
    assert "  1 item" not in text
    assert told(capsys, "size", "design.toml", "--half-width", "1/20").count("for the support of a set of") == 3
    (shop / "flat.toml").write_text('kind = "cut-and-paste"\nitems = 9\ncutoff = 1\n[rho]\n2 = "1/5"\n')
    assert "its parameters hide sets" in told(
        capsys, "size", "flat.toml", "--half-width", "1/20", "--expression", "1, 2"
    )
