"""Round two in a real Chromium: personal answers given once more, a model runs on them, and one bit leaves."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from party.settings.collector import CollectorSettings, read_collector_settings
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.round_two import model_numbers
from party.survey.web.store import AnswerStore, BitCount, code_digest
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes, bayes_of_counts
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.survey.responses import survey_schema
from protocols.tables import Schema
from tests.support.browser import Recorder, everything_kept, load, recording
from tests.support.collecting import ROUND_TWO, TESTABLE, add_links, collector, write_survey_files
from tests.support.examples import few
from tests.support.processes import cotally_here

OTHERS = [bytes([k % 2, k % 2]) for k in range(60)]
"""Who drinks smokes: the model is right about personal answers that are alike."""


def store_of(settings: CollectorSettings, *, make: bool = False) -> AnswerStore:
    return open_store(settings.store, survey_digest(settings.questionnaire), make=make)


def ask(folder: Path, links: int) -> tuple[Path, list[str]]:
    """Make a survey that others have answered, and links that nobody has used."""
    path = write_survey_files(folder, TESTABLE, ROUND_TWO, server="requests = 100000")
    with store_of(read_collector_settings(path), make=True) as store:
        codes = add_links(store, links + len(OTHERS))
        for code, response in zip(codes[links:], OTHERS, strict=True):
            store.submit(code_digest(code), response, 9)
    return path, codes[:links]


@contextmanager
def round_two(path: Path, round_one: subprocess.Popen[str], recorder: Recorder) -> Iterator[None]:
    """Collect no more, publish a model, and collect again behind the address that pages were loaded from."""
    round_one.terminate()
    round_one.wait()
    publish(path)
    with collector(path) as (_, address):
        recorder.turn_to(address)
        yield


def answer(browser: webdriver.Chrome, personals: tuple[int, int]) -> None:
    """Give first answers to the private questions, and these to the personal ones."""
    for column, value in enumerate(personals):
        for name, chosen in ((f"a{column}", 0), (f"p{column}", value)):
            browser.find_element(By.CSS_SELECTOR, f'input[name="{name}"][value="{chosen}"]').click()
    send(browser)


def send(browser: webdriver.Chrome) -> None:
    browser.find_element(By.ID, "send").click()
    WebDriverWait(browser, 20).until(lambda b: b.find_element(By.ID, "done").is_displayed())


def kept(browser: webdriver.Chrome) -> list[dict[str, object]]:
    """Return all that the browser keeps."""
    return [json.loads(value) for value in everything_kept(browser).values()]


def answer_once_more(browser: webdriver.Chrome, personals: tuple[int, int], coin: int) -> None:
    """Give these answers to the personal questions of the second page, and let its coin fall so."""
    browser.execute_script(
        """
        const { coin } = JSON.parse(document.getElementById("survey").textContent);
        crypto.getRandomValues = (array) => { array[0] = arguments[0] ? BigInt(coin[0]) : 0n; return array; };
        """,
        coin,
    )
    for column, value in enumerate(personals):
        browser.find_element(By.CSS_SELECTOR, f'input[name="p{column}"][value="{value}"]').click()
    send(browser)


def bodies(recorder: Recorder, path: str) -> list[bytes]:
    """Return the bodies that were posted to a path."""
    return re.findall(rb"POST /" + path.encode() + rb" HTTP.*?\r\n\r\n(\{.*?\})", recorder.sent, re.DOTALL)


def test_a_model_runs_on_answers_that_never_leave_nor_stay_and_one_bit_of_one_length_does_once_and_for_all(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    cases = few([((0, 0), 0, "1"), ((1, 0), 0, "0"), ((0, 1), 1, "1"), ((0, 0), 1, "0")], 3)
    path, codes = ask(tmp_path / "s", len(cases))
    with collector(path) as (first, address), recording(address) as recorder:
        site = f"http://{recorder.address}/#"
        for code, (personals, *_) in zip(codes, cases, strict=True):
            load(browser, site + code)
            assert "It will ask you these again" in browser.find_element(By.TAG_NAME, "main").text
            answer(browser, personals)
        assert all(each.keys() == {"response"} for each in kept(browser))
        assert b"personal" not in recorder.sent
        assert len({len(body) for body in bodies(recorder, "answer")}) == 1
        with round_two(path, first, recorder):
            for code, (personals, coin, _) in zip(codes, cases, strict=True):
                load(browser, site + code)
                before = recorder.sent.count(b"POST")
                answer_once_more(browser, personals, coin)
                assert recorder.sent.count(b"POST") == before + 1
            assert [each.keys() for each in kept(browser)] == [{"response", "bit"}] * len(cases)
            assert all(set(each["bit"]) == {"round", "said"} for each in kept(browser))  # type: ignore[call-overload]
            for _ in range(2):  # the last link is opened again, and nothing is asked
                load(browser, site + codes[-1])
                assert not browser.find_element(By.NAME, "p0").is_displayed()
                assert browser.find_element(By.ID, "made").text.startswith("What this link sends is made")
                send(browser)
                shown = browser.find_element(By.ID, "sent").get_attribute("textContent")
                assert shown == "What was sent again: the rule is wrong about your personal answers."
        *sent, again, later = bodies(recorder, "test")
        assert again == later == sent[-1]
        assert [json.loads(body)["bit"] for body in sent] == [bit for *_, bit in cases]
        assert len({len(body) for body in sent}) == 1
        assert all(json.loads(body).keys() == {"format", "round", "code", "bit"} for body in sent)
        assert b"personal" not in recorder.sent
    with store_of(read_collector_settings(path)) as store:
        assert store.bits() == BitCount(len(cases), len(cases) // 2)


def publish(path: Path) -> None:
    table, model = path.parent / "x.csv", path.parent / "tree.json"
    done = [
        cotally_here("survey", "export", path, "-o", table),
        cotally_here("mine", "tree", table, path.parent / "design.toml", "--test", "1/5", "-o", model),
        cotally_here("survey", "publish", path, model, table, "--test", "1/5"),
    ]
    assert [ended.code for ended in done] == [0, 0, 0], done


SIZES = (2, 3, 4, 2, 3)
SCHEMA = survey_schema([f"c{k}" for k in range(5)], [tuple(map(str, range(size))) for size in SIZES])


def random_node(schema: Schema, chance: np.random.Generator, left: tuple[int, ...]) -> Node:
    if not left or chance.random() < 0.3:
        return Leaf((1.0,) * schema.classes, int(chance.integers(schema.classes)))
    column = int(chance.choice(left))
    rest = tuple(other for other in left if other != column)
    children = tuple(random_node(schema, chance, rest) for _ in range(schema.attributes[column].size))
    return Split((1.0,) * schema.classes, column, children)


def random_bayes(schema: Schema, chance: np.random.Generator) -> NaiveBayes:
    """Return a classifier with ties and with values that are impossible."""
    tables = [chance.integers(0, 3, (each.size, schema.classes)).astype(np.float64) for each in schema.attributes]
    tables = [np.where(table.sum(axis=0) > 0, table, np.float64(1)) for table in tables]
    prior = chance.integers(0, 3, schema.classes) + 1.0
    return bayes_of_counts(schema, prior, tables, 0.0)


def test_the_page_predicts_what_python_does(browser: webdriver.Chrome, tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    models: list[Model] = [Tree(SCHEMA, random_node(SCHEMA, chance, (0, 1, 2, 3))) for _ in range(20)]
    models += [random_bayes(SCHEMA, chance) for _ in range(20)]
    records = np.stack([chance.integers(0, size, 60) for size in SIZES], axis=1).astype(np.uint8)
    script = Path(model_numbers.__code__.co_filename).parent / "files" / "predict.js"
    (tmp_path / "x.html").write_text("<!doctype html><title>x</title>")
    browser.get((tmp_path / "x.html").as_uri())
    for model in models:
        found = browser.execute_script(
            f"{script.read_text()}\nreturn arguments[1].map((record) => model.predict(arguments[0], record));",
            model_numbers(model),
            records.tolist(),
        )
        assert found == model.predict(records).tolist()
