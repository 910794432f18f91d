"""A later page of a survey's origin reads all that the browser has kept: what was sent, and no more (SECURITY).

The collector may serve such a page to the same people, under the same address, at any time.
"""

import json
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from party.settings.collector import read_collector_settings
from party.survey.web.description import survey_digest
from tests.support.browser import everything_kept, let_fall, load, recording
from tests.support.collecting import BROWSER_DESIGNS, collector, survey_with_links
from tests.support.processes import cotally_here

ALIKE = {
    # of two respondents who send the same: how their coins fall, and what each answers; the first sends the truth
    "related": (((0, 0), "000"), ((1, 2), "111")),
    "unrelated": (((0, 0, 0), "000"), ((1, 1, 0), "110")),
}
"""A group of three values is moved on by two places: 1 is sent as 0; personal and drawn answers are the first."""


def answer(browser: webdriver.Chrome, truths: str) -> None:
    """Choose these answers, and the first to each personal question."""
    for column, value in enumerate(truths):
        browser.find_element(By.CSS_SELECTOR, f'input[name="a{column}"][value="{value}"]').click()
    for first in browser.find_elements(By.CSS_SELECTOR, 'input[name^="p"][value="0"]'):
        first.click()


def send(browser: webdriver.Chrome) -> None:
    browser.find_element(By.ID, "send").click()
    WebDriverWait(browser, 20).until(lambda b: b.find_element(By.ID, "done").is_displayed())


@pytest.mark.parametrize("kind", BROWSER_DESIGNS)
def test_what_a_later_page_reads_is_the_same_whatever_is_true_of_who_has_sent_the_same(
    browser: webdriver.Chrome, tmp_path: Path, kind: str
) -> None:
    path, codes = survey_with_links(tmp_path / "s", kind, 2)
    with collector(path) as (_, address), recording(address) as recorder:
        read = []
        for code, (coins, truths) in zip(codes, ALIKE[kind], strict=True):
            load(browser, f"http://{recorder.address}/#{code}")
            browser.execute_script("localStorage.clear()")
            let_fall(browser, coins)
            answer(browser, truths)
            assert everything_kept(browser) == {}
            send(browser)
            load(browser, f"http://{recorder.address}/form")  # another page of that origin
            ((name, value),) = everything_kept(browser).items()
            assert name.endswith(f" {code}")
            read.append(json.loads(value))
        assert read[0] == read[1] == {"response": [0, 0, 0]}
        assert recorder.sent.count(b'"answers":"000000"') == 2
        # the control: were the coins kept too, the same reading would tell the two apart
        told = []
        for coins, _ in ALIKE[kind]:
            browser.execute_script("localStorage.setItem('planted', JSON.stringify(arguments[0]))", coins)
            told.append(json.loads(everything_kept(browser)["planted"]))
        assert told[0] == [0] * len(told[0]) != told[1]


def test_what_was_kept_is_gone_when_a_page_is_opened_or_answered_after_the_survey_has_closed(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    path, codes = survey_with_links(tmp_path / "s", "related", 3)
    with collector(path) as (_, address), recording(address) as recorder:
        site = f"http://{recorder.address}/#"
        load(browser, site + codes[0])
        browser.execute_script("localStorage.setItem('of another page', 'stays')")
        answer(browser, "000")
        send(browser)
        assert len(everything_kept(browser)) == 2
        load(browser, site + codes[1])
        answer(browser, "000")
        assert cotally_here("survey", "close", path).code == 0
        browser.find_element(By.ID, "send").click()
        WebDriverWait(browser, 20).until(lambda b: "closed" in b.find_element(By.ID, "problem").text)
        assert everything_kept(browser) == {"of another page": "stays"}
    name = f"cotally {survey_digest(read_collector_settings(path).questionnaire)} {codes[0]}"
    with collector(path) as (_, address):
        recorder_site = f"http://{address}/"
        load(browser, recorder_site)
        browser.execute_script("localStorage.setItem(arguments[0], '{}')", name)
        assert name in everything_kept(browser)
        load(browser, recorder_site)
        assert "The survey is closed" in browser.find_element(By.TAG_NAME, "main").text
        assert everything_kept(browser) == {}
