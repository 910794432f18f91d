"""What people expect of commands: suggestions for misspelt words, completion, as much told as asked."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from party.cli.main import COMMANDS, command_parser, main
from party.errors import ConfigError
from party.models.any_file import write_model
from party.node.aligning import offer_of_settings
from party.settings.party import read_party_config
from tests.support.models import small_model
from tests.support.processes import assert_one_line, cotally_here


def test_the_bare_command_shows_its_help() -> None:
    ended = cotally_here()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("usage: cotally")
    assert "Examples:\n  cotally demo\n" in ended.out


def test_in_a_folder_of_a_party_its_short_name_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_line(cotally_here("check"), 2, "required: PARTY (see")
    (tmp_path / "party.toml").touch()
    assert_one_line(cotally_here("check"), 2, "required: PARTY; the party here is . (a dot) (see")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_less_or_more(name: str) -> None:
    words = [name, "status"] if name == "survey" else [name]
    assert_one_line(cotally_here(*words, "--quiet", "--verbose"), 2, "not allowed with argument")
    assert name in command_parser(name).format_help()


def test_quiet_leaves_notes_out_and_keeps_results_and_errors(tmp_path: Path) -> None:
    write_model(tmp_path / "m.json", small_model())
    (tmp_path / "rows.csv").write_text("alice.age,city,bob.age\n?,x,no\n")
    words = ("predict", tmp_path / "m.json", tmp_path / "rows.csv")
    plain, quiet = cotally_here(*words), cotally_here(*words, "-q")
    assert "missing" in plain.err
    assert (quiet.code, quiet.out, quiet.err) == (0, plain.out, "")
    assert_one_line(cotally_here("predict", "-q", tmp_path / "absent", tmp_path / "rows.csv"), 2, "does not exist")


def test_verbose_tells_more_and_no_cell(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("action", ["new", "links", "serve", "status", "results", "close", "export", "publish"])
def test_each_action_of_a_survey_tells_its_exits_and_what_comes_next(
    action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["survey", action, "--help"])
    told = capsys.readouterr().out
    assert "Next:\n  cotally " in told
    assert "Exit codes: 0 done" in told
