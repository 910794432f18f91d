"""Surveys and baskets as files, and the pages that `cotally report` makes of them."""

import argparse
from contextlib import chdir
from pathlib import Path

from party.cli.arguments import models
from party.cli.main import main
from party.cli.survey_report import survey_page
from party.show.document import Document
from tests.party.association.conftest import DESIGN as BASKETS
from tests.party.association.conftest import lines
from tests.party.survey.files import HEADER, RELATED, UNRELATED, rows, swap, write_design, write_rows
from tests.support.finished import HOSTILE

FAST = ("--shift", "1/10")
RECORDS = 1500
NAME = HOSTILE.replace("\x00\x1b[2J", "")  # a design refuses what cannot be printed


def parsed(*words: str) -> argparse.Namespace:
    """The arguments of `cotally report`, as its command gets them; the audit is a short one."""
    parser = argparse.ArgumentParser()
    models.declare_report(parser)
    return parser.parse_args([*words, *FAST, "-o", "report.html"])


def write_survey(folder: Path, text: str = RELATED, name: str = "survey", records: int = RECORDS) -> None:
    """Write NAME.toml and, disguised by it, NAME.csv."""
    write_design(folder, text, f"{name}.toml")
    write_rows(folder, rows(records), "true.csv")
    with chdir(folder):
        assert main(["disguise", "true.csv", f"{name}.toml", "-o", f"{name}.csv", "--secret", f"{name}.key", "-q"]) == 0


def survey_of_two_kinds(folder: Path) -> Document:
    """The page of two files of answers, one of them to unrelated questions, and of a tree mined from both."""
    write_survey(folder)
    write_survey(folder, UNRELATED, "other")
    more = ["--and", "other.csv", "other.toml"]
    with chdir(folder):
        assert main(["mine", "tree", "survey.csv", "survey.toml", *more, "-o", "tree.json", "-q"]) == 0
        page, as_declared = survey_page(parsed("survey.csv", "survey.toml", *more, "--model", "tree.json"))
    assert as_declared
    return page


def hostile_survey(folder: Path) -> Document:
    """The page of a survey whose names and values hold markup, with naive Bayes and rules."""
    quoted = NAME.replace("\\", "\\\\").replace('"', '\\"')
    design = RELATED.replace("columns.smoker", f'columns."{quoted}"').replace('"smoker"', f'"{quoted}"')
    design = swap(swap(design, '"yes", "no"', f'"yes{quoted}", "no"'), "habits =", f'"{quoted}" =')
    write_design(folder, design, "hostile.toml")
    cell = NAME.replace('"', '""')
    told = [f'{head},"yes{cell}"' if last == "yes" else f"{head},no" for head, _, last in map(_parts, rows(RECORDS))]
    write_rows(folder, told, "true.csv", HEADER.replace("smoker", f'"{cell}"'))
    with chdir(folder):
        assert main(["disguise", "true.csv", "hostile.toml", "-o", "d.csv", "--secret", "key", "-q"]) == 0
        assert main(["mine", "bayes", "d.csv", "hostile.toml", "-o", "bayes.json", "-q"]) == 0
        page, _ = survey_page(parsed("d.csv", "hostile.toml", "--model", "bayes.json", "--min-support", "1/10"))
    return page


def _parts(line: str) -> tuple[str, str, str]:
    return line.rpartition(",")


def write_baskets(folder: Path) -> None:
    """Write baskets.toml and disguised baskets.csv."""
    (folder / "baskets.toml").write_text(BASKETS.replace('"3/5", "2/5", "1/5"', '"1", "1", "1"'))
    (folder / "true-baskets.csv").write_text("\n".join(lines()) + "\n")
    with chdir(folder):
        command = ["disguise", "true-baskets.csv", "baskets.toml", "-o", "baskets.csv", "--secret", "b.key", "-q"]
        assert main(command) == 0


def basket_page(folder: Path) -> Document:
    """The page of disguised baskets."""
    write_baskets(folder)
    with chdir(folder):
        page, as_declared = survey_page(
            parsed("baskets.csv", "baskets.toml", "--min-support", "1/10", "--min-threshold", "1/2", "--ask", "milk")
        )
    assert as_declared
    return page
