"""Naive Bayes asks for the counts of all columns at once: where they would tell too much, both sides decline alike."""

import numpy as np

from protocols.errors import DisagreementError
from protocols.messages import BaseOffer, DisguisedPage, EstimatedCounts
from protocols.role import Message
from protocols.terms import Learner
from tests.support.duel import duel
from tests.support.parties import Case, make_roles, make_terms


def test_too_many_columns_for_so_few_records_are_refused_before_a_copy_leaves() -> None:
    """Bob's 60 columns would solve for the classes of 60 records; with a tree's limits, both decline."""
    codes = np.random.default_rng(0).integers(0, 2, size=(60, 62)).astype(np.uint8)
    sizes = {"alice": (2,), "bob": (2,) * 60}
    for method, limit, refused in (("smc", 2, True), ("randomized", 2, True), ("smc", 1, False)):
        terms = make_terms(method=method, learner=Learner.NAIVE_BAYES, min_leaf=limit)
        case = Case(sizes, ("alice",), 2, codes, {"alice": 1, "bob": 1}, terms)
        sent: list[Message] = []

        def keep(who: str, number: int, message: Message, sent: list[Message] = sent) -> Message:
            sent.append(message)
            return message

        ends = duel(*make_roles(case), keep)
        if refused:
            assert all(isinstance(end.error, DisagreementError) and end.error.field == "columns" for end in ends)
            assert not any(isinstance(m, DisguisedPage | BaseOffer | EstimatedCounts) for m in sent)
        else:
            assert ends[0].error is ends[1].error is None
