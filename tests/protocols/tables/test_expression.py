"""Expressions: paths whose order is that of the tree, and whose parts go by party."""

from itertools import permutations

from protocols.tables import ROOT, Expression, Term
from tests.support.enumeration import every_record, expressions

PATH = Expression((Term(2, 1), Term(0, 0), Term(1, 2)))


def test_an_expression_is_its_terms_in_canonical_order() -> None:
    assert ROOT & Term(2, 1) & Term(0, 0) & Term(1, 2) == PATH
    assert PATH.parent == ROOT & Term(2, 1) & Term(0, 0)
    assert ROOT.parent == ROOT
    assert PATH.columns == {0, 1, 2}
    for order in permutations(PATH.terms):
        assert Expression(order).restricted(frozenset({0, 2})) == Expression((Term(0, 0), Term(2, 1)))
    assert PATH.restricted(frozenset()) == ROOT
    records = every_record((2, 3, 2))
    for expression in expressions((2, 3, 2)):
        expected = [all(row[t.column] == t.value for t in expression.terms) for row in records.tolist()]
        assert expression.satisfied_by(records).tolist() == expected
