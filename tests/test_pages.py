"""The site of all pages: its reference is that of the product, its links lead somewhere, and it loads nothing."""

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import visibility_of_element_located as visible
from selenium.webdriver.support.wait import WebDriverWait

from party.cli.main import COMMANDS
from tests.support.browser import chromium
from tests.support.scripts import imported

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "scripts" / "pages"


@pytest.fixture(scope="module")
def build() -> Iterator[ModuleType]:
    with imported(PAGES, "build") as module:
        yield module


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


def test_no_page_of_the_site_links_to_a_folder(tmp_path: Path, build: ModuleType) -> None:
    build.stage(tmp_path)
    pages = list(tmp_path.rglob("*.md"))
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s#:]+)[)#]", page.read_text("utf-8"))]
    assert len(links) > 50
    assert [(page.name, link) for page, link in links if not (page.parent / link).is_file()] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site as it is built, without a warning, and served; its address."""
    folder = tmp_path_factory.mktemp("pages") / "site"
    done = subprocess.run([ROOT / "scripts" / "docs", "-o", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.full
def test_a_browser_that_searches_the_site_loads_nothing_from_elsewhere(site: str, tmp_path: Path) -> None:
    with chromium(tmp_path, "--window-size=1300,900") as browser:
        browser.get(f"{site}guide/docs/commands.html")
        wait = WebDriverWait(browser, 60)
        wait.until(visible((By.CSS_SELECTOR, "input.md-search__input"))).send_keys("most_predictions")
        wait.until(visible((By.CSS_SELECTOR, ".md-search-result__item")))
        loaded = browser.execute_script("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert len(loaded) > 3
    assert [name for name in loaded if not name.startswith((site, "data:", "blob:"))] == []
