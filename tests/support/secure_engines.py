"""Both secure protocols over one small table: their engines, and batches of queries to play."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protocols.ciphers.port import AnyKeyHolder
from protocols.counting.checks import Checks
from protocols.counting.dot_product import DotProductEvaluator, DotProductKeyHolder, Layout, make_layout
from protocols.counting.oblivious import ObliviousChooser, ObliviousCorrector, sides_of
from protocols.counting.plaintext import PlaintextEngine
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Answer, Query
from protocols.learning.tree import Leaf, Split, Tree
from protocols.role import Role, run_alone
from protocols.tables import ROOT, Codes, Expression, Schema, Term
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import key_holder
from tests.support.plain import schema_of

SIZES = (2, 3, 2, 3)
SCHEMA = schema_of(SIZES, 2, alice=2)  # Alice evaluates; Bob holds the key, x2, x3 and the class
CODES = correlated((*SIZES, 2), 40, seed=6, flips=0.6)
TRAIN, TEST = CODES[:30], CODES[30:]
HOLDER = key_holder(1)
KEY = HOLDER.private_key
TREE = Tree(SCHEMA, Split((1, 1), 2, (Leaf((1, 0), 0), Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))))
Engine = Any


def layout(slots: int | None = None, schema: Schema = SCHEMA, key: AnyKeyHolder = HOLDER) -> Layout:
    made = make_layout(schema, "bob", 30, key.public)
    return made if slots is None else replace(made, slots=slots)


def by_dots(tests: int = 10, slots: int | None = None, key: AnyKeyHolder = HOLDER) -> tuple[Engine, Engine]:
    """Return evaluator and key holder, each with zeros in the other's columns."""
    checks, sizes, shape = Checks(SCHEMA, 30, None), (30, tests), layout(slots, key=key)

    def own(party: str) -> tuple[Any, Any]:
        codes = np.zeros_like(CODES)
        held = list(SCHEMA.held_by(party))
        codes[:, held] = CODES[:, held]
        return codes[:30], codes[30 : 30 + tests]

    hearing, telling = CountReceiver(checks, sizes), CountSender(checks, sizes)
    evaluator: Engine = DotProductEvaluator(shape, *own("alice"), key.public, hearing, secrets)
    return evaluator, DotProductKeyHolder(key.encryption(secrets), shape, *own("bob"), key, telling)


def by_transfers(tests: int = 10) -> tuple[Engine, Engine]:
    """Return corrector and chooser, each with zeros in the other's columns; the chooser tells."""
    sides, checks, sizes = sides_of(SCHEMA, "alice"), Checks(SCHEMA, 30, None), (30, tests)
    theirs, own = (
        (columns_of(TRAIN, columns), columns_of(TEST[:tests], columns)) for columns in (sides.corrector, sides.chooser)
    )
    return (
        ObliviousCorrector(sides, *theirs, CountReceiver(checks, sizes), secrets),
        ObliviousChooser(sides, *own, CountSender(checks, sizes), secrets),
    )


def columns_of(codes: Codes, columns: Iterable[int]) -> Codes:
    """Return zeros in all other columns."""
    kept = np.zeros_like(codes)
    kept[:, sorted(columns)] = codes[:, sorted(columns)]
    return kept


ENGINES: dict[str, Callable[..., tuple[Engine, Engine]]] = {"dot products": by_dots, "oblivious transfer": by_transfers}


def count(engine: Engine, *batches: Sequence[Query], tree: Tree | None = None) -> Role[list[list[Answer]]]:
    yield from engine.set_up()
    answers = []
    for batch in batches:
        answers.append((yield from engine.count(batch)))  # noqa: PERF401  # a comprehension cannot yield
    if tree is not None:
        return [*answers, (yield from engine.count_correct(tree)).count]
    return answers


def play(
    engines: tuple[Engine, Engine], *batches: Sequence[Query], tree: Tree | None = None, tamper: Tamper = honest
) -> tuple[End[Any], End[Any]]:
    """Play evaluator ("a") and key holder ("b")."""
    return duel(count(engines[0], *batches, tree=tree), count(engines[1], *batches, tree=tree), tamper)


def plain(*batches: Sequence[Query]) -> list[list[list[float]]]:
    engine = PlaintextEngine(SCHEMA, TRAIN, TEST)
    return ravel([run_alone(engine.count(batch)) for batch in batches])


def ravel(answers: list[list[Answer]]) -> list[list[list[float]]]:
    return [[[*map(float, t.ravel())] for answer in batch for t in answer.tables] for batch in answers]


FIRST = [Query(ROOT, (0, 1, 2, 3), None)]
LEVELS = (
    FIRST,
    [Query(ROOT & Term(2, v), (0, 1, 3), None) for v in (0, 1)],
    [Query(ROOT & Term(2, 1) & Term(1, v), (0, 3), None) for v in (0, 1, 2)],
)


def known(levels: Sequence[Sequence[Query]]) -> list[list[Query]]:
    """Fill in the class counts of all nodes but the root."""

    def classes(expression: Expression) -> tuple[float, ...] | None:
        if expression == ROOT:
            return None
        rows = TRAIN[expression.satisfied_by(TRAIN)]
        return tuple(float((rows[:, -1] == c).sum()) for c in range(2))

    return [[replace(query, class_counts=classes(query.expression)) for query in level] for level in levels]
