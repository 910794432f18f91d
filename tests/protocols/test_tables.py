"""Attributes, expressions, the joint schema, tables: what is refused, and the agreed order."""

from itertools import permutations

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.tables import MAX_DOMAIN, ROOT, Attribute, Codes, Expression, Schema, Table, Term, joint_schema
from tests.support.enumeration import every_record, expressions

CLASS = Attribute("bob", "class", ("no", "yes"))


def attribute(party: str, name: str, size: int = 2) -> Attribute:
    return Attribute(party, name, tuple(map(str, range(size))))


def test_the_agreed_order_is_parties_by_name_then_file_order() -> None:
    mixed = [attribute("bob", "z"), attribute("alice", "y"), attribute("bob", "a"), attribute("alice", "x")]
    schema = joint_schema(mixed, CLASS, ("bob", "alice"))
    assert [(a.party, a.name) for a in schema.columns] == [
        ("alice", "y"),
        ("alice", "x"),
        ("bob", "z"),
        ("bob", "a"),
        ("bob", "class"),
    ]
    assert schema.class_owners == ("alice", "bob")
    assert (schema.class_index, schema.classes) == (4, 2)


@pytest.mark.parametrize(
    ("owners", "alice", "bob"),
    [(("bob",), (0,), (1, 2)), (("alice",), (0, 2), (1,)), (("alice", "bob"), (0, 2), (1, 2))],
)
def test_a_party_holds_its_columns_and_the_class_where_it_owns_it(
    owners: tuple[str, ...], alice: tuple[int, ...], bob: tuple[int, ...]
) -> None:
    schema = joint_schema([attribute("alice", "x"), attribute("bob", "y")], CLASS, owners)
    assert schema.held_by("alice") == alice
    assert schema.held_by("bob") == bob


def test_domains_and_names_at_their_limits() -> None:
    for size in (0, MAX_DOMAIN + 1):
        with pytest.raises(InputError, match=rf"'x': bin it or set max_values: it has {size} values"):
            attribute("alice", "x", size)
    for size in (1, MAX_DOMAIN):
        assert attribute("alice", "x", size).size == size
    with pytest.raises(InputError, match=r"^column 'x' lists a value twice$"):
        Attribute("alice", "x", ("canary", "b", "canary"))
    joint_schema([attribute("alice", "x"), attribute("bob", "x")], CLASS, ("bob",))
    with pytest.raises(InputError, match="occurs twice at one party"):
        joint_schema([attribute("alice", "x"), attribute("alice", "x", 3)], CLASS, ("bob",))
    with pytest.raises(InputError, match="neither party brings an attribute"):
        Schema((), CLASS, ("bob",))


def codes(*rows: list[int]) -> Codes:
    return np.array(rows, dtype=np.uint8)


def test_a_table_fits_its_schema() -> None:
    for bad in (codes([0, 0], [2, 0]), codes([0, 3])):
        with pytest.raises(InputError, match="outside its attribute's domain"):
            Table((attribute("alice", "x", 2), attribute("alice", "y", 3)), bad)
    for bad in (codes([0]), codes([0, 0, 0]), np.zeros(2, dtype=np.uint8)):
        with pytest.raises(InputError, match="records by attributes"):
            Table((attribute("alice", "x", 2), attribute("alice", "y", 3)), bad)
    table = Table((attribute("alice", "x", 9),), codes([0], [4], [8]))
    assert table.rows([2, 0]).codes.tolist() == [[8], [0]]
    assert len(table.rows([])) == 0
    table = Table((Attribute("alice", "canary", ("canary1", "canary2")),), codes([1], [0], [1]))
    assert repr(table) == "<Table 3 x 1>"


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
