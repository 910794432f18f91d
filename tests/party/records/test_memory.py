"""What a party objects to by what it remembers, before anything of it leaves."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from party.files import locked_folder
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.records.releases import Memory
from protocols.jobs import Train
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Table
from protocols.terms import Method
from protocols.two_party.agreement import Agreement
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_terms
from tests.support.plain import schema_of

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 20, seed=1),
    groups={"alice": 2, "bob": 2},
    terms=make_terms(),
)
DESIGN = RelatedDesign((), (), Fraction(1))
AGREED = Agreement(CASE.terms, schema_of((2, 3, 2, 2), 2, alice=2), "bob", DESIGN, DESIGN, b"to the first table")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    local = make_local(CASE, "alice")
    with locked_folder(tmp_path) as held, open_ledger(held, local.secrets.coins) as ledger:
        yield Memory(local, PeerPages(ledger, PeerName("bob", "B0B0")))


@pytest.mark.parametrize(
    ("field", "was"),
    [("theta", "theta 9/20"), ("released", "other records"), ("released", "other columns"), ("released", "groups")],
)
def test_a_job_that_would_let_out_something_else_than_before_is_objected_to(
    memory: Memory, field: str, was: str
) -> None:
    """Of our table the peer hears that alone: its own columns are not at fault."""
    assert memory.judge_job(Train(CASE.terms)) is None
    memory.note(AGREED)
    assert memory.judge_job(Train(CASE.terms)) is None
    local, terms = memory.local, CASE.terms
    first, *rest = local.table.attributes
    changed = {
        "theta 9/20": (local, replace(terms, theta=Fraction(11, 20))),
        "other records": (replace(local, table=Table((first, *rest), np.zeros_like(local.table.codes))), terms),
        "other columns": (replace(local, table=Table((replace(first, name="x"), *rest), local.table.codes)), terms),
        "groups": (replace(local, groups=()), terms),
    }
    objection = replace(memory, local=changed[was][0]).judge_job(Train(changed[was][1]))
    assert objection is not None
    assert objection.field == field
    assert f"our data set 'case' has been released with {was}" in objection.reason


def test_another_table_or_copy_of_the_peer_is_objected_to(memory: Memory) -> None:
    assert memory.judge(AGREED) is None
    memory.note(AGREED)
    assert memory.judge(AGREED) is None
    objection = memory.judge(replace(AGREED, commitment=b"to the second table"))
    assert objection is not None
    assert objection.field == "peer data"
    assert "bob brought other data to our data set 'case' before" in objection.reason
    assert memory.judge_copy(AGREED, b"the first copy") is None
    assert memory.judge_copy(AGREED, b"the first copy") is None
    objection = memory.judge_copy(AGREED, b"the second copy")
    assert objection is not None
    assert objection.field == "peer copy"


def test_counts_without_noise_are_objected_to_where_a_budget_bounds_what_is_told(memory: Memory) -> None:
    exact = replace(AGREED, terms=replace(CASE.terms, method=Method.SMC))
    assert memory.judge(exact) is None
    objection = replace(memory, budget=Fraction(100)).judge(exact)
    assert objection is not None
    assert objection.field == "noise"
    assert "answers without noise are asked for" in objection.reason
