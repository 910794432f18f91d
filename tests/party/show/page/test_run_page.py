"""The page of a finished run: whole, safe whatever names hold, and in the ledger's own words."""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from math import log2
from pathlib import Path

import numpy as np
import pytest

from party.association.mining import sets_of
from party.cli.main import main
from party.cli.report import gathered
from party.models.any_file import read_model, write_model
from party.models.itemset_file import read_itemsets
from party.node.check import own_copy
from party.records.ledger_entries import CopyEntry
from party.records.run_file import read_train_report
from party.show.document import Drawing, Grid, ReportPart
from party.show.ledger import dealings_lines
from party.show.page.parts import as_html, as_markdown
from party.show.page.run_page import Finished, card_of_run, page_of_run
from party.show.privacy_short import reading_line
from protocols.facts import Way
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Tree
from protocols.privacy.loss import disguised_odds
from protocols.randomized_response.related_question import RelatedDesign
from protocols.secret_tree.held_out import Scores, noise_of_table
from protocols.terms import HALF, Method, Terms
from tests.support.finished import KINDS, aligned, finished_parties, finished_party, hostile, on_terms, page_facts
from tests.support.models import small_model
from tests.support.parties import make_local
from tests.support.sessions import ANY_ODDS, CASE, Sessions


def page_html(told: Finished) -> str:
    return as_html(page_of_run(told))


def page_markdown(told: Finished) -> str:
    return as_markdown(page_of_run(told))


VOID = {"meta", "br", "img", "input", "link", "hr"}


class Page(HTMLParser):
    """Reads a page, and makes sure that every tag that opens closes in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the settings of a party after a run: read only."""
    return finished_party(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def told(settings: Path) -> Finished:
    return page_facts(settings)


def addresses(page: Page) -> Iterator[str]:
    """Yield whatever a browser might fetch."""
    for _, attributes in page.tags:
        yield from (value or "" for name, value in attributes.items() if name in {"src", "href", "data", "action"})


def test_the_columns_that_an_answer_can_reveal_are_those_that_the_model_reads(told: Finished) -> None:
    closed = Page(page_html(told)).texts
    assert not any("can reveal, of the person" in text for text in closed)
    answering = replace(told.agree, life=replace(told.agree.life, most_predictions=5))
    assert "can reveal, of the person" not in page_html(replace(told, agree=replace(answering, epsilon=Fraction(1))))
    told = replace(told, agree=answering)
    (said,) = [text for text in Page(page_html(told)).texts if "can reveal, of the person asked about" in text]
    assert isinstance(told.model, Tree)
    read = [told.model.schema.attributes[column] for column in told.model.columns]
    assert set(re.findall(r"\b[ab]\d\b", said)) == {each.name for each in read if each.party == told.party}
    leaf = replace(told.model, root=Leaf(told.model.root.counts, 0))
    assert "can reveal, of the person" not in page_html(replace(told, model=leaf))


def test_a_copy_of_columns_of_one_value_each_is_not_shown_as_disguised(told: Finished) -> None:
    told.dealings.told.copies = [CopyEntry("case", "1", Way.TOLD, b"", Fraction(9, 20), (), (), (), {})]
    lines = list(dealings_lines(told.dealings, full=True))
    assert any("a copy of columns with one value each: it reveals nothing" in str(line) for line in lines)
    assert not any("0 columns" in str(line) for line in lines)


def test_terms_that_are_off_are_left_out_and_the_whole_window_is_named(told: Finished) -> None:
    terms = told.run.begun.agreed
    assert (terms.noise, terms.max_depth) == (None, None)
    page = page_markdown(on_terms(told, omega=None))
    (line,) = [line for line in page.splitlines() if "omega all" in line]
    assert "theta 7/10" in line
    assert not re.search("noise|max_depth|none", line)
    page = page_markdown(on_terms(told, method="smc", reveal="tree", max_depth=3))
    (line,) = [line for line in page.splitlines() if "reveal tree" in line]
    assert not re.search("theta|omega|key_bits|seed", line)


def test_it_shows_what_can_be_compared_and_what_the_tree_is_worth(told: Finished) -> None:
    texts = Page(page_html(told)).texts
    assert told.model.digest().hex() in texts
    assert told.fingerprint in texts
    assert any(text.startswith(told.run.begun.run) for text in texts)
    assert told.run.tests == 16
    (accuracy,) = [text for text in texts if "on 16 held-out records" in text]
    assert accuracy.startswith(f"{(told.run.correct or 0) / 16:.3f} ")
    assert "growing the tree" in texts


def quality(told: Finished, numbers: list[int]) -> Sequence[ReportPart]:
    """Return the section on held-out records of whom such a table was opened."""
    scores = Scores.read(numbers, 2, 1000, noise_of_table(HALF))
    (found,) = [
        each
        for each in page_of_run(replace(told, run=replace(told.run, scores=scores))).sections
        if each.name == "quality"
    ]
    return found.parts


def test_held_out_records_of_a_tree_that_ranks_are_drawn_by_score_and_all_that_crossed_is_named(told: Finished) -> None:
    """Numbers are rows of a tenth, a label and a number for each class."""
    numbers = [1, 0, 500, 60, 4, 0, 200, 90, 8, 1, 50, 100]
    confusion, thresholds, drawing = quality(told, numbers)[1:]
    assert isinstance(confusion, Grid)
    assert isinstance(thresholds, Grid)
    assert isinstance(drawing, Drawing)
    assert [row[1:] for row in confusion.rows] == [("700", "150"), ("50", "100")]
    shares = ["0.800 15.0% 40.0% 66.7%", "0.400 44.0% 76.0% 43.2%", "0.100 100.0% 100.0% 25.0%"]
    assert [" ".join(row[:4]) for row in thresholds.rows] == shares
    assert drawing.label == "ROC, lift and calibration"
    first, second = told.model.schema.class_attribute.values if isinstance(told.model, Tree) else ("", "")
    run = replace(told.run, scores=Scores.read(numbers, 2, 1000, noise_of_table(HALF)))
    crossed = page_markdown(replace(told, run=run))
    assert f"| Model says | Share of {second} | is {first} | is {second} |" in crossed
    assert f"| {first} | 0.4 | 200 | 90 |" in crossed
    assert [type(part) for part in quality(told, [-1, 0, 700, 150, -1, 1, 50, 100])[1:]] == [Grid]
    assert "quality" not in {each.name for each in page_of_run(told).sections}


def test_the_cost_ratio_is_of_the_very_nodes_that_were_counted(told: Finished) -> None:
    assert told.costs is not None
    assert told.run.counted == told.costs.smc_computations
    assert told.run.counted < told.run.countable


def test_what_a_receiver_reads_of_our_copy_is_shown_where_the_table_is_here_and_not_where_it_is_not(
    told: Finished,
) -> None:
    local = make_local(CASE, "bob")
    copy = own_copy(local, local.design(CASE.terms.theta, class_is_shared=False))
    texts = " ".join(Page(page_html(replace(told, copy=copy))).texts)
    assert texts.index("These figures cover the copy") < texts.index(reading_line(copy.read))
    assert "3 of 3 attributes are disguised" in texts
    gone = " ".join(Page(page_html(told)).texts)
    assert "The table that was released is not here as it was" in gone
    assert "A receiver of this copy reads" not in gone


def test_a_page_from_which_counts_of_our_own_values_can_be_worked_out_says_to_keep_it(told: Finished) -> None:
    """The control is a page without these figures: it shows no share, and needs no such word."""
    local = make_local(CASE, "bob")
    copy = own_copy(local, local.design(CASE.terms.theta, class_is_shared=False))
    texts = " ".join(Page(page_html(replace(told, copy=copy))).texts)
    shares = [float(share) for share in re.findall(r"\(was (\d+\.\d)%\)", texts)]
    records = len(local.records)
    counts = {round(share * records / 100) for share in shares}
    held = {int(count) for column in local.table.codes.T for count in np.bincount(column)}
    assert counts
    assert counts <= held
    assert "keep this page" in texts
    gone = " ".join(Page(page_html(told)).texts)
    assert "(was " not in gone
    assert "keep this page" not in gone


def test_the_disguise_that_is_measured_is_the_one_on_record(told: Finished) -> None:
    copy = told.run.copy
    assert copy is not None
    names = ["b0", "b1", "class"]
    groups = tuple(tuple(map(names.index, group)) for group in copy.groups)
    design = RelatedDesign.of_odds((2, 2, 2), groups, CASE.terms.theta)
    assert {name: str(odds.strength) for name, odds in disguised_odds(design, names)} == copy.odds


def test_the_page_that_is_signed_names_all_that_crossed_what_follows_and_what_a_partner_could_have_done(
    told: Finished,
) -> None:
    told = replace(told, dealings=replace(told.dealings, alignments=aligned(90, 85, 4096, 1)))
    signed = page_of_run(told).sections[:5]
    assert [each.name for each in signed] == ["built", "crossed", "deduced", "deviating", "signature"]
    _, crossed, deduced, deviating, signature = (each.parts for each in signed)
    rows = dict(getattr(crossed[0], "rows", ()))
    assert rows["Who is common"].startswith("Both learned how many of 90 people of ours and 85 of alice are common: 80")
    assert rows["Names of alice"].startswith("a0 (")
    assert [name in rows["Names of bob"] for name in ("b0 (", "b1 (", "class (")] == [True] * 3
    assert rows["Who is held out"] == "16 of the 80 people; both know which"
    assert rows["Counts"].endswith("of accuracy)")
    assert rows["Terms"] == "those above"
    assert rows["Order of values"].startswith("of ")
    assert rows["Masked numbers"] == "of every record, at each step: they show nothing by themselves"
    assert any(str(line).startswith("Exact counts are equations about single people") for line in deduced)
    can = " ".join(map(str, deviating))
    for deed in ("any records of ours to be counted", "list guessed ids", "lie about its table", "SECURITY.md"):
        assert deed in can
    assert [name for name, _ in getattr(signature[0], "rows", ())] == ["Name", "Date", "Signature"]
    for role, deed in (((told.party,), "any records"), ((told.run.peer.name,), "one of our columns in each count")):
        begun = replace(told.run.begun, label=replace(told.run.begun.label, owners=role))
        page = page_markdown(replace(told, run=replace(told.run, begun=begun)))
        assert deed in page


def test_what_is_drawn_of_a_tree_is_said_of_the_drawing_alone(told: Finished) -> None:
    """As text the tree is whole, so Markdown says nothing of levels."""
    page = page_of_run(told, 1)
    assert "The first 1 of " in as_html(page)
    assert "The first 1 of " not in as_markdown(page)


def test_a_section_of_what_is_not_there_is_left_out(told: Finished) -> None:
    bare = replace(told, costs=None, run=replace(told.run, copy=None, correct=None, tests=0, countable=0))
    left, full = ({section.name for section in page_of_run(each).sections} for each in (bare, told))
    assert full - left == {"privacy", "time"}
    text = unescape(page_html(bare))
    assert "not known: no records were held out" in text
    assert "Cost ratio" not in text
    assert "Who is held out" not in text


def test_under_noise_counts_and_accuracy_have_a_standard_deviation(told: Finished) -> None:
    page = page_html(on_terms(told, method="smc", noise="4", max_depth=1))
    assert "the whole run reveals epsilon 4 at most" in page
    # Bob holds the class: if his record changes, 4 candidates and the class counts may; if Alice's does, her 2.
    cell = (2 * (2 * (4 + 1) / 4) ** 2 + 2 * (2 * 2 / 4) ** 2) ** 0.5
    assert f"each off by a standard deviation of up to {cell:,.1f} records" in page
    correct = (2 * 2 / 4**2) ** 0.5
    assert f"noise of a standard deviation of up to {correct / 16:.3f}" in page
    assert "standard deviation" not in page_html(told)


def test_a_ratio_stands_only_where_less_than_all_could_have_been_counted(told: Finished) -> None:
    assert re.search(r"Cost ratio.*secure counts, of", page_markdown(told))
    told = on_terms(told, method="smc")
    page = page_markdown(replace(told, run=replace(told.run, counted=1_684, countable=1_684)))
    assert "Cost ratio" not in page
    assert "1,684, those of all candidates at every node" in page


def test_the_page_of_a_run_without_noise_points_to_the_leaves_of_one_class(told: Finished) -> None:
    assert isinstance(told.model, Tree)
    pure = replace(told, model=replace(told.model, root=Leaf((19.0, 0.0), 0)))
    assert "1 of 1 leaves hold training records of only one class, 19 in all" in page_markdown(pure)
    assert "of one class alone" not in page_markdown(on_terms(pure, method="smc", noise="4", max_depth=1))


SMC = replace(CASE.terms, method=Method.SMC, max_depth=2)


@pytest.mark.parametrize("terms", [CASE.terms, SMC, replace(SMC, noise=Fraction(50))], ids=["hybrid", "smc", "noise"])
def test_both_pages_state_the_accuracy_and_the_counts_that_the_run_ended_with(tmp_path: Path, terms: Terms) -> None:
    """By the ledgers alone: no costs are read. The caller notes that it tells a number before it learns it."""
    pages = []
    for settings in finished_parties(Sessions(tmp_path, CASE, ANY_ODDS), terms).values():
        facts = gathered(settings, settings.parent / "model.json")
        costs = read_train_report(settings.parent / "report.json")
        assert facts.run.correct == costs.correct
        assert facts.run.tests == costs.records_test
        assert vars(facts.run.revealed) == vars(facts.past.revealed) == costs.counts_of
        assert facts.run.revealed.counts == costs.exact_counts_disclosed
        pages.append(page_markdown(facts))
    for words in ("Counts:?[*]* *(.*)", "Accuracy:?[*]* *(.*)", "This run rev.*", "Revealed so far.*counts.*"):
        mine, yours = (re.findall(words, page) for page in pages)
        assert mine
        assert mine == yours
    assert all("not known" not in page for page in pages)


def test_the_pages_of_a_mined_tree_have_no_accuracy_at_either_side(tmp_path: Path) -> None:
    """The miner's own estimate stands in its costs, and in no ledger."""
    terms = replace(CASE.terms, method=Method.RANDOMIZED)
    settings = finished_parties(Sessions(tmp_path, CASE, ANY_ODDS), terms).values()
    for each in settings:
        page = page_markdown(gathered(each, each.parent / "model.json"))
        assert re.search("Accuracy[*]*: not known: only the party that holds the class can estimate it", page)
    estimates = [read_train_report(each.parent / "report.json").correct for each in settings]
    assert sum(estimate is None for estimate in estimates) == 1


def test_a_later_run_is_shown_with_what_it_revealed_itself(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    sessions.run(CASE.terms)
    settings = finished_parties(sessions, replace(CASE.terms, omega=2))["bob"]
    facts, costs = page_facts(settings), read_train_report(settings.parent / "report.json")
    assert vars(facts.run.revealed) == costs.counts_of
    assert costs.counts_of["tables"] == costs.smc_computations


def test_costs_of_another_run_are_refused_if_named_and_left_out_if_found(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bob"
    shutil.copytree(settings.parent, folder)
    costs = folder / "report.json"
    own = json.loads(costs.read_text())
    output = tmp_path / "r.md"
    assert main(["report", str(folder), "--costs", str(costs), "-o", str(output)]) == 0
    assert "Time" in output.read_text()
    costs.write_text(json.dumps(own | {"run": "5e" * 16, "seconds": 4711.0}))
    capsys.readouterr()
    assert main(["report", str(folder), "--costs", str(costs), "-o", str(output), "--overwrite"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is of another run" in error
    assert main(["report", str(folder), "-o", str(output), "--overwrite"]) == 0
    assert "is of another run" in capsys.readouterr().err
    assert "What it took" not in output.read_text()
    assert "4711" not in output.read_text()
    costs.write_text(json.dumps({"demo": 1}))
    assert main(["report", str(folder), "-o", str(output), "--overwrite"]) == 0
    assert "note:" in capsys.readouterr().err


def test_the_command_writes_the_page_and_replaces_none_unasked(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.html"
    assert main(["report", str(settings.parent), "-o", str(output)]) == 0
    assert str(output) in capsys.readouterr().out
    first = output.read_text()
    assert main(["report", str(settings), "-o", str(output)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["report", str(settings), "-o", str(output), "--overwrite", "--levels", "1"]) == 0
    assert output.read_text() != first
    model = settings.parent / "model.json"
    before = model.read_bytes()
    assert main(["report", str(settings), "-o", str(model), "--overwrite"]) == 2
    assert model.read_bytes() == before


def prose_of(markdown: str) -> str:
    """Return what is no drawing."""
    return "\n".join(line for line in markdown.splitlines() if not re.match(r" {4}(?! *- )", line))


def test_a_name_that_ends_in_md_asks_for_markdown(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.md"
    assert main(["report", str(settings), "-o", str(output)]) == 0
    assert "browser" not in capsys.readouterr().out
    assert output.read_text().startswith("# Decision tree for ")


def test_a_model_of_no_run_on_record_is_refused_in_one_line(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    write_model(other, small_model())
    assert main(["report", str(settings), "--model", str(other), "-o", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is of no run in the ledger" in error


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return Bob's folder after a run of each kind: read only."""
    return {kind: finished_party(tmp_path_factory.mktemp("finished"), kind).parent for kind in KINDS[1:]}


@pytest.fixture
def models_told(folders: dict[str, Path], settings: Path) -> Callable[[str], Finished]:
    return lambda kind: page_facts(settings if kind == "tree" else folders[kind] / "party.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_whole_draws_the_model_and_asks_for_nothing_whatever_the_names_hold(
    models_told: Callable[[str], Finished], kind: str
) -> None:
    for each in (models_told(kind), hostile(models_told(kind))):
        text = as_html(page_of_run(each))
        page = Page(text)
        tags = [tag for tag, attributes in page.tags if attributes.get("class") != "bar"]
        assert tags.count("h1") == tags.count("svg") == 1
        assert tags.count("h2") == len(page_of_run(each).sections)
        assert not {"script", "img", "iframe", "object", "link"} & set(tags)
        assert not list(addresses(page))
        assert not [name for _, attributes in page.tags for name in attributes if name.startswith(("on", "style"))]
        fetched = re.sub(r"url\(#class-\d+\)", "", text)
        of_drawings = () if kind == "rules" else ("http:", "https:")  # that of sets names the form that it has
        assert not [words for words in ("<script", "url(", "\x00", "\x1b", *of_drawings) if words in fetched]
        lines = {line.strip() for line in dealings_lines(each.dealings, full=False)}
        assert len(lines) >= 10
        assert lines <= set(page.texts)
        assert each.model.digest().hex() in page.texts


@pytest.mark.parametrize("kind", KINDS)
def test_as_markdown_it_says_the_same_and_no_name_is_read_as_markup(
    models_told: Callable[[str], Finished], kind: str
) -> None:
    told = models_told(kind)
    text = page_markdown(told)
    assert told.model.digest().hex() in text
    assert text.count("\n## ") == len(page_of_run(told).sections)
    plain = re.sub(r"\\(.)", r"\1", text)
    for line in dealings_lines(told.dealings, full=False):
        assert f"- {line.strip()}\n" in plain
    prose = prose_of(page_markdown(hostile(told))).replace("![", "")
    assert "<" in prose
    assert not re.search(r"(?<!\\)[<\[]", prose)


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_says_nothing_of_people_that_the_page_does_not(
    models_told: Callable[[str], Finished], kind: str
) -> None:
    of = models_told(kind)
    card, page = card_of_run(of), page_of_run(of)
    names = {each.name for each in card.sections}
    assert {"details", "use", "limits", "data", "worth", "people"} <= names
    assert ("tree" in names) == (kind == "tree")
    text, whole = as_markdown(card), as_markdown(page)
    assert {*re.findall(r"\w*\d[\w.,]*", text)} <= {*re.findall(r"\w*\d[\w.,]*", whole)}
    assert text.startswith(f"# Model card: {page.title}\n")
    assert of.fingerprint not in text
    assert not re.search(r"(?<!\\)[<\[]", prose_of(as_markdown(card_of_run(hostile(of)))).replace("![", ""))


def test_a_card_is_written_of_a_run_alone(settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(settings), "--card", "-o", str(tmp_path / "card.md")]) == 0
    assert (tmp_path / "card.md").read_text().startswith("# Model card: Decision tree for ")
    words = ["report", "answers.csv", "design.toml", "--card", "-o", str(tmp_path / "other.md")]
    assert main(words) == 2
    assert "--card is of a run's model: name a party" in capsys.readouterr().err


def test_naive_bayes_has_its_chances_what_each_attribute_says_and_its_accuracy(
    models_told: Callable[[str], Finished], folders: dict[str, Path]
) -> None:
    finished = models_told("naive Bayes")
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


@pytest.mark.parametrize("kind", KINDS[1:])
def test_terms_that_such_a_run_cannot_have_are_left_out(models_told: Callable[[str], Finished], kind: str) -> None:
    finished = models_told(kind)
    (line,) = [line for line in page_markdown(finished).splitlines() if re.search(r"min.?_leaf", line)]
    assert not re.search("impurity|splits|leaves|weights", line)
    assert ("seed" in line) == (kind == "naive Bayes")


def test_under_noise_naive_bayes_counts_one_level(models_told: Callable[[str], Finished]) -> None:
    finished = models_told("naive Bayes")
    page = as_html(page_of_run(on_terms(finished, noise="4")))
    cell = (2 * (2 * (4 + 1) / 4) ** 2 + 2 * (2 * 2 / 4) ** 2) ** 0.5
    assert f"each off by a standard deviation of up to {cell:,.1f} records" in page


def test_rules_have_their_sets_which_are_settled_and_what_was_revealed_for_them(
    models_told: Callable[[str], Finished], folders: dict[str, Path]
) -> None:
    finished = models_told("rules")
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
