import subprocess
import sys

import pytest

from party.cli import start as start_module


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
