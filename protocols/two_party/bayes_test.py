"""How many held-out records naive Bayes gets right where no coins are encrypted (DESIGN 7.8), as roles.

A dot product counts records that satisfy both sides' conditions; which class of a record has the highest score is no
such condition. So the classes are compared (`comparing`), with the key holder as the asker, in an order that the
evaluator draws for each record. The key holder knows the winner's place:

    encrypted bits     from the key holder: for each record, a bit per place, 1 at the winner's; where it alone holds
                       the class, a bit per place and class
    sealed count       to the key holder: the evaluator knows which class stands at which place, and adds the bits of
                       each record's own class

then the number is told as after any batch, with noise where counts have it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.counting.replies import EvaluatorReplies, KeyHolderReplies
from protocols.counts import Answer, Correct, Learned, Query, SecureEngine
from protocols.errors import InputError
from protocols.learning.contest import Contest
from protocols.learning.naive_bayes import NaiveBayes
from protocols.role import Phase, Role
from protocols.tables.arrays import Index
from protocols.tables.expression import Expression
from protocols.tables.schema import Schema
from protocols.tables.table import Codes
from protocols.two_party.comparing import learn_places, tell_places
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.row_sums import RowPages, receive_bits, send_bits


@dataclass(frozen=True, repr=False)
class TestRecords:
    """The held-out records as one party sees them.

    Args:
        local: What we bring.
        schema: The joint schema.
        codes: Joint codes with our own columns filled in.
        key_holder: The party that holds the key.
    """

    local: PartyInputs
    schema: Schema
    codes: Codes
    key_holder: str

    @property
    def labels(self) -> Index:
        """Each record's class; only where we hold it."""
        return self.codes[:, self.schema.class_index].astype(np.intp)

    @property
    def asker_alone_knows(self) -> bool:
        """Whether the class is known to the key holder alone."""
        return self.schema.class_owners == (self.key_holder,)

    def contest(self, model: Learned) -> Contest:
        """Return the comparisons of a model's classes.

        Raises:
            InputError: It is a model of another kind.
        """
        if not isinstance(model, NaiveBayes):
            raise InputError("comparisons of classes test naive Bayes alone")
        return Contest(model, self.key_holder)

    def layout(self, contest: Contest) -> RowPages:
        """Return how the bits travel that tell who has won."""
        labels = self.schema.classes if self.asker_alone_knows else 1
        return RowPages(len(self.codes), len(contest.classes) * labels, 1)


@dataclass(frozen=True, repr=False)
class _Counting:
    """An engine that counts as another does.

    Args:
        engine: The other.
        held_out: What is tested on.
    """

    engine: SecureEngine
    held_out: TestRecords

    def set_up(self) -> Role[None]:
        """Let the engine do so."""
        yield from self.engine.set_up()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Let the engine do so."""
        return (yield from self.engine.count(queries))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Let the engine do so."""
        return (yield from self.engine.count_sets(sets))


@dataclass(frozen=True, repr=False)
class BayesTestKeyHolder(_Counting):
    """The key holder's engine, with a test of naive Bayes.

    Discloses: whatever `engine` does, fresh ciphertexts, and the number of correctly classified test records.
    """

    telling: KeyHolderReplies[Any]

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Learn each record's winning place, send who has won, and tell the number that comes back."""
        held_out, contest = self.held_out, self.held_out.contest(model)
        if len(held_out.codes):
            local, key = held_out.local, self.telling.key
            places = yield from learn_places(contest, held_out.codes, key, local, Phase.HELD_OUT)

            def bits(rows: Index) -> NDArray[np.bool_]:
                won: NDArray[np.bool_] = places[rows, None] == np.arange(len(contest.classes))
                if not held_out.asker_alone_knows:
                    return won
                own = held_out.labels[rows, None] == np.arange(held_out.schema.classes)
                both: NDArray[np.bool_] = won[:, :, None] & own[:, None, :]
                return both.reshape(len(rows), -1)

            yield from send_bits(held_out.layout(contest), bits, key, local, Phase.HELD_OUT)
        return (yield from self.telling.correct(model))


@dataclass(frozen=True, repr=False)
class BayesTestEvaluator(_Counting):
    """The evaluator's engine, with a test of naive Bayes.

    Discloses: whatever `engine` does; of each record what `comparing` says; and the number of correctly classified test
        records, rerandomized.
    """

    replying: EvaluatorReplies[Any]

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Compare the classes of each record, and add the bits of those whose own class has won."""
        held_out, cipher, contest = self.held_out, self.replying.cipher, self.held_out.contest(model)
        total = cipher.sums(1)
        if len(held_out.codes):
            orders = yield from tell_places(contest, held_out.codes, cipher, held_out.local, Phase.HELD_OUT)
            layout = held_out.layout(contest)
            for rows in layout.pages(cipher):
                page = cipher.read((yield from receive_bits(layout, rows, cipher)))
                added = self._added(contest.classes[orders[rows]], rows)
                total.add(cipher.take(page, added), np.zeros(len(added), dtype=np.intp))
        return (yield from self.replying.correct(model, total.totals()))

    def _added(self, classes: Index, rows: Index) -> Index:
        """Return which bits of a page are added, by the class at each place of its records."""
        held_out, (count, places) = self.held_out, classes.shape
        if held_out.asker_alone_knows:
            every: Index = (np.arange(count * places) * held_out.schema.classes) + classes.ravel()
            return every
        own: Index = np.flatnonzero(classes.ravel() == np.repeat(held_out.labels[rows], places))
        return own
