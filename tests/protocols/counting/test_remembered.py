"""Counts from memory: only the rest is asked for, and the answers are those of an engine that was asked for all."""

from collections.abc import Sequence

import numpy as np
import pytest

from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.remembered import RememberedCounts, count_key
from protocols.counts import Answer, Query
from protocols.errors import DeviationError
from protocols.role import Role, run_alone
from protocols.tables.expression import ROOT
from protocols.tables.schema import Attribute, joint_schema
from tests.support.cases import correlated

SIZES = (2, 3, 2)
CODES = correlated((*SIZES, 2), 60, seed=2, flips=0.4)
SCHEMA = joint_schema(
    [Attribute("alice", f"a{i}", tuple(map(str, range(size)))) for i, size in enumerate(SIZES)],
    Attribute("bob", "class", ("n", "y")),
    ["bob"],
)
NODE = ROOT.child(0, 1)
QUERIES = [Query(NODE, (1, 2), None), Query(ROOT.child(0, 0), (1,), None)]


class Asked(PlaintextEngine):
    """Keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__(SCHEMA, CODES, CODES[:0])
        self.queries: list[list[Query]] = []

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        self.queries.append(list(queries))
        return (yield from super().count(queries))


def everything() -> list[Answer]:
    return run_alone(Asked().count(QUERIES))


def equal(left: Sequence[Answer], right: Sequence[Answer]) -> bool:
    pairs = zip(left, right, strict=True)
    return all(np.array_equal(a, b) for x, y in pairs for a, b in zip(x.tables, y.tables, strict=True))


def test_where_nothing_is_known_all_is_asked() -> None:
    engine = Asked()
    assert equal(run_alone(RememberedCounts(engine, {}, {}).count(QUERIES)), everything())
    assert engine.queries == [QUERIES]


def test_only_what_is_not_known_is_asked_and_each_table_has_its_place() -> None:
    engine, whole = Asked(), everything()
    remembered = RememberedCounts(engine, {count_key(QUERIES[0], 1): whole[0].tables[0]}, {})
    assert equal(run_alone(remembered.count(QUERIES)), whole)
    assert engine.queries == [[Query(NODE, (2,), None), QUERIES[1]]]
    assert remembered.taken == whole[0].tables[0].size


def test_where_all_is_known_nobody_is_asked() -> None:
    engine, whole = Asked(), everything()
    pairs = zip(QUERIES, whole, strict=True)
    known = {count_key(q, c): t for q, answer in pairs for c, t in zip(q.candidates, answer.tables, strict=True)}
    assert equal(run_alone(RememberedCounts(engine, known, known).count(QUERIES)), whole)
    assert engine.queries == []


def test_the_same_node_by_another_path_is_the_same() -> None:
    one, other = ROOT.child(0, 1).child(2, 0), ROOT.child(2, 0).child(0, 1)
    assert count_key(Query(one, (1,), None), 1) == count_key(Query(other, (1,), None), 1)


def test_remembered_counts_that_do_not_add_up_to_the_node_end_the_run() -> None:
    query = Query(NODE, (1,), tuple(everything()[0].tables[0].sum(axis=0).tolist()))
    wrong = everything()[0].tables[0] + 1
    with pytest.raises(DeviationError):
        run_alone(RememberedCounts(Asked(), {count_key(query, 1): wrong}, {}).count([query]))


def test_what_we_alone_remember_is_asked_again_and_must_be_the_same() -> None:
    whole = everything()
    key, table = count_key(QUERIES[0], QUERIES[0].candidates[0]), whole[0].tables[0]
    assert equal(run_alone(RememberedCounts(Asked(), {}, {key: table}).count(QUERIES)), whole)
    with pytest.raises(DeviationError):
        run_alone(RememberedCounts(Asked(), {}, {key: table + 1}).count(QUERIES))
