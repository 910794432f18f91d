"""What the counts of naive Bayes tell a partner that chooses its columns, and follows the protocol."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.messages import ExactCounts
from protocols.role import Transcript, run_pair
from protocols.tables.table import Codes
from protocols.terms import Learner
from tests.support.parties import Case, make_roles, make_terms

RECORDS, THETA = 300, Fraction(2, 3)


def case_of(codes: Codes, columns: int, **terms: Any) -> Case:
    """Return a case in which Alice holds the class and a constant, Bob two-valued columns of his choice."""
    agreed = make_terms(**{"learner": Learner.NAIVE_BAYES, "test": Fraction(0), **terms})
    return Case({"alice": (1,), "bob": (2,) * columns}, ("alice",), 2, codes, {"alice": 1, "bob": columns}, agreed)


def played(case: Case) -> Transcript:
    sent = Transcript()
    run_pair(*make_roles(case), sent)
    return sent


def chosen(records: int, columns: int) -> Codes:
    """Return random classes, and columns of Bob's that are independent of all else: each is one equation."""
    codes = np.random.default_rng(records + columns).integers(0, 2, size=(records, columns + 2)).astype(np.uint8)
    codes[:, 0] = 0
    return codes


def solved(case: Case, columns: int) -> NDArray[np.bool_]:
    """Return of which records Bob guesses the class rightly, from the exact counts and his columns."""
    sent = played(case)
    (told,) = (m.values for m in (*sent.sent_by_a, *sent.sent_by_b) if isinstance(m, ExactCounts))
    ones = np.array(told[2:]).reshape(columns, 2, 2)[:, 1, 1]
    own = case.codes[:, 1:-1].astype(float)
    share = case.codes[:, -1].mean()
    guess = share + np.linalg.pinv(own.T - own.mean()) @ (ones - own.sum(axis=0) * share)
    right: NDArray[np.bool_] = (guess > 0.5) == case.codes[:, -1]
    return right


def test_as_many_columns_as_records_read_every_class_and_a_tenth_as_many_a_little_of_each() -> None:
    """Of 600 records, guesses by 63 columns are right for two in three."""
    assert solved(case_of(chosen(60, 60), 60, method="smc", min_leaf=5), 60).mean() > 0.95
    assert 0.55 < solved(case_of(chosen(600, 63), 63, method="smc", min_leaf=5), 63).mean() < 0.72
