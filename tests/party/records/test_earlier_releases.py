"""Runs of earlier releases could hold records out to prune a tree by: their entries are read, and still bind."""

from pathlib import Path
from typing import Any

import pytest

from party.errors import ConfigError
from party.files import locked_folder
from party.records import entries
from party.records.entries import PeerPages, terms_content
from party.records.ledger import PeerName, open_ledger
from party.records.releases import check_release, record_release, release_of
from party.records.tally import Side
from protocols.facts import Way
from protocols.jobs import Train
from protocols.terms import Terms
from tests.support.parties import make_local, make_terms
from tests.support.sessions import ANY_ODDS, CASE, Sessions, contents, of_kind

ALICE = PeerName("alice", "0123 ABCD")
CLAIM = {"path": [["alice.x0", "v1"]], "class": "c1"}


def test_counts_that_pruned_a_tree_add_up_once_for_each_runs_terms() -> None:
    side = Side()
    for seed in (1, 1, 2):
        content = {"kind": "pruning", "way": Way.TOLD, "claims": [[CLAIM], [CLAIM, CLAIM]], "counts": None}
        side.add(content, {"seed": seed, "method": "smc", "omega": None})
    assert side.numbers == 4


def test_a_run_on_the_terms_of_an_earlier_one_without_pruning_is_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    for party in ("alice", "bob"):
        path = tmp_path / party / "party.toml"
        path.write_text(path.read_text().replace('most_runs = "any"', "most_runs = 1"))

    def earlier(terms: Terms) -> dict[str, Any]:
        return {**terms_content(terms), "prune": "0"}

    monkeypatch.setattr(entries, "terms_content", earlier)
    sessions.run()
    monkeypatch.undo()
    assert [run["terms"]["prune"] for run in of_kind(contents(sessions, "bob"), "run")] == ["0"]
    sessions.run()


@pytest.mark.parametrize(("prune", "accepted"), [("0", True), ("1/4", False)])
def test_a_data_set_that_pruned_has_another_split_and_one_that_did_not_has_ours(
    tmp_path: Path, prune: str, accepted: bool
) -> None:
    local = make_local(CASE, "bob")
    now = release_of(local, Train(make_terms()), (ALICE.name, ALICE.fingerprint))
    with locked_folder(tmp_path) as held, open_ledger(held, now.key) as ledger:
        pages = PeerPages(ledger, ALICE)
        fields = {**now.fields, "prune": prune}
        pages.write("release", {"dataset": now.dataset, "fields": fields, "spent": {}})
        if accepted:
            record_release(pages, now)
            assert len(ledger) == 1
            return
        with pytest.raises(ConfigError) as error:
            record_release(pages, now)
    assert "released with test 1/5, prune 1/4 before" in str(error.value)
    assert "not with 1/5; counts over two splits can be subtracted" in str(error.value)
    with pytest.raises(ConfigError, match="prune 1/4"):
        check_release(tmp_path, now)
