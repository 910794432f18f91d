"""The expanded table, merging and splitting of rows, and the engine that counts in the clear."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.rows import View, expand, merge_equal, rows_by_node, tally
from protocols.counts import Correct, Query
from protocols.learning.tree import Leaf, Split, Tree
from protocols.role import run_alone
from protocols.tables import ROOT, Expression, Term
from tests.support.cases import correlated
from tests.support.declaration import undo
from tests.support.enumeration import expressions, true_count
from tests.support.plain import schema_of
from tests.support.views import peer_design, view_of

SCHEMA = schema_of((2, 3, 4), 2, alice=1)
CODES = correlated((2, 3, 4, 2), 25, seed=4, flips=0.5)


def view() -> View:
    return view_of(SCHEMA, "alice", CODES, peer_design(SCHEMA, "alice", ((3, 2), (1,)), Fraction(9, 20)))


def test_the_expanded_table_has_every_guess_of_every_record_and_the_truth_among_them() -> None:
    seen = view()
    table = expand(seen.codes, seen.design, seen.peer_columns)
    assert len(table) == len(CODES) * seen.design.patterns == len(table.codes)
    assert table.record.tolist() == [r for r in range(len(CODES)) for _ in range(seen.design.patterns)]
    assert table.pattern.tolist() == list(range(seen.design.patterns)) * len(CODES)
    guesses = seen.design.pattern_coins()
    peers = list(seen.peer_columns)
    for row, record, pattern in zip(table.codes, table.record, table.pattern, strict=True):
        expected = seen.codes[record].copy()
        expected[peers] = undo(expected[None, peers], guesses[None, pattern], seen.design)[0]
        assert (row == expected).all()
    for record, truth in enumerate(CODES.tolist()):
        assert table.codes[table.record == record].tolist().count(truth) == 1


def test_a_view_holds_its_own_columns_as_they_are_and_rows_as_asked() -> None:
    seen = view()
    assert seen.peer_columns == (1, 2, 3)
    assert (seen.codes[:, 0] == CODES[:, 0]).all()
    assert (seen.codes[:, 1:] != CODES[:, 1:]).any()
    assert (seen.rows(np.array([3, 1])).codes == seen.codes[[3, 1]]).all()
    assert len(seen.rows(np.array([], dtype=np.intp))) == 0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 255)), max_size=30))
def test_merging_keeps_each_distinct_row_once_with_its_number(rows: list[tuple[int, int]]) -> None:
    codes = np.array(rows, dtype=np.uint8).reshape(-1, 2)
    distinct, inverse, repeats = merge_equal(codes)
    assert (distinct[inverse] == codes).all()
    found = {tuple(row): n for row, n in zip(distinct.tolist(), repeats.tolist(), strict=True)}
    assert found == Counter(rows)
    assert len(distinct) == len(found)


def test_row_sets_are_the_rows_that_satisfy_the_expression_however_they_are_reached() -> None:
    for path in expressions((2, 3, 4)):
        for terms in (path.terms, path.terms[::-1]):
            expression = Expression(terms)
            expected = np.flatnonzero(expression.satisfied_by(CODES)).tolist()
            direct, stepwise = rows_by_node(CODES), rows_by_node(CODES)
            for depth in range(len(terms)):
                stepwise.advance([Expression(terms[:depth])])
            assert direct.rows(expression).tolist() == stepwise.rows(expression).tolist() == expected


def test_rows_are_counted_by_node_value_and_class() -> None:
    nodes = [np.arange(len(CODES)), np.array([3, 1]), np.array([], dtype=np.intp)]
    queries = [Query(ROOT, (0, 1, 2), None), Query(ROOT, (2,), None), Query(ROOT, (0, 2), None)]
    answers = tally(CODES, nodes, queries, SCHEMA)
    for rows, query, answer in zip(nodes, queries, answers, strict=True):
        for candidate, cells, table in zip(query.candidates, query.cells(SCHEMA), answer.tables, strict=True):
            assert table.size == cells
            expected = np.zeros_like(table)
            for row in rows.tolist():
                expected[CODES[row, candidate], CODES[row, 3]] += 1
            assert table.tolist() == expected.tolist()


def test_rows_of_many_wide_columns_are_merged_as_those_of_few() -> None:
    """Beyond 63 bits a row is no longer packed into an integer; the order is the same."""
    wide = np.repeat(CODES, 12, axis=1) * 60
    for codes in (CODES, wide):
        distinct, inverse, repeats = merge_equal(codes)
        assert distinct.tolist() == sorted(map(list, {tuple(row) for row in codes.tolist()}))
        assert (distinct[inverse] == codes).all()
        assert repeats.sum() == len(codes)


def test_the_plaintext_engine_counts_by_the_definition() -> None:
    for path in (ROOT, ROOT & Term(1, 2), ROOT & Term(0, 1) & Term(2, 0)):
        candidates = tuple(sorted({0, 1, 2} - path.columns))
        engine = PlaintextEngine(SCHEMA, CODES, CODES[:0])
        (answer,) = run_alone(engine.count([Query(path, candidates, None)]))
        for candidate, table in zip(candidates, answer.tables, strict=True):
            expected = [
                [true_count(CODES, path & Term(candidate, v) & Term(3, c)) for c in range(2)]
                for v in range(SCHEMA.attributes[candidate].size)
            ]
            assert table.tolist() == expected
    tree = Tree(SCHEMA, Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))
    test = np.array([[0, 0, 0, 0], [1, 0, 0, 1], [1, 2, 3, 0]], dtype=np.uint8)
    assert run_alone(PlaintextEngine(SCHEMA, CODES, test).count_correct(tree)) == Correct(2)
    assert run_alone(PlaintextEngine(SCHEMA, CODES, CODES[:0]).count_correct(tree)) == Correct(0)
