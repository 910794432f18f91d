#!/usr/bin/env python
"""Rows classified by two parties together, by trees of so many leaves, each party holding half of the columns.

Both play in one process, one after the other, with as many workers as there are processors: the time is that of both
parties on one machine, without a line between them.
"""

import secrets
import time

import numpy as np
from _lab import make_parser, publish, say

from party.compute import ComputeSettings, make_compute
from protocols.ciphers.curve import ORDER
from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.jobs import PredictionTerms, Receiver
from protocols.learning.routes import Routes
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.messages import CiphertextPage, SealedAnswers
from protocols.role import Transcript, run_pair
from protocols.tables.schema import Attribute, Schema
from protocols.tables.table import Table
from protocols.terms import Cipher
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.two_party.prediction import PredictionRun, SharedRows, predict_together
from protocols.work import Compute

COLUMNS, VALUES, BITS = 16, 3, 3072
SIZES = [(100, 300), (1000, 100), (1000, 300), (1000, 1000)]


def random_tree(leaves: int, rng: np.random.Generator) -> Tree:
    """Split leaves at random until there are so many; their classes are random, so that nothing may be left out."""
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


def party(name: str, compute: Compute) -> PartyInputs:
    table = Table((Attribute(name, "c", ("x",)),), np.zeros((1, 1), dtype=np.uint8))
    keys = {Cipher.CURVE: CurveKeyHolder(CurvePrivateKey(secrets.randbelow(ORDER)))}
    return PartyInputs(name, table, False, ("r",), (), "rows", Secrets(bytes(32), keys, secrets), compute)


def measure(rows: int, leaves: int, compute: Compute) -> dict[str, object]:
    rng = np.random.default_rng(1)
    tree = random_tree(leaves, rng)
    codes = rng.integers(0, VALUES, size=(rows, COLUMNS)).astype(np.int16)
    shared = SharedRows(tree, tuple(f"{number:06}" for number in range(rows)), codes)
    terms = PredictionTerms(tree.digest(), Receiver.INITIATOR, False, Cipher.CURVE, BITS)
    runs = [
        PredictionRun(party(name, compute), shared, terms, name == "alice", peer, bytes(32))
        for name, peer in (("alice", "bob"), ("bob", "alice"))
    ]
    transcript, started = Transcript(), time.monotonic()
    answers, _ = run_pair(predict_together(runs[0]), predict_together(runs[1]), transcript)
    seconds = time.monotonic() - started
    told = [answers.outcomes[position].label for position in answers.positions] if answers else []
    if told != tree.predict(codes).tolist():
        raise SystemExit("the classes are not those of the whole tree")
    crossed = [*transcript.sent_by_a, *transcript.sent_by_b]
    size = sum(len(each.ciphertexts) for each in crossed if isinstance(each, CiphertextPage | SealedAnswers))
    edges = Routes(tree, "alice", probabilities=False).edges
    return {"rows": rows, "leaves": len(tree.leaves()), "edges": edges, "seconds": seconds, "megabytes": size / 1e6}


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    results = []
    with make_compute(ComputeSettings()) as compute:
        for rows, leaves in [(10, 20)] if arguments.quick else SIZES:
            say(f"{rows} rows, {leaves} leaves ...")
            results.append(measure(rows, leaves, compute))
    publish(results, arguments.out)


if __name__ == "__main__":
    main()
