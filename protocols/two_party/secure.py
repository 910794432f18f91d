"""A run of two parties sets up exact counts: who does what, and which engine each side has (DESIGN 6 and 15).

How many held-out records naive Bayes gets right both sides of oblivious transfers share (DESIGN 7.8). Which class of a
record has the highest score is no condition that one side's columns and the other's satisfy, so no dot product counts
it. The classes of each record are compared pair by pair (`learning.routes`): the chooser brings `X`, the corrector
`Y`. Nobody sees a result (`oblivious.gates`): a class wins that beats all others, and a record is right whose own
class, which the corrector knows, wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from protocols.ciphers.port import AnyCiphertexts
from protocols.counting.checks import Checks
from protocols.counting.dot_product import DotProductEvaluator, DotProductKeyHolder, make_layout
from protocols.counting.oblivious import ObliviousChooser, ObliviousCorrector, sides_of
from protocols.counting.replies import CountReceiver, CountSender
from protocols.counts import Learned, SecureEngine
from protocols.errors import InputError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.routes import Contest
from protocols.messages import HolderKey
from protocols.noise.both import EXACT, Noises
from protocols.oblivious.extension import TREE_DEPTH, Transfers, set_up
from protocols.oblivious.gates import Gates, Triples
from protocols.oblivious.numbers import wires_of
from protocols.randomness import Randomness, canonical
from protocols.role import Role, Send, receive
from protocols.tables import Codes, Index, Schema
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import Copies
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.ways import share_winners

_AT_ONCE = 1 << 17
"""Records times pairs of classes that are compared together."""


@dataclass(frozen=True, repr=False)
class BayesTest:
    """One side of the test of naive Bayes on held-out records, by joint codes with our own columns filled in.

    Discloses: nothing; the result is a share.
    """

    schema: Schema
    codes: Codes
    chooser: str
    is_chooser: bool
    randomness: Randomness

    def __call__(self, model: Learned, transfers: Transfers, width: int) -> Role[int]:
        """Return our share, of this many bits, of how many records are classified correctly."""
        if not isinstance(model, NaiveBayes):
            raise InputError("only trees and naive Bayes are tested")
        contest, total = Contest(model, self.chooser), 0
        gates = Gates(self.is_chooser, transfers, Triples(transfers, self.randomness))
        size = max(1, _AT_ONCE // max(1, contest.pairs))
        for codes in (self.codes[start : start + size] for start in range(0, len(self.codes), size)):
            wins = yield from share_winners(contest, codes, gates, asks=self.is_chooser)
            labels = wires_of(codes[:, self.schema.class_index] == contest.classes[:, None])
            right = yield from gates.both(wins, gates.ours(labels, mine=not self.is_chooser))
            total += yield from gates.ones(np.bitwise_xor.reduce(right, axis=0), width)
        return total % (1 << width)


RecordParts = tuple[Index, Index]
"""The records that are trained on, and those to test."""


@dataclass(frozen=True)
class SharedKey:
    """The key of counts under encryption: whose it is, and the digest that both screens show."""

    holder: str
    fingerprint: str


@dataclass(frozen=True, repr=False)
class SecureCounting:
    """One party's side of the exact counts of a run, on these parts of the records.

    Discloses: the public key, where counts are encrypted and we hold it; else nothing.
    """

    local: PartyInputs
    agreed: Agreement
    copies: Copies
    parts: RecordParts
    checks: Checks
    noises: Noises = EXACT

    @property
    def _first(self) -> str:
        return first_side(self.local.party, self.agreed)

    @property
    def _is_first(self) -> bool:
        return self._first == self.local.party

    @property
    def _sizes(self) -> tuple[int, int]:
        train, test = self.parts
        return len(train), len(test)

    def engine(self) -> Role[tuple[SecureEngine, SharedKey | None]]:
        """Make our side's engine, and exchange the key if it needs one."""
        train, test = (self.agreed.schema.recode(self.copies.view.rows(part).codes) for part in self.parts)
        if not self.agreed.terms.encrypts:
            return self._transferring(train, test), None
        cipher = yield from self._share_key()
        return self._encrypting(cipher, train, test), SharedKey(self._first, cipher.fingerprint())

    def _transferring(self, train: Codes, test: Codes) -> SecureEngine:
        schema, randomness, places = self.agreed.schema, self.local.secrets.randomness, self.local.computing.places
        sides = sides_of(schema, self._first)
        held_out = BayesTest(schema, test, self._first, self._is_first, randomness)
        if self._is_first:
            telling = CountSender(self.checks, self._sizes, self.noises)
            return ObliviousChooser(sides, train, test, telling, randomness, held_out, places)
        hearing = CountReceiver(self.checks, self._sizes, self.noises)
        return ObliviousCorrector(sides, train, test, hearing, randomness, held_out, places)

    def gates(self, engine: SecureEngine) -> Role[Gates]:
        """Return our part of what is computed beside counts: by the engine's transfers, or by a session of its own."""
        randomness = self.local.secrets.randomness
        if isinstance(engine, ObliviousChooser | ObliviousCorrector):
            transfers = engine.transfers
        else:
            transfers = yield from set_up(TREE_DEPTH, randomness, self.local.computing.places)
        return Gates(self._is_first, transfers, Triples(transfers, randomness))

    def _share_key(self) -> Role[AnyCiphertexts]:
        """Send the public key, or receive the peer's."""
        context, key = canonical(self.agreed.nonces, self._first.encode()), self.local.secrets.key
        if self._is_first:
            yield Send(HolderKey(key.announce(context)))
            return key.public
        return key.read_peer((yield from receive(HolderKey)).key, self.agreed.terms.key_bits, context)

    def _encrypting(self, cipher: AnyCiphertexts, train: Codes, test: Codes) -> SecureEngine:
        schema, secrets = self.agreed.schema, self.local.secrets
        if self._is_first:
            telling = CountSender(self.checks, self._sizes, self.noises)
            layout = make_layout(schema, self._first, telling.largest, cipher)
            encryption = self.local.computing.encryption(secrets.key)
            return DotProductKeyHolder(encryption, layout, train, test, secrets.key, telling)
        hearing = CountReceiver(self.checks, self._sizes, self.noises)
        layout = make_layout(schema, self._first, hearing.largest, cipher)
        return DotProductEvaluator(layout, train, test, cipher, hearing, secrets.randomness)


def first_side(party: str, agreed: Agreement) -> str:
    """Return who chooses in the transfers, or holds the key."""
    schema = agreed.schema
    columns = {name: schema.sizes_of(name) for name in (party, agreed.peer)}
    class_holder = schema.class_owners[0] if len(schema.class_owners) == 1 else None
    if agreed.terms.encrypts:
        return lighter_side(columns, class_holder, schema.classes)
    return choosing_side(columns, class_holder)


def choosing_side(columns: Mapping[str, Sequence[int]], class_holder: str | None) -> str:
    """Return who chooses in the transfers: who lacks the class; where both hold it, who has less to choose."""
    others = {name: sizes for name, sizes in columns.items() if name != class_holder}
    return lighter_side(others, None, 1)


def lighter_side(columns: Mapping[str, Sequence[int]], class_holder: str | None, classes: int) -> str:
    """Return who has fewer combinations of values to send: a vector for each distinct `E_a` of its columns.

    A class that it alone holds is one, too. Of equals it is who does not hold the class, then the first name.
    """

    def weight(name: str) -> tuple[int, bool, str]:
        alone = name == class_holder
        return prod(columns[name]) * (classes if alone else 1), alone, name

    return min(columns, key=weight)
