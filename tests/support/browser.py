"""A real Chromium, and a proxy that keeps every byte that a page sends."""

import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

_BROWSER, _DRIVER = "chromium", "chromedriver"


@contextmanager
def chromium(profile: Path, *more: str) -> Iterator[webdriver.Chrome]:
    """Start a browser with a profile of its own; skip the test where there is none."""
    browser, driver = shutil.which(_BROWSER), shutil.which(_DRIVER)
    if browser is None or driver is None:
        pytest.skip("no chromium and chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    arguments = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={profile}", *more)
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield opened
    finally:
        opened.quit()


def everything_kept(browser: webdriver.Chrome) -> dict[str, str]:
    """Return all that a page of this origin can read in the browser's storages, as a later page of it would."""
    found: dict[str, str] = browser.execute_async_script(
        """
        const done = arguments[0];
        (async () => {
          const found = { ...localStorage };
          Object.entries(sessionStorage).forEach(([name, value]) => { found[`session ${name}`] = value; });
          if (document.cookie) found.cookie = document.cookie;
          for (const { name } of await indexedDB.databases()) found[`database ${name}`] = "";
          for (const name of await globalThis.caches?.keys() ?? []) found[`cache ${name}`] = "";
          done(found);
        })();
        """
    )
    return found


def let_fall(browser: webdriver.Chrome, coins: Sequence[int], drawn: Sequence[int] = ()) -> None:
    """Let the coins that the page tosses next fall on these sides, block by block, and then draw these answers."""
    browser.execute_script(
        """
        const survey = JSON.parse(document.getElementById("survey").textContent);
        const before = (weights, side) => weights.slice(0, side).reduce((sum, each) => sum + BigInt(each), 0n);
        const questions = survey.blocks.flatMap((block) => block.questions).filter(({ drawn }) => drawn.length > 0);
        const draws = survey.blocks.map(({ coin }, number) => before(coin, arguments[0][number]))
          .concat(questions.map(({ drawn }, number) => before(drawn, arguments[1][number] ?? 0)));
        crypto.getRandomValues = (array) => { array[0] = draws.shift(); return array; };
        """,
        list(coins),
        list(drawn),
    )


class Recorder:
    """Stands before a server and keeps what is sent to it."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._sent: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def sent(self) -> bytes:
        """All that was sent, in the order of its coming."""
        return b"".join(self._sent)

    def turn_to(self, address: str) -> None:
        """Stand before another server from now on, at the same address: to a browser it is the same site."""
        host, _, port = address.rpartition(":")
        self._target = (host, int(port))

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                inner, _ = self._listener.accept()
                outer = socket.create_connection(self._target)
                for source, target, keep in ((inner, outer, self._sent), (outer, inner, None)):
                    threading.Thread(target=_pump, args=(source, target, keep), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket, kept: list[bytes] | None) -> None:
    with suppress(OSError):
        while part := source.recv(65536):
            if kept is not None:
                kept.append(part)
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def recording(address: str) -> Iterator[Recorder]:
    """Record what is sent to a server."""
    host, _, port = address.rpartition(":")
    recorder = Recorder(host, int(port))
    try:
        yield recorder
    finally:
        recorder.close()


def load(browser: webdriver.Chrome, address: str) -> None:
    """Load a page again, even where only its fragment differs."""
    browser.get("about:blank")
    browser.get(address)
