"""Models for the tests, and strategies that make them."""

import numpy as np
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.learning.naive_bayes import NaiveBayes, fit_naive_bayes
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.role import run_alone
from protocols.tables import Attribute, Codes, MissingCells, Schema

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
EXACT = st.integers(0, 10**6).map(float)
ESTIMATES = st.floats(-1e6, 1e6, allow_nan=False)


def small_model() -> Tree:
    """Both parties have a column `age`; one branch is empty."""
    schema = Schema(
        (
            Attribute("alice", "age", ("<= 40", "> 40", "missing")),
            Attribute("alice", "city", ("Bergen", "Oslo", "other"), MissingCells("other", ("?", "n/a"))),
            Attribute("bob", "age", ("no", "yes")),
        ),
        Attribute("", "outcome", ("bad", "good")),
        (),
    )
    by_city = Split((5, 3), 1, (Leaf((5, 0), 0), Leaf((0, 3), 1), Leaf((0, 0), 0)))
    by_age = Split((1, 6), 2, (Leaf((1, 0), 0), Leaf((0, 6), 1)))
    return Tree(schema, Split((7, 9), 0, (by_city, by_age, Leaf((1, 0), 0))))


def chain(depth: int) -> Tree:
    """A tree of one path over two-valued columns."""
    schema = Schema(
        tuple(Attribute("alice", f"column {i}", ("0", "1")) for i in range(depth)),
        Attribute("", "class", ("a", "b")),
        (),
    )
    node: Node = Leaf((0, 1), 1)
    for i in reversed(range(depth)):
        node = Split((depth - i, 1), i, (Leaf((1, 0), 0), node))
    return Tree(schema, node)


def attributes(party: str, name: str, values: tuple[str, ...]) -> st.SearchStrategy[Attribute]:
    missing = st.builds(
        MissingCells, st.none() | st.sampled_from(values), st.none() | st.lists(NAMES, max_size=2).map(tuple)
    )
    return missing.map(lambda cells: Attribute(party, name, values, cells))


@st.composite
def models(draw: st.DrawFn) -> Tree:
    values = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
    keys = draw(st.lists(st.tuples(st.sampled_from(["alice", "bob"]), NAMES), min_size=1, max_size=4, unique=True))
    schema = Schema(
        tuple(draw(attributes(party, name, draw(values))) for party, name in sorted(keys)),
        Attribute("", draw(NAMES), draw(values)),
        (),
    )
    number = draw(st.sampled_from([EXACT, ESTIMATES]))
    counts = st.tuples(*[number] * schema.classes)

    def node(left: tuple[int, ...]) -> Node:
        own = draw(counts)
        if not left or draw(st.booleans()):
            return Leaf(own, majority(own))
        attribute = draw(st.sampled_from(left))
        rest = tuple(a for a in left if a != attribute)
        return Split(own, attribute, tuple(node(rest) for _ in schema.attributes[attribute].values))

    return Tree(schema, node(tuple(range(len(schema.attributes)))))


@st.composite
def bayes_models(draw: st.DrawFn) -> NaiveBayes:
    """Naive Bayes over columns of both parties; a class may be one that no record has."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    attributes = tuple(
        Attribute(draw(st.sampled_from(["alice", "bob"])), f"column {i}", tuple(map(str, range(size))))
        for i, size in enumerate(sizes)
    )
    classes = draw(st.integers(1, 4))
    schema = Schema(attributes, Attribute("", "class", tuple(map(str, range(classes)))), ())
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in (*sizes, classes))), min_size=1, max_size=20))
    return _fitted(schema, np.array(rows, dtype=np.uint8))


def bayes_of(sizes: tuple[int, ...], classes: int, seed: int, records: int = 200) -> NaiveBayes:
    """Naive Bayes of random records, whose columns are alice's and bob's in turn and tell something of the class."""
    rng = np.random.default_rng(seed)
    attributes = tuple(
        Attribute(("alice", "bob")[i % 2], f"column {i}", tuple(map(str, range(size)))) for i, size in enumerate(sizes)
    )
    labels = rng.integers(0, classes, records)
    columns = [np.where(rng.random(records) < 0.5, labels % size, rng.integers(0, size, records)) for size in sizes]
    schema = Schema(attributes, Attribute("", "class", tuple(map(str, range(classes)))), ())
    return _fitted(schema, np.stack([*columns, labels], axis=1).astype(np.uint8))


def _fitted(schema: Schema, codes: Codes) -> NaiveBayes:
    counts = tuple(np.bincount(codes[:, -1], minlength=schema.classes).astype(float).tolist())
    return run_alone(fit_naive_bayes(schema, PlaintextEngine(schema, codes, codes[:0]), 1.0, counts))
