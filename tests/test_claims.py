"""Each number of the pages is of a run that `scripts/claims` makes again, of a test, or no result, for a reason."""

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from math import comb
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.scripts import imported

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "scripts" / "benchmarks"
EXPERIMENTS = "scripts/experiments/README.md"
PAGES = (
    *("README.md", ".github/SECURITY.md", "scripts/benchmarks/README.md", EXPERIMENTS),
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / ".github" / "docs").glob("*.md")),
    *sorted(str(path.relative_to(ROOT)) for top in ("party", "protocols") for path in (ROOT / top).rglob("[A-Z]*.md")),
)
DIGITS = r"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
WORD = r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred)"
UNIT = (
    r"(?:s|ms|µs|ns|min|[kMG]B|[KMG]iB|seconds?|minutes?|hours?|days?|years?|bytes?|per ?cent|(?:hundred|thousand)ths?"
    r"|of (?:accuracy|AUC))\b"
)
RESULT = re.compile(
    rf"(?:{DIGITS}|{WORD})\s{UNIT}|{DIGITS}\s?%|\b(?:accuracy|AUC)(?: of| near)? {DIGITS}", re.IGNORECASE
)
SCREENS = re.compile(r"^```console\n.*?^```$", re.MULTILINE | re.DOTALL)
"""Tests run what is quoted of a screen (`tests/integration/test_tutorial.py`)."""


@pytest.fixture(scope="module")
def claims() -> Iterator[ModuleType]:
    with imported(FOLDER, "claims") as module:
        yield module


def words(text: str) -> str:
    return " ".join(SCREENS.sub("", text).split())


def page(name: str) -> str:
    return words((ROOT / name).read_text("utf-8"))


def unclaimed(text: str, said: list[str]) -> list[str]:
    """Return the results in a text that stand in none of the words that are accounted for."""
    spans = [match.span() for each in said for match in re.finditer(re.escape(words(each)), text)]
    found = RESULT.finditer(text)
    return [
        text[max(0, match.start() - 40) : match.end() + 20]
        for match in found
        if not any(start <= match.start() and match.end() <= end for start, end in spans)
    ]


@pytest.mark.parametrize("name", [name for name in PAGES if name != EXPERIMENTS])
def test_each_number_with_a_unit_is_measured_held_by_a_test_or_known(name: str, claims: ModuleType) -> None:
    said = [claim.says for claim in claims.read_claims().all() if claim.page == name]
    assert unclaimed(page(name), said) == [], "see the head of scripts/benchmarks/claims.toml"


def test_each_number_in_a_table_of_costs_is_claimed(claims: ModuleType) -> None:
    name = "scripts/benchmarks/README.md"
    rows = re.findall(r"^\|[^|]*\d[^|]*\| (.*)$|^\|[^|]*\| (.*\d.*)$", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    said = [claim.says for claim in claims.read_claims().all() if claim.page == name]
    claimed = re.compile("|".join(map(re.escape, said)))
    left = [cells for row in map("".join, rows) if re.search(r"\d", cells := claimed.sub("", row))]
    assert len(rows) > 8
    assert left == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it takes 12 s", ["it takes 12 s"]),
        ("it takes 3 s and 12 MB", ["it takes 3 s and 12 MB"]),
        ("an AUC of .71", ["an AUC of .71"]),
        ("19 % of them", ["19 % of them"]),
        ("seven hundredths of it", ["seven hundredths of it"]),
        ("ten seconds", ["ten seconds"]),
        ("2 sides and 5 bits", []),
        ("it takes 5 s", []),
        ("```console\n$ a\n7 s\n```", []),
    ],
)
def test_a_new_number_with_a_unit_is_found(text: str, found: list[str]) -> None:
    assert unclaimed(words(text), ["takes 5 s", "3 s"]) == found


def test_each_claim_stands_once_on_its_page_with_a_field_for_each_number(claims: ModuleType) -> None:
    known = claims.read_claims()
    for claim in known.all():
        assert page(claim.page).count(words(claim.says)) == 1, claim.says
    for run in known.runs.values():
        assert all(claim.figures for claim in run.claims) or run.by_hand, run.command
        assert not run.by_hand or re.match(r"\d{4}-\d\d-\d\d; ", run.by_hand), run.command
        assert (ROOT / "scripts" / re.split("[, ]", run.command)[0]).is_file()
        for claim in run.claims:
            assert run.by_hand or claim.said()


def test_each_test_that_holds_a_number_is_there(claims: ModuleType) -> None:
    texts = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in claims.read_claims().tests if f"def {name}(" not in texts] == []


def test_a_majority_over_21_copies_errs_as_a_binomial_tail_says() -> None:
    truth = Fraction(7, 10)
    errs = sum(comb(21, right) * truth**right * (1 - truth) ** (21 - right) for right in range(11))
    assert f"wrong in {float(100 * errs):.1f} % of cases" in page("protocols/DESIGN.md")


def test_what_is_kept_is_what_the_pages_say(claims: ModuleType) -> None:
    kept = [run for run in claims.read_claims().runs.values() if run.kept]
    assert kept
    assert [line for run in kept for line in claims.judged(run, run.rows()) if line[3] != "yes"] == []


PRINTED = {"0.51", "0.66", "0.9", "19 %", "28 %", "27 %", "36 %", "37 %", "0.27"}
"""Values of θ, what the papers print, and what version 0.2.0 gave, on the page of experiments."""


def test_each_number_in_a_table_of_experiments_is_in_the_results_that_its_section_names() -> None:
    text, missed, found = (ROOT / EXPERIMENTS).read_text("utf-8"), list[str](), 0
    for section in re.split(r"^(?=## |\*\*[A-Z\d])", text, flags=re.MULTILINE):
        values = set[float]()
        for name in set(re.findall(r"([a-z]\w+)\.csv", section)):
            with (ROOT / "scripts" / "experiments" / "results" / f"{name}.csv").open(newline="") as file:
                values |= {
                    float(row[key])
                    for row in csv.DictReader(file)
                    for key in ("mean", "variance", "deviation")
                    if row[key]
                }
        for cell in re.findall(rf"{DIGITS}(?: %)?", "".join(re.findall(r"^\|.*\n", section, re.MULTILINE))):
            number = cell.removesuffix(" %").replace(",", "")
            if "." in number or cell.endswith("%"):
                found += 1
                near = 0.5 * 10.0 ** -len(number.partition(".")[2]) + 1e-9
                if not any(abs(value * scale - float(number)) <= near for value in values for scale in (1, 100)):
                    missed.append(cell)
    assert found > 500
    assert set(missed) <= PRINTED


def test_every_number_is_listed_without_a_run(claims: ModuleType) -> None:
    known = claims.read_claims()
    lines = claims.listed(known)
    assert len([line for line in lines if line.startswith("    ")]) == len(known.all())
    assert "adult: scripts/benchmarks/whole_trees.py --data adult" in lines
    assert "    README.md: 4 s and 10 MB" in lines


ROWS = [{"data": "x", "seconds": 8.0, "auc": 0.8}, {"data": "y", "seconds": 2.0}]


@pytest.mark.parametrize(
    ("says", "figures", "verdict"),
    [
        ("8 s", ["seconds"], "yes"),
        ("4 s", ["seconds"], "yes"),
        ("3.9 s", ["seconds"], "NO"),
        ("17 s", ["seconds"], "NO"),
        ("under 17 s", ["seconds"], "yes"),
        ("under 3 s", ["seconds"], "NO"),
        ("ten seconds", ["seconds"], "yes"),
        ("0.1 min of 5 rows", ["seconds / 60", "-"], "yes"),
        ("8 s, an AUC of .79", ["seconds", "auc"], "yes"),
        ("8 s, an AUC of .77", ["seconds", "auc"], "NO"),
    ],
)
def test_a_figure_holds_within_what_its_kind_allows(
    says: str, figures: list[str], verdict: str, claims: ModuleType
) -> None:
    run = claims.Run("a.py", [claims.Claim("README.md", says, figures, {"data": "x"})])
    assert [line[3] for line in claims.judged(run, ROWS)] == [verdict]


@pytest.mark.parametrize(("says", "verdict"), [(".006", "yes"), (".007", "NO"), (".0056", "yes"), (".005", "NO")])
def test_what_is_kept_holds_to_the_last_digit(says: str, verdict: str, claims: ModuleType) -> None:
    run = claims.Run("a.py", [claims.Claim("README.md", says, ["loss"], {})], kept="a.csv")
    assert claims.judged(run, [{"loss": "0.00556"}])[0][3] == verdict


@pytest.mark.parametrize(
    ("says", "figures", "row"),
    [("8 s", ["seconds"], {"data": "z"}), ("8 s", ["seconds"], {}), ("8 s, 1 MB", ["seconds"], {"data": "x"})],
)
def test_a_claim_that_picks_no_row_or_several_or_has_a_number_too_many_is_an_error(
    says: str, figures: list[str], row: dict[str, str], claims: ModuleType
) -> None:
    with pytest.raises(SystemExit, match=r"rows have|numbers and"):
        claims.Claim("README.md", says, figures, row).measured(ROWS)
