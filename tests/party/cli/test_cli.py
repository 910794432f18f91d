import argparse
import io
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest.mock import Mock

import pytest

from party.cli import main as cli
from party.cli import report
from party.cli import start as start_module
from party.cli.main import COMMANDS, main
from party.errors import ConfigError, PausedError, PeerLostError, exit_code
from party.keys.identity import load_identity, load_peers
from party.keys.keystore import load_key, load_secret
from party.models.any_file import write_model
from party.models.tree_file import tree_from_json
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.place import party_folder, settings_file
from party.settings.template import party_files
from party.show.log import DEBUG
from party.show.progress import Step, make_progress
from party.show.tree import to_dot
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError
from protocols.terms import NO_CLASS
from tests.support.commands import inner, parsers
from tests.support.examples import few
from tests.support.models import small_model
from tests.support.processes import assert_one_line, cotally_here, run_here


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `alice` and `bob` were made by the command: to copy."""
    folder = tmp_path_factory.mktemp("parties")
    for name in ("alice", "bob"):
        ended = cotally_here(
            "init", name, "--dir", folder / name, "--host", f"{name}.example.org", "--key-bits", "2048"
        )
        assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def parties(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "parties"))


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_party_has_keys_and_settings_that_load(parties: Path) -> None:
    folder = parties / "alice"
    assert {path.name for path in folder.iterdir()} >= {
        "cert.pem", "key.pem", "paillier.key", "party.toml", "secret.key",
    }  # fmt: skip
    assert folder.stat().st_mode & 0o777 == 0o700
    identity = load_identity(folder)
    assert (identity.name, identity.hosts) == ("alice", ("alice.example.org",))
    assert load_key(folder, 2048).bits == 2048
    assert len(load_secret(folder)) == 32
    config = read_party_config(folder / "party.toml")
    assert (config.name, config.agree.smallest_key_bits) == ("alice", 2048)


@pytest.mark.parametrize("name", [name for name in party_files("bob", 3072) if name.startswith("job")])
def test_every_job_of_a_new_party_is_legal_with_and_without_the_keys_in_its_comments(tmp_path: Path, name: str) -> None:
    text = party_files("bob", 3072)[name]
    for commented in ("", *re.findall(r"^# (\w+ = .*)", text, re.MULTILINE)):
        (tmp_path / name).write_text(f"{text}\n{commented}\n")
        assert read_job(tmp_path / name).terms.class_name in {"outcome", NO_CLASS}


def test_every_comment_of_the_settings_file_is_legal_when_it_is_uncommented(tmp_path: Path) -> None:
    lines = []
    for line in party_files("alice", 3072)["party.toml"].splitlines():
        bare = line.removeprefix("# ")
        other_tables = bare.startswith(("items = ", "query = "))  # which `repeated` and `file` are not for
        lines.append(bare if line.startswith("# ") and " = " in bare and not other_tables else line)
    (tmp_path / "party.toml").write_text("\n".join(lines))
    config = read_party_config(tmp_path / "party.toml")
    assert config.data.class_column == "outcome"
    assert config.need_peer() == "bob"
    assert config.columns.others.max_values == 16


def test_init_shows_the_fingerprint_that_trust_shows(parties: Path) -> None:
    made = cotally_here("init", "carol", "--dir", parties / "carol", "--key-bits", "2048")
    trusted = cotally_here("trust", parties / "alice", parties / "carol" / "cert.pem")
    fingerprint = load_identity(parties / "carol").fingerprint
    assert (made.code, trusted.code) == (0, 0)
    assert fingerprint in made.out
    assert "Next: at the party that calls, by `cotally train`, set `[node] address` in" in made.out
    assert fingerprint in trusted.out
    assert "telephone" in trusted.out
    assert 'set peer = "carol"; the party that calls, by `cotally train`,' in trusted.out
    assert "the party that listens needs none" in trusted.out
    assert load_peers(parties / "alice")["carol"].fingerprint == fingerprint
    settings = parties / "alice" / "party.toml"
    settings.write_text(settings.read_text().replace('# peer = "bob"', 'peer = "carol"'))
    assert 'peer = "carol"' in settings.read_text()
    again = cotally_here("trust", parties / "alice", parties / "carol" / "cert.pem").out
    assert "party.toml names it as the peer" in again
    assert "set peer" not in again


def test_init_keeps_what_is_there_adds_nothing_and_is_fine_beside_the_data(tmp_path: Path) -> None:
    for name in ("cert.pem", "key.pem", "paillier.key", "party.toml", "secret.key"):
        folder = tmp_path / name.replace(".", "-")
        folder.mkdir()
        (folder / name).write_text("mine")
        (folder / "data.csv").write_text("id\n1\n")
        before = snapshot(folder)
        assert_one_line(
            cotally_here("init", "dora", "--dir", folder, "--key-bits", "2048"), 2, name, "exists and is kept"
        )
        assert snapshot(folder) == before
        assert sorted(path.name for path in folder.iterdir()) == sorted([name, "data.csv"])
    (tmp_path / "data.csv").write_text("id\n1\n")
    assert cotally_here("init", "dora", "--dir", tmp_path, "--key-bits", "2048").code == 0
    assert (tmp_path / "data.csv").read_text() == "id\n1\n"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_version_is_that_of_the_package_and_settings_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for text in party_files("alice", 3072).values():
        assert max(map(len, text.splitlines())) <= 100
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out.startswith("cotally 0.")


def test_show_prints_text_drawing_or_json(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", str(model)]) == 0
    assert "alice.age [7 9]" in capsys.readouterr().out
    assert cli.main(["show", "--dot", str(model)]) == 0
    assert capsys.readouterr().out == to_dot(small_model())
    assert cli.main(["show", "--json", str(model)]) == 0
    assert tree_from_json(capsys.readouterr().out) == small_model()
    assert cli.main(["show", "--levels", "0", str(model)]) == 0
    assert capsys.readouterr().out.endswith("alice.age [7 9] …\n")


def test_a_terminal_without_the_characters_gets_stand_ins(model: Path) -> None:
    with (model.parent / "shown").open("w", encoding="ascii") as out:
        assert run_here(["show", model], out, io.StringIO()) == 0
    assert "\\u251c" in (model.parent / "shown").read_text()


def test_an_unexpected_error_is_one_line_without_its_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ValueError("a cell's content")

    monkeypatch.setattr(report, "command_show", fail)
    monkeypatch.delenv(DEBUG, raising=False)
    assert cli.main(["show", "x"]) == 1
    line = capsys.readouterr().err
    assert line.startswith("cotally: internal error: ValueError in test_cli.py, line ")
    assert line.count("\n") == 1
    assert "cell" not in line
    monkeypatch.setenv(DEBUG, "1")
    assert cli.main(["show", "x"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_one_line_as_is_an_error_of_the_peer_with_its_own_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "command_show", lambda _: (_ for _ in ()).throw(PeerError("two\nlines")))
    assert cli.main(["show", "x"]) == 3
    assert capsys.readouterr().err == "cotally: two lines\n"

    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "command_show", interrupt)
    assert cli.main(["show", "x"]) == 130
    assert capsys.readouterr().err == "cotally: interrupted\n"


def test_a_request_to_end_runs_what_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(_: object) -> int:
        signal.raise_signal(signal.SIGTERM)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(report, "command_show", end)
    try:
        with pytest.raises(SystemExit) as ended:
            cli.main(["show", "x"])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143


def test_an_error_stands_below_the_progress_that_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def fail(error: BaseException) -> int:
        with make_progress("auto") as display:
            display.show(Step("encrypting", 1, 4))
            raise error

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    for error, text in (
        (KeyboardInterrupt(), "interrupted"),
        (PeerError("bob ended the session"), "bob ended the session"),
    ):
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(report, "command_show", lambda _, error=error: fail(error))
        cli.main(["show", "x"])
        assert stream.getvalue() == f"\r\x1b[K{'━' * 5}{' ' * 15} encrypting 25%\ncotally: {text}\n"


def test_an_interruption_while_everything_is_loaded_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt(name)

    monkeypatch.setattr(start_module, "import_module", interrupted)
    assert start_module.start() == 130
    assert capsys.readouterr().err == "cotally: interrupted\n"


def test_the_entry_point_runs_the_command_line() -> None:
    command = [sys.executable, "-c", "import sys; from party.cli.start import start; sys.exit(start())", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("cotally ")


PAGE = (Path(__file__).parents[3] / "party" / "SYMPTOMS.md").read_text()
TABLE = {int(code) for code in re.findall(r"^\| (\d+) \| \S", PAGE, re.MULTILINE)}
ENDS: list[tuple[BaseException, int]] = [
    (InputError("x"), 2), (PeerError("x"), 3), (PeerLostError("x"), 3), (DeviationError(), 3), (PausedError("x"), 4),
    (DisagreementError("omega", "x"), 5), (ValueError("x"), 1), (KeyboardInterrupt(), 130), (BrokenPipeError(), 141),
]  # fmt: skip


def kinds(kind: type[CotallyError]) -> Iterator[type[CotallyError]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


def test_every_end_has_its_code_in_one_table_that_says_who_is_to_act(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of errors that this party can mend 2, where both must talk 5, where the other acts 3, where both wait 4."""
    for kind in kinds(CotallyError):  # without their arguments: an error's kind alone tells its code
        error = kind.__new__(kind)
        expected = 2
        if issubclass(kind, PeerError):
            expected = 4 if kind is PausedError else 5 if issubclass(kind, DisagreementError) else 3
        if kind.__name__ not in {"DemoError", "PartyFailedError", "StoppedHereError"}:  # which end otherwise
            assert exit_code(error) == expected, kind
    monkeypatch.setattr(cli, "_drop", lambda _: None)  # of the real output, which a test has lent
    for end, code in ENDS:
        monkeypatch.setattr(report, "command_show", Mock(side_effect=end))
        assert cotally_here("show", "x").code == code, end
    assert {code for _, code in ENDS} | {0, 143} == TABLE


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


def test_every_command_says_less_or_more() -> None:
    for name in COMMANDS:
        words = [name, "status"] if name == "survey" else [name]
        assert_one_line(cotally_here(*words, "--quiet", "--verbose"), 2, "not allowed with argument")


def test_quiet_leaves_notes_out_and_verbose_says_more_and_no_cell(tmp_path: Path) -> None:
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
    assert (runs.code, json.loads(runs.out)) == (0, {"format": "cotally-runs/1", "runs": [], "proposals": []})
    ended = cotally_here("doctor", folder, "--json")
    told = json.loads(ended.out)
    assert told["format"] == "cotally-doctor/1"
    assert {tuple(layer) for layer in told["layers"]} == {("layer", "seen", "error")}
    errors = [layer["error"] for layer in told["layers"] if layer["error"]]
    assert ended.code == 2
    assert errors[0] in ended.err


def test_each_action_of_a_survey_shows_its_exits_and_what_comes_next(capsys: pytest.CaptureFixture[str]) -> None:
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
    *without, last = imported_by(*calls, ["show", "absent.json"])
    assert without == [f"after {words}: []" for words in calls]
    assert "'numpy', 'party.cli.report'" in last


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


def test_every_help_has_examples_that_its_command_would_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # `disguise --example` writes there
    monkeypatch.setenv("COLUMNS", "200")
    parser_of = cache(cli.command_parser)
    for name, parser in whole_parsers().items():
        found = examples(parser)
        assert found, name
        for example in found:
            _, *words = shlex.split(example)
            asked = words[0] if words[0] in cli.COMMANDS else name.split(maxsplit=1)[0]
            assert name == "survey" or " ".join(words).startswith(name)
            if "--example" in words:
                assert cotally_here(*words).code == 0
            else:
                assert parser_of(asked).parse_args(words).command == asked
    with pytest.raises(SystemExit):
        cli.command_parser("train").parse_args(["train", "bob", "job.toml", "--frehs"])


CALLS: dict[str, tuple[str, ...]] = {
    "align": ("align", "PARTY"),
    "approve": ("approve", "PARTY", "0123456789abcdef", "--as", "Ann"),
    "crosstab": ("crosstab", "PARTY", "a", "b"),
    "cancel": ("cancel", "PARTY", "0123456789abcdef"),
    "check": ("check", "PARTY"),
    "doctor": ("doctor", "PARTY"),
    "keys": ("keys", "renew", "PARTY"),
    "ledger": ("ledger", "PARTY"),
    "pair": ("pair", "PARTY"),
    "plan": ("plan", "PARTY", "other.toml"),
    "predict": ("predict", "PARTY", "--with", "alice", "data.csv"),
    "rehearse": ("rehearse", "PARTY", "other.toml"),
    "propose": ("propose", "PARTY", "other.toml"),
    "refuse": ("refuse", "PARTY", "0123456789abcdef", "--as", "Ann"),
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


@pytest.mark.parametrize("name", few(list(CALLS), 5))
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
    monkeypatch.chdir(tmp_path / "one")
    assert settings_file(Path("bob")) == Path("party.toml")
    (tmp_path / "one" / "party.toml").write_bytes(b"\xff = [")
    with pytest.raises(ConfigError, match="no party here has this name"):
        settings_file(Path("bob"))
