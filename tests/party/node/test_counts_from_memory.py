"""A later run over the same tables asks only for what is new, and ends with the same tree."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from party.records import releases
from party.records.tally import dealings
from protocols.terms import ALL, Method, Window
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, trained, with_terms

WINDOWS: list[Window] = [1, 2, 3, ALL]


def asked(sessions: Sessions, party: str) -> list[set[Any]]:
    """Return which columns were counted at which nodes, run by run."""
    runs: dict[str, set[Any]] = {entry["run"]: set() for entry in of_kind(contents(sessions, party), "run")}
    for entry in of_kind(contents(sessions, party), "counts"):
        if entry["way"] != "told":
            for node in entry["nodes"]:
                path = frozenset(map(tuple, node["path"]))
                runs[entry["run"]] |= {(path, column) for column in node["counts"]}
    return list(runs.values())


def alone(folder: Path, window: Window) -> tuple[set[Any], Any]:
    """Return what a run with this window asks for when nothing is remembered, and its outcome."""
    folder.mkdir()
    sessions = Sessions(folder, with_terms(CASE, omega=window), ANY_ODDS)
    report, _ = sessions.run()
    return asked(sessions, "alice")[0], trained(report).outcome


def test_wider_windows_ask_only_for_what_is_new_and_end_as_if_nothing_were_known(tmp_path: Path) -> None:
    (tmp_path / "together").mkdir()
    sessions = Sessions(tmp_path / "together", CASE, ANY_ODDS)
    known: set[Any] = set()
    for number, window in enumerate(WINDOWS):
        whole, expected = alone(tmp_path / str(window), window)
        reports = sessions.run(with_terms(CASE, omega=window).terms)
        for party, report in zip(NAMES, reports, strict=True):
            outcome = trained(report).outcome
            assert outcome.tree == expected.tree
            assert outcome.smc_computations == expected.smc_computations  # the cost ratio's tally (DESIGN 7.3)
            assert outcome.correct == expected.correct
            assert asked(sessions, party)[number] == whole - known
            assert (outcome.remembered > 0) == bool(whole & known)
        known |= whole


def test_the_same_run_again_asks_for_nothing_but_the_accuracy(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.SMC), ANY_ODDS)
    first, second = trained(sessions.run()[0]).outcome, trained(sessions.run()[0]).outcome
    assert (first.remembered, second.remembered) == (0, first.smc_computations)
    assert replace(second, remembered=0) == first
    with sessions.ledger("alice") as ledger:
        (told,) = dealings(ledger.entries())
    assert told.told.numbers == first.smc_computations + 1  # Bob tells the class


def test_counts_of_other_held_out_records_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another split is refused under the same name of a data set; were it not, its counts would be others."""
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.SMC, max_depth=1), ANY_ODDS)
    sessions.run()
    monkeypatch.setattr(releases, "first_change", lambda known, fields: None)
    report, _ = sessions.run(with_terms(sessions.case, seed=2).terms)
    assert trained(report).outcome.remembered == 0
