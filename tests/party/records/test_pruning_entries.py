"""What pruning tells stands in the ledger claim by claim, and adds to the exact counts once."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from party.records.entries import PeerPages, RunPages
from party.records.tally import Side
from protocols.facts import ClaimsFact, Way
from protocols.tables.expression import ROOT, Term
from tests.support.parties import make_terms
from tests.support.plain import schema_of


@pytest.mark.parametrize("values", [(3, 4), None])
def test_each_count_of_pruning_is_written_with_its_nodes_and_adds_up_once(values: tuple[int, ...] | None) -> None:
    written: list[tuple[str, Any]] = []
    pages = SimpleNamespace(write=lambda kind, content: written.append((kind, content)))
    agreed = SimpleNamespace(schema=schema_of((2, 3), 2, alice=1), terms=make_terms(), nonces=b"")
    run = RunPages(cast("PeerPages", pages), cast("Any", SimpleNamespace(dataset="case")), cast("Any", agreed), "a run")
    run.note(ClaimsFact(Way.TOLD, ([(ROOT, 0)], [(ROOT & Term(0, 1), 1)]), values))
    ((kind, content),) = written
    assert kind == "pruning"
    assert content["claims"] == [[{"path": [], "class": "c0"}], [{"path": [["alice.x0", "v1"]], "class": "c1"}]]
    assert content["counts"] == (None if values is None else [3, 4])
    side = Side()
    for _ in range(2):
        side.add({"kind": kind, **content}, {"seed": 1, "method": "smc", "omega": None})
    assert side.numbers == 2
