"""Pages of reports in a real Chromium: as narrow as a phone, on paper, for who does not see them, of hostile names."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from party.show.document import Document
from party.show.page.parts import as_html
from party.show.page.run_page import Finished, page_of_run
from protocols.association.joint import JointItemsets
from protocols.terms import Method, Reveal
from tests.support.finished import KINDS, aligned, finished_parties, finished_party, hostile, page_facts
from tests.support.reported import basket_page, hostile_survey, survey_of_two_kinds
from tests.support.sessions import ANY_ODDS, CASE, Sessions

RULES = """
const found = [];
const tell = (rule, element) => found.push(rule + ': ' + element.outerHTML.slice(0, 80));
if (!document.documentElement.lang) found.push('the language is not told');
if (!document.title) found.push('the page has no title');
if (document.querySelectorAll('main').length !== 1) found.push('there is not one main part');
let level = 0;
for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) tell('a level of headings is left out', heading);
  if (!heading.textContent.trim()) tell('a heading is empty', heading);
  level = own;
}
if (document.querySelectorAll('h1').length !== 1) found.push('there is not one first heading');
for (const picture of document.querySelectorAll('svg:not([aria-hidden=true])')) {
  const named = picture.getAttribute('role') === 'img' && picture.getAttribute('aria-label');
  if (!named) tell('a picture has no name', picture);
}
for (const picture of document.querySelectorAll('img')) if (!picture.alt) tell('a picture has no name', picture);
const names = [...document.querySelectorAll('[role=region]')].map(region => region.getAttribute('aria-label'));
if (names.some(name => !name) || new Set(names).size !== names.length) found.push('two regions have one name, or none');
for (const part of document.querySelectorAll('section')) {
  const head = document.getElementById(part.getAttribute('aria-labelledby'));
  if (!head || !part.contains(head)) tell('a section is not named by its heading', part);
}
const marks = [...document.querySelectorAll('[id]')].map(element => element.id);
for (const mark of marks) if (marks.indexOf(mark) !== marks.lastIndexOf(mark)) found.push('an id comes twice: ' + mark);
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.querySelectorAll('thead th')];
  const whole = heads.length && heads.every(head => head.scope === 'col' && head.textContent.trim());
  if (!whole) tell('a column has no head', table);
  for (const row of table.querySelectorAll('tbody tr')) {
    if (!row.querySelector('th[scope=row]')) tell('a row has no head', row);
    if (row.children.length !== heads.length) tell('a row has too many cells, or too few', row);
  }
}
for (const box of document.querySelectorAll('*')) {
  const scrolls = ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
  if (scrolls && box.scrollWidth > box.clientWidth && box.tabIndex < 0) tell('a part cannot be scrolled by keys', box);
}
const light = text => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255);
  const [r, g, b] = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = element => {
  for (let over = element; over; over = over.parentElement) {
    const colour = getComputedStyle(over).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour)) return colour;
  }
  return 'rgb(255, 255, 255)';
};
for (const element of document.querySelectorAll('body *')) {
  if (![...element.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())) continue;
  if (!element.getClientRects().length || element.closest('title')) continue;
  const style = getComputedStyle(element);
  const [one, other] = [light(element.closest('svg') ? style.fill : style.color), light(ground(element))];
  if ((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5) tell('a text is too pale', element);
}
return found;
"""


def shortcomings(browser: webdriver.Chrome) -> list[str]:
    """Return where the page that a browser shows breaks a rule."""
    return list(browser.execute_script(RULES))


PHONE, SCREEN = 360, 740


@pytest.fixture(scope="module")
def phone(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The browser with the screen of a phone."""
    metrics = {"width": PHONE, "height": SCREEN, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("browser")  # type: ignore[no-untyped-call]  # selenium leaves it untyped
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def run_of_hostile_names(folder: Path, kind: str = "tree") -> Document:
    settings = finished_party(folder, kind)
    return page_of_run(hostile(page_facts(settings)))


PAGES: dict[str, Callable[[Path], Document]] = {
    **{f"a run that learned {kind}": partial(run_of_hostile_names, kind=kind) for kind in KINDS},
    "a survey": survey_of_two_kinds,
    "a survey of hostile names": hostile_survey,
    "baskets": basket_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_prints_runs_nothing_and_leaves_nobody_out(
    name: str, phone: webdriver.Chrome, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(as_html(PAGES[name](tmp_path)), encoding="utf-8")
    phone.get(page.as_uri())
    assert phone.execute_script("return document.documentElement.scrollWidth") == PHONE
    assert phone.execute_script("return document.body.scrollWidth") <= PHONE
    assert phone.execute_script("return window.hit === undefined")
    assert phone.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert phone.execute_script("return document.querySelector('svg:not(.bar)').getBoundingClientRect().height") > 20
    assert shortcomings(phone) == []
    assert not phone.get_log("browser")  # type: ignore[no-untyped-call]  # selenium leaves it untyped
    assert base64.b64decode(phone.print_page()).startswith(b"%PDF")


def fullest(told: Finished) -> Finished:
    """Return a run whose page to sign is as full as it can be."""

    model: Any = told.model
    kept = model if isinstance(model, JointItemsets) else model.schema
    long = " of some length" * 20
    columns = tuple(replace(each, name=(each.name + long)[:280]) for each in kept.attributes)
    kept = replace(kept, attributes=columns)
    model = kept if isinstance(model, JointItemsets) else replace(model, schema=kept)
    life = replace(told.agree.life, most_predictions=5)
    dealings = replace(told.dealings, alignments=aligned(80_000, 90_000, 1_000_000, 3))
    run = replace(told.run, itemsets=frozenset())
    return replace(told, run=run, model=model, dealings=dealings, agree=replace(told.agree, life=life))


@pytest.mark.parametrize("kind", [*KINDS, "a tree alone"])
def test_what_is_signed_is_the_first_printed_page_and_the_annex_begins_the_second(
    kind: str, phone: webdriver.Chrome, tmp_path: Path
) -> None:
    terms = replace(CASE.terms, method=Method.SMC, reveal=Reveal.TREE, max_depth=2)
    if kind in KINDS:
        settings = finished_party(tmp_path, kind)
    else:
        settings = finished_parties(Sessions(tmp_path, CASE, ANY_ODDS), terms)["bob"]
    told = page_of_run(fullest(page_facts(settings)))
    names = [text for part in told.sections[1].parts for name, text, *_ in getattr(part, "rows", ()) if "Names" in name]
    assert len(names) == 2
    assert all(len(name) > 550 for name in names), list(map(len, names))
    page = tmp_path / "page.html"
    page.write_text(as_html(told), encoding="utf-8")
    phone.get(page.as_uri())
    following = "[...document.querySelectorAll('section:has(> #signature) ~ section')]"
    pages = []
    for kept in (1, 0):
        phone.execute_script(f"{following}.slice({kept}).forEach((each) => each.remove())")
        printed = phone.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
        pages.append(base64.b64decode(printed["data"]).count(b"/Type /Page\n"))
    assert pages == [2, 1]


def test_the_drawing_of_a_tree_begins_with_its_root(phone: webdriver.Chrome, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(as_html(run_of_hostile_names(tmp_path)), encoding="utf-8")
    phone.get(page.as_uri())
    top = "document.querySelector('svg:not(.bar)').getBoundingClientRect().top"
    root = phone.execute_script(f"return document.querySelector('svg g').getBoundingClientRect().top - {top}")
    height = phone.execute_script("return document.querySelector('svg:not(.bar)').getBoundingClientRect().height")
    assert root < SCREEN / 4 < height


BAD = {
    "a text is too pale": "<p style='color:#aaa'>pale</p>",
    "a level of headings is left out": "<h2>one</h2><h4>two</h4>",
    "there is not one first heading": "<h1>another</h1>",
    "a picture has no name": "<svg width='9' height='9' role='img'></svg>",
    "two regions have one name, or none": "<div role='region' aria-label='a'></div>" * 2,
    "a section is not named by its heading": "<section aria-labelledby='absent'><h2>x</h2></section>",
    "an id comes twice: x": "<p id='x'>a</p><p id='x'>b</p>",
    "a column has no head": "<table><tbody><tr><th scope='row'>a</th></tr></tbody></table>",
    "a row has no head": "<table><thead><tr><th scope='col'>a</th></tr></thead><tr><td>b</td></tr></table>",
    "a part cannot be scrolled by keys": "<div style='overflow-x:auto'><div style='width:5000px'>wide</div></div>",
}


def test_each_rule_finds_what_breaks_it(phone: webdriver.Chrome, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    head = "<!DOCTYPE html><html lang='en'><head><title>t</title></head><body><main><h1>one</h1>"

    def found(part: str) -> list[str]:
        page.write_text(f"{head}{part}</main></body></html>", encoding="utf-8")
        phone.get(page.as_uri())
        return shortcomings(phone)

    assert found("<p>fine</p>") == []
    for told, part in BAD.items():
        assert any(each.startswith(told) for each in found(part)), told
