#!/usr/bin/env python
"""Rows that two parties classify together, by trees of this many leaves and naive Bayes; each has half of the columns.

Both play in one process, one after the other: the processor time is that of both parties together, the bytes are all
that crosses.
"""

import secrets
import time

import numpy as np
from _lab import make_parser, publish, say

from party.wire.codec import encode
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.routes import Routes
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.role import Transcript, run_pair
from protocols.tables import Attribute, Schema, Table
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.two_party.prediction import PredictionRun, SharedRows, predict_together

COLUMNS, BAYES_COLUMNS, VALUES = 16, 14, 3
SIZES = [(100, 300), (1000, 100), (1000, 300), (1000, 1000), (100_000, 300)]
BAYES_SIZES = [(1000, 2), (1000, 5), (100_000, 2)]
NO_KEY = PaillierKeyHolder(PrivateKey(5, 7))  # nothing is encrypted


def random_tree(leaves: int, rng: np.random.Generator) -> Tree:
    """Split leaves at random until there are this many; their classes are random, so that nothing may be left out."""
    attributes = tuple(Attribute("alice" if i % 2 else "bob", f"c{i}", ("x", "y", "z")) for i in range(COLUMNS))
    paths: list[tuple[int, ...]] = [()]
    splits: dict[tuple[int, ...], int] = {}
    used: dict[tuple[int, ...], frozenset[int]] = {(): frozenset()}
    while len(paths) < leaves:
        path = paths.pop(int(rng.integers(min(len(paths), 8))))  # the oldest: a tree of even depth
        column = int(rng.choice([c for c in range(COLUMNS) if c not in used[path]]))
        splits[path] = column
        for value in range(VALUES):
            used[(*path, value)] = used[path] | {column}
            paths.append((*path, value))

    def node(path: tuple[int, ...]) -> Node:
        counts = tuple(float(count) for count in rng.permutation([1, 2]))
        if path not in splits:
            return Leaf(counts, int(np.argmax(counts)))
        return Split(counts, splits[path], tuple(node((*path, value)) for value in range(VALUES)))

    return Tree(Schema(attributes, Attribute("", "class", ("no", "yes")), ()), node(()))


def random_bayes(classes: int, rng: np.random.Generator) -> NaiveBayes:
    """Return chances as of this many records, drawn at random."""
    columns = tuple(Attribute(("alice", "bob")[i % 2], f"c{i}", ("x", "y", "z")) for i in range(BAYES_COLUMNS))
    schema = Schema(columns, Attribute("", "class", tuple(f"k{label}" for label in range(classes))), ())
    tables = tuple(np.log(rng.dirichlet(np.ones(VALUES), classes).T) for _ in columns)
    return NaiveBayes(schema, np.log(rng.dirichlet(np.ones(classes) * 5)), tables)


def party(name: str) -> PartyInputs:
    table = Table((Attribute(name, "c", ("x",)),), np.zeros((1, 1), dtype=np.uint8))
    return PartyInputs(name, table, False, ("r",), (), "rows", Secrets(bytes(32), NO_KEY, secrets))


def measure(model: Model, rows: int) -> dict[str, object]:
    """Classify random rows, and check that the classes are those of the whole model."""
    codes = np.random.default_rng(1).integers(0, VALUES, (rows, len(model.schema.attributes))).astype(np.int16)
    shared = SharedRows(model, tuple(f"{number:06}" for number in range(rows)), codes)
    terms = PredictionTerms(model.digest(), Receiver.INITIATOR, probabilities=False)
    runs = [
        PredictionRun(party(name), shared, terms, name == "alice", peer, bytes(32))
        for name, peer in (("alice", "bob"), ("bob", "alice"))
    ]
    transcript, started = Transcript(), time.process_time()
    answers, _ = run_pair(predict_together(runs[0]), predict_together(runs[1]), transcript)
    seconds = time.process_time() - started
    told = [answers.outcomes[position].label for position in answers.positions] if answers else []
    if told != model.predict(codes).tolist():
        raise SystemExit("the classes are not those of the whole model")
    crossed = [len(encode(each)) for each in (*transcript.sent_by_a, *transcript.sent_by_b)]
    return {"rows": rows, "processor_seconds": seconds, "megabytes": sum(crossed) / 1e6}


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    results, rng = [], np.random.default_rng(1)
    for rows, leaves in [(10, 20)] if arguments.quick else SIZES:
        say(f"{rows} rows, {leaves} leaves ...")
        tree = random_tree(leaves, np.random.default_rng(1))
        size = {"leaves": len(tree.leaves()), "edges": Routes(tree, "alice", probabilities=False).edges}
        results.append({**size, **measure(tree, rows)})
    for rows, classes in [(10, 2)] if arguments.quick else BAYES_SIZES:
        say(f"{rows} rows, naive Bayes of {classes} classes ...")
        results.append({"classes": classes, **measure(random_bayes(classes, rng), rows)})
    publish(results, arguments.out)


if __name__ == "__main__":
    main()
