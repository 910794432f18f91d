"""What people expect of commands: suggestions for misspelt words, completion, as much told as asked."""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from party.cli import main as cli
from party.cli.main import COMMANDS, command_parser, main
from party.errors import ConfigError
from party.models.any_file import write_model
from party.node.aligning import offer_of_settings
from party.settings.party import read_party_config
from party.settings.place import party_folder, settings_file
from tests.support.commands import inner, parsers
from tests.support.models import small_model
from tests.support.processes import assert_one_line, cotally_here


def test_the_bare_command_shows_its_help_and_in_a_partys_folder_offers_its_short_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = cotally_here()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("usage: cotally")
    assert "Examples:\n  cotally demo\n" in ended.out
    monkeypatch.chdir(tmp_path)
    assert_one_line(cotally_here("check"), 2, "required: PARTY (see")
    (tmp_path / "party.toml").touch()
    assert_one_line(cotally_here("check"), 2, "required: PARTY; the party here is . (a dot) (see")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_less_or_more(name: str) -> None:
    words = [name, "status"] if name == "survey" else [name]
    assert_one_line(cotally_here(*words, "--quiet", "--verbose"), 2, "not allowed with argument")
    assert name in command_parser(name).format_help()


def test_quiet_leaves_notes_out_and_verbose_tells_more_and_no_cell(tmp_path: Path) -> None:
    write_model(tmp_path / "m.json", small_model())
    (tmp_path / "rows.csv").write_text("alice.age,city,bob.age\n?,x,no\n")
    words = ("predict", tmp_path / "m.json", tmp_path / "rows.csv")
    plain, quiet = cotally_here(*words), cotally_here(*words, "-q")
    assert "missing" in plain.err
    assert (quiet.code, quiet.out, quiet.err) == (0, plain.out, "")
    assert_one_line(cotally_here("predict", "-q", tmp_path / "absent", tmp_path / "rows.csv"), 2, "does not exist")
    write_model(tmp_path / "m.json", small_model())
    (tmp_path / "rows.csv").write_text("alice.age,city,bob.age\nsecret-cell,x,no\n")
    ended = cotally_here("predict", "-v", tmp_path / "m.json", tmp_path / "rows.csv", "-o", tmp_path / "out.csv")
    assert ended.code == 0
    assert "debug cotally 0." in ended.err
    assert "debug predict has ended after" in ended.err
    assert "secret-cell" not in ended.err
    assert "debug" not in cotally_here("show", tmp_path / "m.json").err  # nothing of it stays on


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (("cotally", "tr"), {"trust", "train"}),
        (("cotally", "train", "--fr"), {"--fresh"}),
        (("cotally", "survey", "res"), {"results"}),
    ],
)
def test_bash_completes_commands_and_options(tmp_path: Path, line: tuple[str, ...], offered: set[str]) -> None:
    printed = cotally_here("completion", "bash")
    assert printed.code == 0
    (tmp_path / "completion.bash").write_text(printed.out)
    program = f"""
source {tmp_path / "completion.bash"}
COMP_WORDS=({" ".join(line)}); COMP_CWORD={len(line) - 1}
function_of() {{ complete -p cotally | sed 's/.*-F \\([^ ]*\\).*/\\1/'; }}
$(function_of) cotally {line[-1]} {line[-2]}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert {word.strip() for word in done.stdout.split()} == offered, done.stderr


def test_status_and_doctor_are_for_programs_too(tmp_path: Path) -> None:
    folder = tmp_path / "alice"
    assert cotally_here("init", "alice", "--dir", folder, "--key-bits", "2048").code == 0
    runs = cotally_here("status", folder, "--json")
    assert (runs.code, json.loads(runs.out)) == (0, {"format": "cotally-runs/1", "runs": []})
    ended = cotally_here("doctor", folder, "--json")
    told = json.loads(ended.out)
    assert told["format"] == "cotally-doctor/1"
    assert {tuple(layer) for layer in told["layers"]} == {("layer", "seen", "error")}
    errors = [layer["error"] for layer in told["layers"] if layer["error"]]
    assert ended.code == 2
    assert errors[0] in ended.err


SETTINGS = 'name = "alice"\n[data]\nfile = "data.csv"\nid = "id"\nclass = "c"\n'


def test_settings_without_rows_to_classify_say_to_name_a_file_and_serve_again(tmp_path: Path) -> None:
    (tmp_path / "party.toml").write_text(SETTINGS)
    with pytest.raises(ConfigError, match="names no file: name one, then start `cotally serve` again"):
        offer_of_settings(read_party_config(tmp_path / "party.toml"))


def test_each_action_of_a_survey_tells_its_exits_and_what_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
    for action in ["new", "links", "serve", "status", "results", "close", "export", "publish"]:
        with pytest.raises(SystemExit):
            main(["survey", action, "--help"])
        told = capsys.readouterr().out
        assert "Next:\n  cotally " in told
        assert "Exit codes: 0 done" in told


HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "grpc", "google", "cryptography", "gmpy2", "phe", "jinja2", "shtab")
ENDINGS = """
import sys
from pathlib import Path
from contextlib import suppress
from party.cli.main import COMMANDS, main
for words in WORDS:
    with suppress(SystemExit):
        main(words)
    heavy = {*HEAVY, *(f"party.cli.{command.work}" for command in COMMANDS.values())} & {*sys.modules}
    print(f"after {words}: {sorted(heavy)}", file=sys.stderr)
"""


def imported_by(*calls: list[str]) -> list[str]:
    """Return what a new process tells of the heavy modules that it has after each of these calls."""
    program = f"WORDS, HEAVY = {calls!r}, {HEAVY!r}\n{ENDINGS}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [line for line in done.stderr.splitlines() if line.startswith("after ")]


def test_help_imports_nothing_heavy() -> None:
    calls = [[], ["--help"], ["--version"], *([name, "--help"] for name in cli.COMMANDS)]
    calls += [["survey", "results", "--help"], ["trian"], ["train", "--frehs", "x"], ["mine", "forest", "x", "y"]]
    assert imported_by(*calls) == [f"after {words}: []" for words in calls]
    (told,) = imported_by(["show", "absent.json"])
    assert "'numpy', 'party.cli.report'" in told


def test_every_command_has_help_and_an_unknown_action_is_one_line() -> None:
    for command in ((), *((name,) for name in cli.COMMANDS)):
        ended = cotally_here(*command, "--help")
        assert ended.code == 0
        assert ended.out.startswith("usage: cotally")
    told = cotally_here("--help").out
    assert all(re.search(rf"^    {name}\s", told, re.MULTILINE) for name in cli.COMMANDS)
    assert_one_line(cotally_here("survey", "statsu", "x"), 2, "did you mean 'status'?")


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """Return the examples in a help, without where their output goes."""
    lines = parser.format_help().split("\nExamples:\n")[1].splitlines()
    return [line.split(" > ")[0] for line in lines if line.startswith("  cotally ")]


def whole_parsers() -> dict[str, argparse.ArgumentParser]:
    survey = inner(cli.command_parser("survey"))[0]["survey"]
    return {**dict(parsers()), "survey": survey}


@pytest.mark.parametrize("name", whole_parsers())
def test_every_help_has_examples_that_its_command_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # `disguise --example` writes there
    monkeypatch.setenv("COLUMNS", "200")
    command, found = name.split(maxsplit=1)[0], examples(whole_parsers()[name])
    assert found
    for example in found:
        _, *words = shlex.split(example)
        asked = words[0] if words[0] in cli.COMMANDS else command
        assert name == "survey" or " ".join(words).startswith(name)
        if "--example" in words:
            assert cotally_here(*words).code == 0
        else:
            assert cli.command_parser(asked).parse_args(words).command == asked


def test_an_example_that_no_command_takes_is_seen() -> None:
    with pytest.raises(SystemExit):
        cli.command_parser("train").parse_args(["train", "bob", "job.toml", "--frehs"])


CALLS: dict[str, tuple[str, ...]] = {
    "align": ("align", "PARTY"),
    "cancel": ("cancel", "PARTY", "0123456789abcdef"),
    "check": ("check", "PARTY"),
    "doctor": ("doctor", "PARTY"),
    "keys": ("keys", "renew", "PARTY"),
    "ledger": ("ledger", "PARTY"),
    "pair": ("pair", "PARTY"),
    "plan": ("plan", "PARTY", "other.toml"),
    "predict": ("predict", "PARTY", "--with", "alice", "data.csv"),
    "report": ("report", "PARTY", "-o", "report.html"),
    "serve": ("serve", "PARTY"),
    "status": ("status", "PARTY"),
    "train": ("train", "PARTY", "other.toml"),
    "trust": ("trust", "PARTY", "alice/cert.pem"),
}


@pytest.fixture
def home(here: Path) -> Path:
    """The present folder, with the party bob in the folder `home`; what calls or listens fails at once."""
    (here / "bob").rename(here / "home")
    settings = here / "home" / "party.toml"
    kept = [line for line in settings.read_text().splitlines() if not line.startswith(("listen", "address"))]
    settings.write_text("\n".join([*kept, ""]))
    (here / "other.toml").write_text('method = "forest"\n')
    return here


def test_every_command_of_a_party_is_tried() -> None:
    """`predict` takes a model or a party."""
    assert {*CALLS} == {name for name, parser in parsers() if "party" in {a.dest for a in parser._actions}} | {
        "predict"
    }


@pytest.mark.parametrize("name", CALLS)
def test_a_party_is_named_in_three_ways_alike(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ends = []
    for number, party in enumerate(("home", "home/party.toml", "bob")):
        copy = shutil.copytree(home, home.parent / f"copy-{number}")
        monkeypatch.chdir(copy)
        ends.append(cotally_here(*(party if word == "PARTY" else word for word in CALLS[name])))
    assert ends[0].code in (0, 2)
    assert ends[0] == ends[1] == ends[2]
    assert "does not exist, and no party here" not in ends[0].err


def test_a_name_is_of_a_folder_here_or_of_settings_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name in (("alice", "alice"), ("one", "bob"), ("two", "carol"), ("three", "carol")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "party.toml").write_text(f'name = "{name}"\n')
    (tmp_path / "two" / "settings.toml").write_text('name = "dora"\n')
    places = {"alice": "alice/party.toml", "bob": "one/party.toml", "one": "one/party.toml"}
    places |= {path: path for path in ("two/settings.toml", "absent/party.toml")}
    for named, found in places.items():
        assert settings_file(Path(named)) == Path(found)
        assert party_folder(Path(named)) == Path(found).parent
    with pytest.raises(
        ConfigError, match=r"several parties here are named carol: name the folder of one \(three, two\)"
    ):
        settings_file(Path("carol"))
    with pytest.raises(ConfigError, match=r"there is no party.toml here: name the party"):
        settings_file(Path("party.toml"))
    with pytest.raises(ConfigError, match=r"dora does not exist, and no party here has this name"):
        settings_file(Path("dora"))
    monkeypatch.chdir(tmp_path / "one")
    assert settings_file(Path("bob")) == Path("party.toml")
    (tmp_path / "one" / "party.toml").write_bytes(b"\xff = [")
    with pytest.raises(ConfigError, match="no party here has this name"):
        settings_file(Path("bob"))
