"""Setting up exact counts in a run of two parties: who holds the key, and the engine at either side (DESIGN 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder
from protocols.counting.checks import Checks
from protocols.counting.dot_product import DotProductEvaluator, DotProductKeyHolder, make_layout
from protocols.counting.encrypted_coins import EncryptedCoinsEvaluator, EncryptedCoinsKeyHolder
from protocols.counting.replies import EvaluatorReplies, KeyHolderReplies
from protocols.counting.rows import View
from protocols.counts import SecureEngine
from protocols.messages import HolderKey
from protocols.noise.both import EXACT, Noises
from protocols.randomness import canonical
from protocols.role import Role, Send, receive
from protocols.tables.arrays import Index
from protocols.terms import Learner
from protocols.two_party.agreement import Agreement
from protocols.two_party.bayes_test import BayesTestEvaluator, BayesTestKeyHolder, TestRecords
from protocols.two_party.copies import Copies
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.resume import Resumed

RecordParts = tuple[Index, Index]
"""The records that are trained on, and those to test."""


@dataclass(frozen=True, repr=False)
class SecureCounting:
    """One party's side of the exact counts of a run.

    Args:
        local: What we bring.
        agreed: What was agreed.
        copies: What the exchange of copies has left.
        parts: Which records are counted on.
        resumed: What need not be sent again.
        noises: In what is told.

    Discloses: the public key, if we hold the key; else nothing.
    """

    local: PartyInputs
    agreed: Agreement
    copies: Copies
    parts: RecordParts
    resumed: Resumed
    noises: Noises = EXACT

    @property
    def key_holder(self) -> str:
        """The party that holds the key."""
        return key_holder(self.local.party, self.agreed)

    @property
    def _key(self) -> AnyKeyHolder:
        return self.local.secrets.keys[self.agreed.terms.cipher]

    @property
    def _holds_key(self) -> bool:
        return self.key_holder == self.local.party

    def share_key(self) -> Role[AnyCiphertexts]:
        """Send the public key, or receive the peer's.

        Raises:
            PeerError: It is no key, or a weaker one than was agreed.
        """
        context = canonical(self.agreed.nonces, self.key_holder.encode())
        if self._holds_key:
            yield Send(HolderKey(self._key.announce(context)))
            return self._key.public
        return self._key.read_peer((yield from receive(HolderKey)).key, self.agreed.terms.key_bits, context)

    def engine(self, cipher: AnyCiphertexts, checks: Checks) -> SecureEngine:
        """Make our side's engine under the shared key."""
        view = self.copies.view
        train, test = (view.rows(part) for part in self.parts)
        sizes = (len(train), len(test))
        telling = KeyHolderReplies(self._key, checks, sizes, self.noises)
        replying = EvaluatorReplies(cipher, checks, sizes, self.local.secrets.randomness, self.noises)
        compute = self.local.computing
        if not self.agreed.terms.encrypts_coins:
            return self._dot_product(cipher, (train, test), telling, replying)
        if self._holds_key:
            design = self.agreed.own_design
            patterns = design.pattern_of(self.copies.coins[np.concatenate(self.parts)])
            there = self.resumed.sent_before(cipher.fingerprint())
            return EncryptedCoinsKeyHolder(compute.encryption(self._key), design, patterns, telling, there)
        pages = self.resumed.pages(cipher.fingerprint())
        return EncryptedCoinsEvaluator(train, test, replying, compute.workers, pages)

    def _dot_product(
        self,
        cipher: AnyCiphertexts,
        views: tuple[View, View],
        telling: KeyHolderReplies[Any],
        replying: EvaluatorReplies[Any],
    ) -> SecureEngine:
        train, test = (view.codes for view in views)
        largest = telling.largest if self._holds_key else replying.largest
        layout = make_layout(self.agreed.schema, self.key_holder, largest, cipher)
        held_out = TestRecords(self.local, self.agreed.schema, test, self.key_holder)
        is_bayes = self.agreed.terms.learner is Learner.NAIVE_BAYES
        if self._holds_key:
            encryption = self.local.computing.encryption(self._key)
            holder = DotProductKeyHolder(encryption, layout, train, test, telling)
            return BayesTestKeyHolder(holder, held_out, telling) if is_bayes else holder
        evaluator = DotProductEvaluator(layout, train, test, replying)
        return BayesTestEvaluator(evaluator, held_out, replying) if is_bayes else evaluator


def key_holder(party: str, agreed: Agreement) -> str:
    """Return who holds the key: who has less to encrypt.

    For `encrypted_coins` that is the side with fewer coin patterns, of equals the first name (DESIGN 6.2); for
    `dot_product` the side that probably makes fewer distinct conjunctions of its columns (DESIGN 6.1).
    """
    if not agreed.terms.encrypts_coins:
        schema, parties = agreed.schema, (party, agreed.peer)
        columns = {name: schema.sizes_of(name) for name in parties}
        class_holder = schema.class_owners[0] if len(schema.class_owners) == 1 else None
        return lighter_side(columns, class_holder, schema.classes)
    patterns = {party: agreed.own_design.patterns, agreed.peer: agreed.peer_design.patterns}
    return min(patterns, key=lambda name: (patterns[name], name))


def lighter_side(columns: Mapping[str, Sequence[int]], class_holder: str | None, classes: int) -> str:
    """Return who has less to encrypt, from what both know: a vector for each distinct `E_a` of its columns.

    That is who has fewer combinations of values; a class that it alone holds is a column of its own, for it would be
    encrypted too. Of equals it is who does not hold the class, then the first name.

    Args:
        columns: Of each party, how many values its attributes have.
        class_holder: Who alone holds the class; None if both do.
        classes: How many there are.
    """

    def weight(name: str) -> tuple[int, bool, str]:
        alone = name == class_holder
        return prod(columns[name]) * (classes if alone else 1), alone, name

    return min(columns, key=weight)
