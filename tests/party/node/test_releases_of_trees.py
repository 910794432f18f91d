"""What is asked of a data set where the tree alone is revealed, and asked again with other tables or orders."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from protocols.errors import DisagreementError
from protocols.learning.tree import Split
from protocols.tables.table import Table
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.limits import USUAL_LIMITS
from tests.support import sessions as support
from tests.support.parties import Case, make_local, make_terms
from tests.support.sessions import ANY_ODDS, Sessions, contents, trained

CODES = np.random.default_rng(5).integers(0, 2, (300, 5)).astype(np.uint8)
CODES[:, -1] = np.arange(300) < 9
TERMS = make_terms(method="smc", reveal="tree", max_depth=2, min_leaf=20, test=Fraction(1, 5))
CASE = Case({"alice": (2, 2), "bob": (2, 2)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)


def brought(case: Case, party: str) -> PartyInputs:
    return replace(make_local(case, party), limits=USUAL_LIMITS)


def with_a_cell_changed(row: int) -> Case:
    codes = CODES.copy()
    codes[row, 0] ^= 1
    return replace(CASE, codes=codes)


def test_a_class_that_was_found_too_rare_is_not_judged_over_another_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another table of the partner has another split; over many, the word would tell single people's classes."""
    monkeypatch.setattr(support, "make_local", brought)
    sessions, fields = Sessions(tmp_path, CASE, ANY_ODDS), []
    for case in (CASE, CASE, with_a_cell_changed(20), with_a_cell_changed(30)):
        sessions.case = case
        ends = sessions.both_errors()
        assert all(isinstance(end, DisagreementError) for end in ends)
        fields.append({end.field for end in ends if isinstance(end, DisagreementError)})
    assert fields == [{"class counts"}, {"class counts"}, {"records"}, {"records"}]
    released = [each for each in contents(sessions, "bob") if each["kind"] == "release"]
    assert any("peer data" in each["fields"] for each in released)


def test_another_order_of_the_same_columns_is_the_same_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two columns of equal worth the same one splits, whichever comes first in the file."""
    codes = CODES.copy()
    codes[:, 1] = codes[:, 0]
    codes[:, -1] = codes[:, 0] ^ (np.arange(300) % 4 == 0)
    trees = []
    for order in ([0, 1], [1, 0]):

        def ordered(case: Case, party: str, order: list[int] = order) -> PartyInputs:
            local = make_local(case, party)
            if party == "bob":
                return local
            attributes = tuple(local.table.attributes[column] for column in order)
            return replace(local, table=Table(attributes, np.ascontiguousarray(local.table.codes[:, order])))

        monkeypatch.setattr(support, "make_local", ordered)
        sessions = Sessions(tmp_path / str(order[0]), replace(CASE, codes=codes), ANY_ODDS)
        trees.append(trained(sessions.run()[0]).outcome.tree)
    assert trees[0] == trees[1]
    assert isinstance(trees[0].root, Split)
    assert trees[0].schema.attributes[trees[0].root.attribute].name == "a0"
