"""Two parties that look for itemsets together over one small table, and plain Apriori beside them."""

import secrets
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from protocols.association.joint import items_of
from protocols.association.own_sets import TermSet
from protocols.jobs import Train
from protocols.randomized_response.related_question import default_groups
from protocols.role import Kept, Role, Transcript, run_pair
from protocols.tables import Attribute, Codes, Table, Term
from protocols.terms import Counting, Method, MiningTerms, RuleTerms
from protocols.two_party.agreement import agree_on_training, answer, propose
from protocols.two_party.inputs import PartyInputs, Secrets
from protocols.two_party.itemsets import FoundTogether, find_itemsets
from tests.support.parties import NO_LIMITS, TEST_BITS, agree_to_all, key_holder, labels, training_terms

PARTIES = ("alice", "bob")


@dataclass(frozen=True)
class RuleCase:
    """A joint table of which the first columns are Alice's, and the terms."""

    sizes: dict[str, tuple[int, ...]]
    codes: Codes
    terms: MiningTerms
    groups: int = 2

    def with_terms(self, **changes: object) -> "RuleCase":
        """Return the case on other terms."""
        return replace(self, terms=replace(self.terms, **changes))  # type: ignore[arg-type]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Of both, in the agreed order."""
        return tuple(
            Attribute(party, f"{party[0]}{i}", labels(size))
            for party in PARTIES
            for i, size in enumerate(self.sizes[party])
        )

    def local(self, party: str) -> PartyInputs:
        """Return what a party brings."""
        first = len(self.sizes["alice"])
        columns = slice(first) if party == "alice" else slice(first, None)
        attributes = self.attributes[columns]
        number = PARTIES.index(party)
        return PartyInputs(
            party=party,
            table=Table(attributes, np.ascontiguousarray(self.codes[:, columns])),
            holds_class=False,
            records=tuple(f"r{i}" for i in range(len(self.codes))),
            groups=default_groups([a.size for a in attributes], self.groups),
            dataset="case",
            secrets=Secrets(bytes([number]) * 32, key_holder(number), secrets),
            limits=replace(NO_LIMITS, most_columns=len(self.attributes)),
        )

    def role(self, party: str, kept: Kept | None = None) -> Role[FoundTogether]:
        """Agree, and play one party's part; Alice opens."""
        peer = PARTIES[1 - PARTIES.index(party)]
        local, nonce = self.local(party), secrets.token_bytes(32)
        if party == "alice":
            opening = yield from propose(local, Train(self.terms), agree_to_all, peer, nonce)
        else:
            opening = yield from answer(local, agree_to_all, peer, nonce)
        terms = training_terms(opening.job)
        ready = local.bringing(terms)
        agreed = yield from agree_on_training(ready, terms, peer, opening.nonces)
        return (yield from find_itemsets(ready, agreed, kept=kept))

    def play(self, transcript: Transcript | None = None) -> tuple[FoundTogether, FoundTogether]:
        """Play both parts."""
        return run_pair(self.role("alice"), self.role("bob"), transcript)


def rule_terms(rules: RuleTerms, **changes: Any) -> MiningTerms:
    """Return terms of rules with changes: hybrid, by oblivious transfer, without limits."""
    usual: dict[str, Any] = {
        "method": Method.HYBRID, "theta": Fraction(4, 5), "counting": Counting.OBLIVIOUS_TRANSFER,
        "key_bits": TEST_BITS, "rules": rules,
    }  # fmt: skip
    return MiningTerms(**usual | changes)


def plain_apriori(case: RuleCase) -> dict[TermSet, int]:
    """Count every set of the joined table, by brute force, and return the frequent ones."""
    rules = case.terms.rules
    least, found = rules.least(len(case.codes)), dict[TermSet, int]()
    by_column: dict[int, list[int]] = {}
    for item in items_of(case.attributes, rules.absent):
        by_column.setdefault(item.column, []).append(item.value)
    for length in range(1, rules.max_len + 1):
        for columns in combinations(sorted(by_column), length):
            for values in product(*(by_column[column] for column in columns)):
                count = int((case.codes[:, list(columns)] == values).all(axis=1).sum())
                if count >= least:
                    found[tuple(Term(c, v) for c, v in zip(columns, values, strict=True))] = count
    return found
