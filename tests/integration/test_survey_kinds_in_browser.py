"""Crosswise, triangular and forced questions, answered in a real Chromium by the keyboard alone, with a typed code."""

from collections.abc import Sequence
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from party.settings.collector import read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import spaced
from tests.support.browser import let_fall
from tests.support.collecting import BESIDE, STATEMENTS, add_links, collector, write_survey_files
from tests.support.examples import few

FORCED = """
kind = "forced"
theta = "1/2"
[columns]
smokes = { values = ["yes", "no"], missing = "refuse" }
income = { values = ["low", "middle", "high"], missing = "refuse" }
[groups]
habits = ["smokes"]
money = ["income"]
[forced]
smokes = { yes = "1/2", no = "1/2" }
income = { low = "1/6", middle = "1/3", high = "1/2" }
"""


Fallen = tuple[Sequence[int], Sequence[int]]
"""How the coins fall, and what is drawn."""


def answer_by_keyboard(
    browser: webdriver.Chrome, address: str, code: str, ticked: Sequence[int], fallen: Fallen
) -> None:
    """Type the code, tick of each question the answer with this number, and send; no click."""
    browser.get(f"http://{address}/")
    let_fall(browser, *fallen)
    left = list(ticked)
    for _ in range(40):
        focused = browser.switch_to.active_element
        kind = focused.get_attribute("type")
        if focused.get_attribute("id") == "code":
            focused.send_keys(spaced(code).lower())
        elif kind == "radio":
            focused.send_keys(Keys.SPACE)
            for _ in range(left.pop(0)):
                browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
        elif kind == "submit":
            focused.send_keys(Keys.ENTER)
            break
        browser.switch_to.active_element.send_keys(Keys.TAB)
    assert left == []
    WebDriverWait(browser, 20).until(lambda b: b.find_element(By.ID, "done").is_displayed())


def answered(
    path: Path, browser: webdriver.Chrome, ticked: Sequence[Sequence[int]], fallen: Sequence[Fallen]
) -> list[list[int]]:
    """Let one respondent per row answer; return each response."""
    settings, found = read_collector_settings(path), []
    digest = survey_digest(settings.questionnaire)
    with open_store(settings.store, digest, make=True) as store:
        codes = add_links(store, len(ticked))
    before: list[bytes] = []
    with collector(path) as (_, address):
        for code, row, fell in zip(codes, ticked, fallen, strict=True):
            answer_by_keyboard(browser, address, code, row, fell)
            with open_store(settings.store, digest) as store:
                after = store.responses()
            for response in before:
                after.remove(response)
            (new,) = after
            before.append(new)
            found.append(list(new))
    return found


def test_two_statements_are_answered_by_the_keyboard_and_sent_as_ticked(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    """Crosswise: that both are true, or both are not; triangular: that neither is true, and that one is at least."""
    rows = [(1, 0), (0, 1)]
    found = answered(write_survey_files(tmp_path, STATEMENTS, BESIDE), browser, rows, [((0, 0), ())] * 2)
    assert found == [list(row) for row in rows]
    assert browser.find_element(By.ID, "done").text


def test_forced_answers_are_the_truth_or_what_the_die_says(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Each side of both coins, and each answer that is drawn (under `--all`) or two of each question."""
    cases = few(range(12), 5)
    rows = [(k % 2, k % 3) for k in cases]
    fallen = [((k // 6, k // 3 % 2), (k // 2 % 2, (k + k // 3) % 3)) for k in cases]
    found = answered(write_survey_files(tmp_path, FORCED, ""), browser, rows, fallen)
    for row, (coins, drawn), response in zip(rows, fallen, found, strict=True):
        assert response == [drawn[k] if coins[k] else row[k] for k in range(2)]
