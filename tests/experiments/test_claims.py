"""The numbers in the documents: each has a claim that a rerun can fail."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scripts" / "benchmarks"
NUMBER = re.compile(r"\b\d[\d,]*(?:\.\d+)?(?= (?:s|MB|MiB|seconds)\b)")


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        import claims as module  # noqa: PLC0415
    finally:
        sys.path.remove(str(FOLDER))
    return module


def section(page: str, heading: str) -> str:
    text = (ROOT / page).read_text()
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


def words(text: str) -> str:
    return " ".join(text.split())


def test_each_claim_stands_on_its_page_and_has_a_run(claims: ModuleType) -> None:
    runs, found = claims.read_claims()
    assert {claim.run for claim in found} == set(runs)
    for claim in found:
        assert words(claim.text) in words((ROOT / claim.page).read_text()), claim.text
        assert all(least < most for least, most in claim.figures.values())
    assert all((FOLDER / command[0]).is_file() for command in runs.values())


def test_each_cost_on_the_front_page_is_claimed(claims: ModuleType) -> None:
    claimed = " ".join(claim.text for claim in claims.read_claims()[1] if claim.page == "README.md")
    costs = NUMBER.findall(section("README.md", "What it costs"))
    assert len(costs) > 3
    assert [cost for cost in costs if cost not in NUMBER.findall(claimed)] == []


def test_a_figure_out_of_its_range_fails_and_one_within_holds(claims: ModuleType) -> None:
    rows = [{"data": "x", "seconds": 8.0}, {"data": "y", "seconds": 2.0}]
    claim = claims.Claim("README.md", "8 s", "run", {"data": "x"}, {"seconds": [5, 10]})
    assert claims.judge(claim, rows) == (["holds  README.md: '8 s': seconds 8, to be 5 to 10"], True)
    four = claims.Claim("README.md", "four times", "run", {"data": "x"}, {"seconds": [5, 10]}, {"data": "y"})
    assert claims.judge(four, rows) == (["FAILS  README.md: 'four times': seconds 4, to be 5 to 10"], False)


@pytest.mark.parametrize("row", [{"data": "z"}, {}])
def test_a_claim_that_picks_no_row_or_several_is_an_error(claims: ModuleType, row: dict[str, str]) -> None:
    claim = claims.Claim("README.md", "8 s", "run", row, {"seconds": [5, 10]})
    with pytest.raises(SystemExit, match="rows have"):
        claims.judge(claim, [{"data": "x", "seconds": 8.0}, {"data": "y", "seconds": 2.0}])
