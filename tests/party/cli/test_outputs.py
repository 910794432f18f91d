"""Where a command's output goes: a reader that leaves, a full device, a closed one, a path that cannot be."""

import argparse
import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from party.cli import main as cli
from party.cli import report
from party.cli.outputs import settle_outputs
from party.data import read_frame
from party.models.any_file import write_model
from protocols.errors import InputError
from tests.support.commands import parsers
from tests.support.examples import few
from tests.support.models import chain, small_model
from tests.support.processes import BITS, assert_one_line, cotally_here, finish, start

FULL = Path("/dev/full")
FULL_LINE = "cotally: standard output cannot be written: No space left on device\n"


def written_to_full(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command in a folder whose output goes to a device that is full; return its code and errors."""
    with FULL.open("w") as full:
        ended = finish(start(*words, stdout=full, cwd=folder))
    return ended.code, ended.err


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
def test_an_output_that_is_full_is_one_line_that_names_it(tmp_path: Path) -> None:
    """What is large is refused while it is written, what is small at the end."""
    write_model(tmp_path / "big.json", chain(500))
    write_model(tmp_path / "m.json", small_model())
    (tmp_path / "rows.csv").write_text("alice.age,city,bob.age\n,,\n")
    for words in ("show big.json", "show m.json", "predict m.json rows.csv", "show --help"):
        assert written_to_full(tmp_path, *words.split()) == (2, FULL_LINE), words


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
def test_an_error_keeps_its_code_where_no_output_can_be_written(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        for words, code in ((["show", "absent"], 2), (["frobnicate"], 2)):
            assert start(*words, stdout=full, stderr=full, cwd=tmp_path).wait() == code


@pytest.mark.parametrize("cell", ["a\rb", "\r\n", '"'])
def test_predict_writes_what_can_be_read_again(model: Path, cell: str) -> None:
    table = pa.table({"alice.age": ["17"], "city": [cell], "bob.age": ["no"]})
    pq.write_table(table, model.with_name("rows.parquet"))
    assert (
        cli.main(["predict", str(model), str(model.with_name("rows.parquet")), "-o", str(model.with_name("o.csv"))])
        == 0
    )
    assert read_frame(model.with_name("o.csv")).cells[1] == [cell]


def test_an_output_that_is_closed_or_whose_reader_goes_away_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_model(tmp_path / "model.json", chain(300))
    with start("show", "model.json", cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
    monkeypatch.setattr(sys, "stdout", None)  # as Python has one that is closed
    assert cli.main(["show", str(tmp_path / "model.json")]) == 0
    assert capsys.readouterr().err == ""


WITH_PATHS = [
    ("init", "dora", "--dir", "X"), ("trust", "X", "X"), ("plan", "X", "X"), ("serve", "X"),
    ("train", "X", "X"), ("show", "X"), ("predict", "X", "X"), ("demo", "--out", "X"), ("privacy", "X"),
    ("size", "X", "--half-width", "0.1"),
    ("audit", "X"), ("disguise", "X", "X", "-o", "X", "--secret", "X"),
    ("estimate", "X", "X", "a = b"), ("mine", "tree", "X", "X"),
]  # fmt: skip


def test_a_path_that_cannot_be_is_one_line_in_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "circle").symlink_to("circle")
    for words, name in product(WITH_PATHS, ("x" * 300, "circle")):
        assert cli.main([str(tmp_path / name) if word == "X" else word for word in words]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.splitlines()[-1].startswith("cotally: ")  # a demo tells what it does before
        assert name in err.splitlines()[-1]
        assert "internal" not in err


def test_an_error_of_the_system_names_its_path_and_another_is_an_internal_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "command_show", lambda _: Path("x" * 300).stat())
    assert cli.main(["show", "x"]) == 2
    assert capsys.readouterr().err == f"cotally: {'x' * 300} cannot be used: File name too long\n"
    monkeypatch.setattr(report, "command_show", lambda _: os.fstat(10_000))
    assert cli.main(["show", "x"]) == 1
    assert "internal error: OSError" in capsys.readouterr().err


CLI = Path(cli.__file__).parent
WRITERS = {"write_atomically", "write_new", "write_table", "write_result", "write_sent", "write_model", "KeptModel"}
READ = {
    "approve party", "export model", "propose job", "propose party", "refuse party",
    "align party", "audit design", "audit --and", "cancel party", "check party", "check job", "crosstab party",
    "demo --alice", "demo --bob", "disguise data", "disguise design", "disguise --personal", "doctor party",
    "estimate disguised",
    "estimate design", "estimate --and", "estimate --against", "keys party", "ledger party", "mine disguised",
    "mine design", "mine --and", "pair party", "plan party", "plan job", "predict model",
    "predict rows", "predict --model", "privacy design", "privacy --prior", "privacy --pilot", "privacy --model",
    "rehearse party", "rehearse job", "rehearse --pilot",
    "report party", "report design", "report --and", "report --model", "report --costs", "rules model", "serve party",
    "show model", "size design", "status party",
    "survey new --table", "survey publish model", "survey publish disguised", "train party",
    "train job", "trust party", "trust certificate",
    *(f"survey {action} settings" for action in ("links", "serve", "status", "close", "export", "results", "publish",
      "page", "texts")),
}  # fmt: skip
NEVER_REPLACED = {
    "init --dir": "a folder, whose files are kept",
    "demo --out": "a folder, of which a demo takes none that holds something else",
    "disguise --secret": "made on first use, and read afterwards",
    "survey links --output": "codes that count must not get lost",
    "survey new folder": "a folder, whose files are kept",
    "upgrade folder": "a folder, whose files are kept as they were beside what becomes of them",
}
REPLACED_IF_TOLD = {
    "disguise --output", "export --output", "ledger --output", "mine --output", "predict --output", "predict --report",
    "rehearse --output",
    "report --output", "rules --output", "serve --model", "serve --report", "survey export --output",
    "survey page --output", "survey results --html", "train --model", "train --report",
}  # fmt: skip


def paths(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.type is Path:
            yield action.option_strings[-1] if action.option_strings else action.dest


def test_nothing_that_is_read_is_an_output_and_what_is_there_goes_only_if_asked(tmp_path: Path) -> None:
    read, earlier, new = tmp_path / "read", tmp_path / "earlier", tmp_path / "new"
    read.touch()
    earlier.touch()
    settle_outputs([new, None], [read, None], overwrite=False)
    settle_outputs([earlier, new], [read], overwrite=True)
    for outputs, overwrite, problem in (
        ([read], True, "is read by this command"),
        ([new, read], False, "is read by this command"),
        ([earlier], False, r"is there already: name another by -o, or replace it \(--overwrite\)$"),
        ([earlier], None, "is there already: name another by -o$"),
        ([new, tmp_path / "." / "new"], True, "is named for two outputs"),
    ):
        with pytest.raises(InputError, match=problem):
            settle_outputs(outputs, [read], overwrite=overwrite)


CALLS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "disguise --output": lambda out: ("disguise", "data.csv", "design.toml", "--secret", "coins", "-o", out),
    "export --output": lambda out: ("export", "m.json", "--as", "sql", "-o", out),
    "ledger --output": lambda out: ("ledger", "export", "bob", "-o", out),
    "mine --output": lambda out: ("mine", "tree", "d.csv", "design.toml", "-o", out),
    "predict --output": lambda out: ("predict", "m.json", "data.csv", "-o", out),
    "predict --report": lambda out: ("predict", "m.json", "data.csv", "--report", out),
    "rehearse --output": lambda out: ("rehearse", "bob", "--data", "votes", "-o", out),
    "report --output": lambda out: ("report", "bob", "-o", out),
    "rules --output": lambda out: ("rules", "sets.json", "-o", out),
    "survey export --output": lambda out: ("survey", "export", "study/survey.toml", "-o", out),
    "survey page --output": lambda out: ("survey", "page", "study/survey.toml", "-o", str(Path(out).parent)),
    "survey results --html": lambda out: ("survey", "results", "study/survey.toml", "--html", out),
    "train --model": lambda out: ("train", "bob", "job.toml", "--model", out),
    "train --report": lambda out: ("train", "bob", "job.toml", "--report", out),
    "survey links --output": lambda out: ("survey", "links", "study/survey.toml", "--number", "1", "-o", out),
}
OF_PAGES = ("predict --report", "survey page --output")
INPUTS = {
    "export --output": "m.json",
    "disguise --output": "data.csv", "ledger --output": "bob/party.toml", "mine --output": "d.csv",
    "predict --output": "m.json", "predict --report": "data.csv", "rehearse --output": "bob/party.toml",
    "report --output": "bob/party.toml", "rules --output": "sets.json",
    "survey results --html": "study/survey.toml",
    "train --model": "job.toml", "train --report": "bob/party.toml", "survey links --output": "study/survey.toml",
}  # fmt: skip


def test_every_output_is_tried_and_every_command_that_writes_one_asks_the_rule_first() -> None:
    named = {f"{name} {path}": parser for name, parser in parsers() for path in paths(parser)}
    assert {*named} == READ | {*NEVER_REPLACED} | REPLACED_IF_TOLD
    assert all("--overwrite" in named[path]._option_string_actions for path in REPLACED_IF_TOLD)
    asked = []
    for path in sorted(CLI.glob("*.py")):
        names = {alias.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
                 for alias in node.names}  # fmt: skip
        if names & WRITERS:
            asked.append((path.name, bool(names & {"settle_outputs", "settle_copy", "settle_result_paths"})))
    assert len(asked) >= 7
    assert [name for name, does in asked if not does] == []
    assert {*CALLS} == {name for name in REPLACED_IF_TOLD if not name.startswith("serve")} | {"survey links --output"}


@pytest.mark.parametrize("output", few(list(CALLS), 3))
def test_what_is_there_stays_unless_asked(here: Path, output: str) -> None:
    earlier = here / ("page.html" if output in OF_PAGES else "earlier.csv")
    earlier.write_text("earlier\n")
    assert_one_line(
        cotally_here(*CALLS[output](earlier.name)), 2, f"{earlier.name} is there already: name another by -"
    )
    assert earlier.read_text() == "earlier\n"


OF_ONE = [
    name
    for name in CALLS
    if not name.startswith(("train", "rehearse", "report", "ledger", "survey links", "survey export"))
]
"""Of the others, all but `survey links` replace what they are told to in tests of their own."""


@pytest.mark.parametrize("output", OF_ONE)
def test_what_is_there_goes_if_asked(here: Path, output: str) -> None:
    earlier = here / ("page.html" if output in OF_PAGES else "earlier.csv")
    earlier.write_text("earlier\n")
    ended = cotally_here(*CALLS[output](earlier.name), "--overwrite")
    assert ended.code == 0, ended.err
    assert earlier.read_bytes() != b"earlier\n"


@pytest.mark.parametrize(("output", "told"), few(list(product(INPUTS, [(), ("--overwrite",)])), 3))
def test_what_is_read_stays_even_if_asked(here: Path, output: str, told: tuple[str, ...]) -> None:
    if told and output == "survey links --output":
        told = ()
    read = here / INPUTS[output]
    before = read.read_bytes()
    assert_one_line(cotally_here(*CALLS[output](INPUTS[output]), *told), 2, "is read by this command")
    assert read.read_bytes() == before


FORMATS = (Path(__file__).parents[3] / "party" / "FORMATS.md").read_text()
NONE: Mapping[str, str] = {
    "completion": "prints what a shell reads",
    "demo": "writes run.json",
    "export": "writes a model for other programs",
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
    **dict.fromkeys(("approve", "propose", "refuse"), "tests/integration/test_approval.py"),
    "pair": "tests/integration/test_pair.py", "crosstab": "tests/integration/test_crosstab.py",
}  # fmt: skip
QUICK = ("--shift", "1/10", "--power", "0.9")
JSON_CALLS: Mapping[str, tuple[str, ...]] = {
    "advise": ("advise", "job", "--belief", "2/3"),
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
    "rehearse": ("rehearse", "bob", "--data", "votes"),
    "rules": ("rules", "sets.json"),
    "rules --itemsets": ("rules", "sets.json", "--itemsets"),
    "show": ("show", "m.json"),
    "size": ("size", "design.toml", "--half-width", "0.05"),
    "size --expression": ("size", "design.toml", "--half-width", "0.05", "--expression", "married = yes"),
    "size of baskets": ("size", "baskets.toml", "--half-width", "0.05"),
    "status": ("status", "bob"),
    "survey results": ("survey", "results", "study/survey.toml"),
    "survey status": ("survey", "status", "study/survey.toml"),
    "upgrade": ("upgrade", "bob"),
    "trust": ("trust", "alice", "bob/cert.pem"),
}
FAILS = {"doctor": 3}  # nobody serves


def test_every_command_prints_json_or_says_why_not() -> None:
    lacking = {name for name, parser in parsers() if "--json" not in parser._option_string_actions}
    assert lacking == {*NONE}
    tried = {*NEEDS_A_PEER} | {name for name, _ in parsers() if any(call.startswith(name) for call in JSON_CALLS)}
    assert tried == {name for name, _ in parsers()} - {*NONE}
    for name, path in NEEDS_A_PEER.items():
        text = (Path(__file__).parents[3] / path).read_text()
        assert f'"{name}"' in text
        assert '"--json"' in text


def test_what_is_printed_is_json_of_a_format_that_is_described(here: Path) -> None:
    for call, words in JSON_CALLS.items():
        ended = cotally_here(*words, "--json")
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
    assert f"{told['known']:,} rows (rows trained on included), {told['correct']:,} of them right" in words.err
    size = json.loads(cotally_here(*JSON_CALLS["size --expression"], "--json").out)["enough"][0]
    assert cotally_here(*JSON_CALLS["size --expression"]).out.startswith(
        f"{size['respondents']} respondents are enough"
    )
