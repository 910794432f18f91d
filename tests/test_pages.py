"""The site of all pages: its reference is that of the product, its links lead somewhere, and it loads nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from party.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "scripts" / "pages"


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    sys.path.insert(0, str(PAGES))
    import build  # a script's own folder is on its path

    yield build
    sys.path.remove(str(PAGES))


def test_the_page_of_settings_is_that_of_the_declared_keys(build: ModuleType) -> None:
    assert build.SETTINGS.read_text("utf-8") == build.reference.settings(), "run scripts/docs --settings"


def test_the_page_of_commands_has_each_with_its_options(build: ModuleType) -> None:
    page = build.reference.commands()
    assert all(f"\n## cotally {name}\n" in page for name in COMMANDS)
    assert "\n### cotally survey serve\n" in page
    assert "| `--seal passphrase or keyring` |" in page


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<script src="https://cdn.example.org/a.js">', True),
        ('<link rel="stylesheet" href=//fonts.example.org/css>', True),
        ("a { background: url('http://example.org/a.png') }", True),
        ('<a href="https://example.org/">a link</a> <img src="a.svg">', False),
    ],
)
def test_what_a_page_would_load_from_elsewhere_is_found(
    text: str, loads: bool, tmp_path: Path, build: ModuleType
) -> None:
    (tmp_path / "a.html").write_text(text)
    assert bool(build.outside(tmp_path)) is loads


@pytest.mark.full
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "docs", "-o", tmp_path / "site"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "guide" / "docs" / "commands.html").exists()
    assert "most_predictions" in (tmp_path / "site" / "search" / "search_index.json").read_text("utf-8")
