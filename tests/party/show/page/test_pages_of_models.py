"""The pages of runs that learned naive Bayes or rules: the same sections, and what each kind of model has to show."""

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from math import log2
from pathlib import Path

import pytest

from party.association.mining import sets_of
from party.cli.main import main
from party.models.any_file import read_model
from party.models.itemset_file import read_itemsets
from party.show.ledger import dealings_lines
from party.show.page.parts import as_html, as_markdown
from party.show.page.run_page import Finished, page_of_run
from protocols.learning.naive_bayes import NaiveBayes
from tests.party.show.page.test_run_page import Page
from tests.support.finished import finished_party, hostile, page_facts

OTHERS = ("naive Bayes", "rules")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return Bob's folder after a run of each kind: read only."""
    return {kind: finished_party(tmp_path_factory.mktemp("finished"), kind).parent for kind in OTHERS}


@pytest.fixture
def told(folders: dict[str, Path]) -> Callable[[str], Finished]:
    return lambda kind: page_facts(folders[kind] / "party.toml")


@pytest.mark.parametrize("kind", OTHERS)
def test_the_page_is_whole_draws_the_model_and_asks_for_nothing_whatever_the_names_hold(
    told: Callable[[str], Finished], kind: str
) -> None:
    for each in (told(kind), hostile(told(kind))):
        text = as_html(page_of_run(each))
        page = Page(text)
        tags = [tag for tag, attributes in page.tags if attributes.get("class") != "bar"]
        assert tags.count("h1") == tags.count("svg") == 1
        assert tags.count("h2") == len(page_of_run(each).sections)
        assert not {"script", "img", "iframe", "object", "link"} & set(tags)
        assert "<script" not in text
        assert "\x00" not in text
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith(("on", "style"))]
        assert {line.strip() for line in dealings_lines(each.dealings, full=False)} <= set(page.texts)
        assert each.model.digest().hex() in page.texts


@pytest.mark.parametrize("kind", OTHERS)
def test_as_markdown_it_tells_the_same(told: Callable[[str], Finished], kind: str) -> None:
    text = as_markdown(page_of_run(told(kind)))
    assert text.count("\n## ") == len(page_of_run(told(kind)).sections)
    assert told(kind).model.digest().hex() in text


def test_naive_bayes_has_its_chances_what_each_attribute_tells_and_its_accuracy(
    told: Callable[[str], Finished], folders: dict[str, Path]
) -> None:
    finished = told("naive Bayes")
    model = read_model(folders["naive Bayes"] / "model.json")
    assert isinstance(model, NaiveBayes)
    text = unescape(as_html(page_of_run(finished)))
    assert "<h1>Naive Bayes for class</h1>" in text
    chances = [[2.718281828459045**number for number in row] for row in model.conditional[0].tolist()]
    assert all(f"{chance:.4f}" in text for row in chances for chance in row)
    prior = [2.718281828459045**number for number in model.prior.tolist()]
    bits = 0.0
    for row in chances:
        whole = sum(p * c for p, c in zip(prior, row, strict=True))
        bits += sum(p * c * log2(c / whole) for p, c in zip(prior, row, strict=True))
    assert f"{bits:.4f}" in text
    assert "on 16 held-out records" in text
    assert f"Commonest class</dt><dd>{max(prior):.3f} of the training records" in text


def test_under_noise_naive_bayes_counts_one_level(told: Callable[[str], Finished]) -> None:
    finished = told("naive Bayes")
    terms = {**finished.run.terms, "noise": "4"}
    page = as_html(page_of_run(replace(finished, run=replace(finished.run, terms=terms))))
    cell = (2 * (2 * (4 + 1) / 4) ** 2 + 2 * (2 * 2 / 4) ** 2) ** 0.5
    assert f"each off by a standard deviation of up to {cell:,.1f} records" in page


def test_rules_have_their_sets_which_are_settled_and_what_was_told_for_them(
    told: Callable[[str], Finished], folders: dict[str, Path]
) -> None:
    finished = told("rules")
    found = read_itemsets(folders["rules"] / "model.json")
    text = unescape(as_html(page_of_run(finished)))
    columns = sets_of(found)
    assert len(columns["support"]) > 5
    assert not all(columns["settled"])
    most_frequent = sorted(
        zip(columns["support"].tolist(), columns["itemsets"], strict=True), key=lambda each: -each[0]
    )
    for support, items in most_frequent[:20]:
        assert f'{", ".join(sorted(items))}</th><td class="number">{100 * support:.2f}%<' in text
    settled = sum(each.settled for each in found.frequent)
    assert f"{settled:,} of them; {len(found.frequent) - settled:,} are estimated" in text
    both = {items for items in finished.run.itemsets if len({column.split(".")[0] for column, _ in items}) > 1}
    assert 0 < len(both) <= 12
    assert f"{len(both)} sets with items of both sides, of at most 12" in text
    assert f"{len(finished.run.itemsets) - len(both)} sets of items of one side" in text
    assert re.search(r"→ .*</th><td class=\"number\">[01]\.\d{3}<", text)
    assert "min_support 1/5, max_len 3, most_sets 12" in text
    assert "Class" not in [name for name, _ in page_of_run(finished).sections[0].parts[0].rows]  # type: ignore[union-attr]


def test_levels_leave_out_larger_sets_and_are_none_of_naive_bayes(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.html"
    assert main(["report", str(folders["rules"]), "-o", str(output), "--levels", "1"]) == 0
    sets = output.read_text().split('id="sets"')[1].split("</section>")[0]
    assert "<tr>" in sets
    assert not re.search(r"<th scope=\"row\">[^<]*, ", sets)
    assert main(["report", str(folders["naive Bayes"]), "-o", str(tmp_path / "b.html"), "--levels", "1"]) == 2
    assert "naive Bayes has none" in capsys.readouterr().err
