"""Accuracy and cost ratio against the window: of the runs on record that differ in method and window alone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from party.records.finished import FinishedRun, finished_run, runs_alike
from party.records.ledger import LedgerEntry
from party.show.page.interval_svg import WindowPoint, windows_svg
from tests.support.sessions import ANY_ODDS, CASE, Sessions

SVG = ""  # a drawing within a page has no namespace of its own


def last_run(entries: Sequence[LedgerEntry]) -> FinishedRun:
    digests = [str(entry.content["digest"]) for entry in entries if entry.content["kind"] == "model"]
    found = finished_run(entries, bytes.fromhex(digests[-1]))
    assert found is not None
    return found


def test_runs_are_compared_that_differ_in_window_alone(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    for terms in (CASE.terms, replace(CASE.terms, omega=2), replace(CASE.terms, omega=2, min_leaf=3)):
        sessions.run(terms)
    with sessions.ledger("bob") as ledger:
        entries = list(ledger.entries())
    other = last_run(entries)
    assert [run.run for run in runs_alike(entries, other)] == [other.run]
    first, second = runs_alike(entries, finished_runs_of_leaf_1(entries)[0])
    assert (first.terms["omega"], second.terms["omega"]) == (1, 2)
    assert first.correct is not None
    assert second.counted < second.countable


def finished_runs_of_leaf_1(entries: Sequence[LedgerEntry]) -> list[FinishedRun]:
    digests = [str(entry.content["digest"]) for entry in entries if entry.content["kind"] == "model"]
    found = [finished_run(entries, bytes.fromhex(digest)) for digest in digests]
    return [run for run in found if run is not None and run.terms["min_leaf"] == 1]


def test_what_is_larger_stands_higher_and_what_is_unknown_is_left_out() -> None:
    points = [WindowPoint("ω = 1", 0.5, 0.25), WindowPoint("ω = 2", 0.75, None), WindowPoint("smc", None, 1.0)]
    drawn = ET.fromstring(windows_svg("accuracy", points))
    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter(f"{SVG}circle")][1:]
    squares = [float(square.attrib["y"]) for square in drawn.iter(f"{SVG}rect")][1:]
    assert len(dots) == len(squares) == 2
    assert dots[0][0] < dots[1][0]
    assert dots[0][1] > dots[1][1]
    assert squares[0] > squares[1]
    assert {"ω = 1", "ω = 2", "smc"} <= {text.text for text in drawn.iter(f"{SVG}text")}
