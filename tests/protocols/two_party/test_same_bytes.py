"""With fixed secrets and seeds, models, counts and coins are the same bytes as ever: a change of them is a decision."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np

from protocols.role import run_pair
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_roles, make_terms

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "same_bytes.json").read_text("utf-8"))
CODES = correlated([2, 3, 2, 2, 2, 2], 200)
TERMS: dict[str, dict[str, object]] = {
    "hybrid, window 1": {"omega": 1},
    "hybrid, window 2": {"omega": 2},
    "hybrid by dot products": {"counting": "paillier", "omega": 2},
    "smc": {"method": "smc"},
    "randomized": {"method": "randomized", "omega": 1},
}


def case(way: str) -> Case:
    sizes = {"alice": (2, 3, 2), "bob": (2, 2)}
    terms = make_terms(theta=Fraction(2, 5), **TERMS[way])
    return Case(sizes, ("bob",), 2, CODES, {"alice": 2, "bob": 1}, terms)


def test_a_run_ends_with_the_same_model_and_coins() -> None:
    for way in TERMS:
        (_, alice), (_, bob) = run_pair(*make_roles(case(way)))
        told = [alice.tree.digest().hex(), alice.smc_computations, alice.exact_counts_disclosed, alice.correct]
        assert told == VECTORS["models"][way]
        assert bob.tree.digest() == alice.tree.digest()
    local = make_local(case("smc"), "alice")
    coins = np.ascontiguousarray(local.coins(local.design(Fraction(2, 5), class_is_shared=False)))
    assert hashlib.sha256(coins.tobytes()).hexdigest() == VECTORS["coins"]
