import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.cli import main as cli
from party.cli import report
from party.cli import start as start_module
from party.errors import PausedError, PeerLostError, exit_code
from party.keys.identity import load_identity, load_peers
from party.keys.keystore import load_key, load_secret
from party.models.tree_file import tree_from_json
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.template import party_files
from party.show.log import DEBUG
from party.show.progress import Step, make_progress
from party.show.tree import to_dot
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError
from protocols.terms import NO_CLASS
from tests.support.models import small_model
from tests.support.processes import assert_one_line, cotally_here


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
        other_tables = bare.startswith("items = ")  # rows of ids and items, which `repeated` is not for
        lines.append(bare if line.startswith("# ") and " = " in bare and not other_tables else line)
    (tmp_path / "party.toml").write_text("\n".join(lines))
    config = read_party_config(tmp_path / "party.toml")
    assert config.data.class_column == "outcome"
    assert config.need_peer() == "bob"
    assert config.columns.others.max_values == 8


def test_init_shows_the_fingerprint_that_trust_shows(parties: Path) -> None:
    made = cotally_here("init", "carol", "--dir", parties / "carol", "--key-bits", "2048")
    trusted = cotally_here("trust", parties / "alice", parties / "carol" / "cert.pem")
    fingerprint = load_identity(parties / "carol").fingerprint
    assert (made.code, trusted.code) == (0, 0)
    assert fingerprint in made.out
    assert "Next: the party that calls, by `cotally train`, sets the other's [node] address in" in made.out
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
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        [sys.executable, "-m", "party.cli.main", "show", model], capture_output=True, env=environment, check=True
    )
    assert b"\\u251c" in ended.stdout


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
    (InputError("x"), 2),
    (PeerError("x"), 3),
    (PeerLostError("x"), 3),
    (DeviationError(), 3),
    (PausedError("x"), 4),
    (DisagreementError("omega", "x"), 5),
    (ValueError("x"), 1),
    (KeyboardInterrupt(), 130),
    (BrokenPipeError(), 141),
]


def kinds(kind: type[CotallyError]) -> Iterator[type[CotallyError]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda end: type(end).__name__)
def test_every_end_has_its_code(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_drop", lambda _: None)  # of the real output, which a test has lent
    monkeypatch.setattr(report, "command_show", fail)
    assert cotally_here("show", "x").code == code
    assert code in TABLE


def test_every_end_has_its_code_in_one_table_that_says_who_is_to_act() -> None:
    """Of errors that this party can mend 2, where both must talk 5, where the other acts 3, where both wait 4."""
    for kind in kinds(CotallyError):  # without their arguments: an error's kind alone tells its code
        error = kind.__new__(kind)
        expected = 2
        if issubclass(kind, PeerError):
            expected = 4 if kind is PausedError else 5 if kind is DisagreementError else 3
        if kind.__name__ not in {"DemoError", "PartyFailedError", "StoppedHereError"}:  # which end otherwise
            assert exit_code(error) == expected, kind
    assert {code for _, code in ENDS} | {0, 143} == TABLE
    assert "5 the parties differ" in (Path(__file__).parents[3] / "README.md").read_text()
