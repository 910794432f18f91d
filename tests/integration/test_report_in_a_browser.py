"""The page of a run in a real Chromium, as narrow as a phone and on paper."""

import base64
from pathlib import Path

from party.cli.report import gathered
from party.show.page.run_page import page_of_run
from party.show.page.writing import as_html
from tests.support.browser import chromium
from tests.support.finished import finished_party, hostile

PHONE = 360


def test_a_page_of_hostile_names_fits_a_phone_prints_and_runs_nothing(tmp_path: Path) -> None:
    settings = finished_party(tmp_path)
    told = gathered(settings, settings.parent / "model.json", settings.parent / "report.json")
    page = tmp_path / "page.html"
    page.write_text(as_html(page_of_run(hostile(told))), encoding="utf-8")
    with chromium(tmp_path / "profile") as browser:
        metrics = {"width": PHONE, "height": 740, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(page.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") == PHONE
        assert browser.execute_script("return document.body.scrollWidth") <= PHONE
        assert browser.execute_script("return window.hit === undefined")
        assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
        drawn = browser.execute_script("return document.querySelector('svg').getBoundingClientRect().height")
        assert drawn > 100
        assert not browser.get_log("browser")  # type: ignore[no-untyped-call]  # selenium leaves it untyped
        assert base64.b64decode(browser.print_page()).startswith(b"%PDF")
