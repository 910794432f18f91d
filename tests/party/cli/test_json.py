"""Every command that prints results prints them for programs too, in formats that a page names."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.commands import parsers
from tests.support.processes import BITS, cotally_here

FORMATS = (Path(__file__).parents[3] / "party" / "FORMATS.md").read_text()
NONE: Mapping[str, str] = {
    "completion": "prints what a shell reads",
    "demo": "writes run.json",
    "report": "writes a page; `train --json` and `ledger --json` have what stands in it",
    "serve": "prints no results; --log json says what happens, --report what a run cost",
    "survey close": "`survey status --json` has what it tells",
    "survey export": "writes a table",
    "survey links": "writes a table",
    "survey new": "writes settings",
    "survey page": "writes pages",
    "survey publish": "prints no results: they come with `survey results --json`",
    "survey serve": "prints no results: they come with `survey results --json`",
    "survey texts": "prints TOML for the settings",
}
NEEDS_A_PEER = {
    "align": "tests/integration/test_json_of_runs.py", "cancel": "tests/integration/test_going_on.py",
    "ledger": "tests/integration/test_json_of_runs.py", "train": "tests/integration/test_json_of_runs.py",
    "pair": "tests/integration/test_pair.py",
}  # fmt: skip
QUICK = ("--shift", "1/10", "--power", "0.9")
CALLS: Mapping[str, tuple[str, ...]] = {
    "audit": ("audit", "design.toml", *QUICK),
    "audit of baskets": ("audit", "baskets.toml", *QUICK),
    "check": ("check", "bob"),
    "disguise": ("disguise", "data.csv", "design.toml", "-o", "new.csv", "--secret", "coins"),
    "disguise of baskets": ("disguise", "baskets.csv", "baskets.toml", "-o", "b.csv", "--secret", "key"),
    "doctor": ("doctor", "bob"),
    "estimate": ("estimate", "d.csv", "design.toml", "married = yes"),
    "init": ("init", "carol", "--dir", "carol", "--key-bits", str(BITS)),
    "keys": ("keys", "renew", "bob"),
    "mine": ("mine", "tree", "d.csv", "design.toml", "--test", "1/5"),
    "mine bayes": ("mine", "bayes", "d.csv", "design.toml"),
    "mine rules": ("mine", "rules", "d.csv", "design.toml", "--min-support", "1/5", "--max-len", "2"),
    "mine itemsets": ("mine", "itemsets", "d.csv", "design.toml", "--min-support", "1/5", "--max-len", "2"),
    "plan": ("plan", "bob", "job.toml"),
    "predict": ("predict", "m.json", "data.csv", "-o", "p.csv"),
    "privacy": ("privacy", "design.toml"),
    "privacy of baskets": ("privacy", "baskets.toml"),
    "rules": ("rules", "sets.json"),
    "rules --itemsets": ("rules", "sets.json", "--itemsets"),
    "show": ("show", "m.json"),
    "size": ("size", "design.toml", "--half-width", "0.05"),
    "size --expression": ("size", "design.toml", "--half-width", "0.05", "--expression", "married = yes"),
    "size of baskets": ("size", "baskets.toml", "--half-width", "0.05"),
    "status": ("status", "bob"),
    "survey results": ("survey", "results", "study/survey.toml"),
    "survey status": ("survey", "status", "study/survey.toml"),
    "trust": ("trust", "alice", "bob/cert.pem"),
}
FAILS = {"doctor": 3}  # nobody serves


def test_every_command_prints_json_or_says_why_not() -> None:
    lacking = {name for name, parser in parsers() if "--json" not in parser._option_string_actions}
    assert lacking == {*NONE}
    tried = {*NEEDS_A_PEER} | {name for name, _ in parsers() if any(call.startswith(name) for call in CALLS)}
    assert tried == {name for name, _ in parsers()} - {*NONE}
    for name, path in NEEDS_A_PEER.items():
        text = (Path(__file__).parents[3] / path).read_text()
        assert f'"{name}"' in text
        assert '"--json"' in text


@pytest.mark.parametrize("call", CALLS)
def test_what_is_printed_is_json_of_a_format_that_is_described(here: Path, call: str) -> None:
    ended = cotally_here(*CALLS[call], "--json")
    assert ended.code == FAILS.get(call, 0), ended.err
    told = json.loads(ended.out)
    assert re.fullmatch(r"cotally-[a-z-]+/\d+", told["format"])
    assert f"`{told['format']}`" in FORMATS


def test_json_of_a_prediction_needs_a_file_for_the_rows(here: Path) -> None:
    ended = cotally_here("predict", "m.json", "data.csv", "--json")
    assert (ended.code, ended.out) == (2, "")
    assert "--json shows what became of rows that go to a file: name it (-o)" in ended.err


def test_results_say_the_same_in_both_forms(here: Path) -> None:
    words = cotally_here("predict", "m.json", "data.csv", "-o", "p.csv")
    told = json.loads(cotally_here("predict", "m.json", "data.csv", "-o", "q.csv", "--json").out)
    assert f"{told['correct']} of {told['known']} rows" in words.err
    size = json.loads(cotally_here(*CALLS["size --expression"], "--json").out)["enough"][0]
    assert cotally_here(*CALLS["size --expression"]).out.startswith(f"{size['respondents']} respondents are enough")
