"""Secure counting by encrypted coins (DESIGN 6.2): what a disguised copy hides about a record is exactly its coins.

The key holder sends, once for the whole run, for each record and each coin pattern `t != 0`

    C_t = Enc([coins of the record = t])

The evaluator, who already holds the disguised copy, then owns the expanded table with encrypted weights, pattern 0
having the weight `1 - sum_t C_t`, and forms `Enc(N(E))` for any `E` by adding ciphertexts. Rows with equal
contents are merged while the ciphertexts arrive, so the evaluator never holds more than the merged rows.

Security (semi-honest): the evaluator sees ciphertexts on top of the disguised copy; the key holder sees rerandomized
encryptions of the counts that both learn anyway.
"""

from collections.abc import Iterator, Sequence
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.port import Ciphertexts, Reply, Values, sum_by_group
from protocols.counting.cells import NodeTask, bundles, count_nodes
from protocols.counting.replies import EvaluatorReplies, KeyHolderReplies, PlacedReply, page_length
from protocols.counting.rows import View, expand, merge_equal, rows_by_node
from protocols.counts import Answer, Correct, Learned, Query
from protocols.errors import InputError, PeerError
from protocols.messages import CiphertextPage
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Part, Phase, Progress, Role, Save, Send, receive
from protocols.tables.expression import Expression
from protocols.work import PageEncryptor, Workers

MAX_CIPHERTEXTS_PER_RECORD = 255


def ciphertexts_per_record(design: RelatedDesign) -> int:
    """Return how many ciphertexts the owner of this disguise has to send for each record.

    Raises:
        InputError: There are too many for this engine.
    """
    if design.patterns - 1 > MAX_CIPHERTEXTS_PER_RECORD:
        raise InputError(
            f"{design.patterns:,} coin patterns are too many to encrypt: "
            'take engine = "dot_product", or name groups of columns that share a coin'
        )
    return design.patterns - 1


class EncryptedCoinsKeyHolder(Generic[Values]):
    """The party whose coins are encrypted.

    Args:
        encryption: Encrypts under our key.
        design: Our own disguise.
        patterns: Coin pattern of every record: of those trained on, then of those to test.
        telling: Decrypts, checks and tells counts.
        there: How many bytes of ciphertexts the peer has kept from before.

    Discloses: to the peer, ciphertexts under our key, and the exact counts of every batch.
    """

    def __init__(
        self,
        encryption: PageEncryptor,
        design: RelatedDesign,
        patterns: NDArray[np.intp],
        telling: KeyHolderReplies[Values],
        there: int = 0,
    ) -> None:
        self._encryption, self._design, self._patterns, self._telling = encryption, design, patterns, telling
        self._there = there

    def set_up(self) -> Role[None]:
        """Encrypt the coins that the peer lacks and send them page by page, each as soon as it is made.

        Raises:
            PeerError: It cannot have kept what it says.
        """
        each = ciphertexts_per_record(self._design)
        total = len(self._patterns) * each
        done, rest = divmod(self._there, self._telling.key.public.ciphertext_bytes)
        if rest or done > total or (done and done % each):
            raise PeerError("the peer has kept other encrypted coins than it was sent")
        for page in self._encryption.encrypt_pages(self._pages(done // each if each else 0)):
            yield Send(CiphertextPage(page))
            done += len(page) // self._telling.key.public.ciphertext_bytes
            yield Progress(Phase.COINS, done, total)

    def _pages(self, first: int) -> Iterator[list[int]]:
        """Yield `[coins of the record = t]` for all records from the first on and `t = 1, 2, ...`, a page at a time."""
        patterns = np.arange(1, 1 + ciphertexts_per_record(self._design))
        records = max(1, page_length(self._telling.key.public) // max(1, len(patterns)))
        for start in range(first, len(self._patterns), records):
            bits = self._patterns[start : start + records, None] == patterns
            if bits.size:
                yield bits.ravel().astype(int).tolist()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Wait for the evaluator's encrypted counts, decrypt, check and tell them."""
        return (yield from self._telling.answers(queries))

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Decrypt and tell the number of test records that the model classifies correctly."""
        return (yield from self._telling.correct(model))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Decrypt, check and tell of how many training records each of these is true."""
        return (yield from self._telling.sets(sets))


class EncryptedCoinsEvaluator(Generic[Values]):
    """The party that computes on the encrypted coins.

    Args:
        train: Our view of the training records.
        test: Our view of the test records.
        replying: Seals, sends and checks counts, under the peer's key.
        workers: Where nodes are counted.
        kept: Pages of encrypted coins that have come before.

    Discloses: to the peer, rerandomized encryptions of the exact counts of every batch.
    """

    def __init__(
        self,
        train: View,
        test: View,
        replying: EvaluatorReplies[Values],
        workers: Workers,
        kept: Iterator[bytes] | None = None,
    ) -> None:
        self._kept = kept
        self._schema, self._replying, self._workers = train.schema, replying, workers
        self._cipher = replying.cipher
        self._train = _WeightedRows(train, self._cipher)
        self._test = _WeightedRows(test, self._cipher)
        self._sets = rows_by_node(self._train.codes)

    def set_up(self) -> Role[None]:
        """Receive the encrypted coins that we have not kept, adding each to its rows at once.

        A page is kept before the next one comes; item 0 of what is kept says which key all are under.

        Raises:
            PeerError: The pages do not hold the ciphertexts that the schema asks for.
            DeviationError: A ciphertext is not one.
        """
        expected = sum(part.awaited for part in self._parts)
        done, number = 0, 1
        for content in self._kept or ():
            done += self._take(content, expected - done)
            number += 1
        if self._kept is None and expected:
            yield Save(Part.COINS, 0, self._cipher.fingerprint().encode())
        while done < expected:
            content = (yield from receive(CiphertextPage)).ciphertexts
            done += self._take(content, expected - done)
            yield Save(Part.COINS, number, content)
            number += 1
            yield Progress(Phase.COINS, done, expected)
        for part in self._parts:
            part.finish()

    @property
    def _parts(self) -> tuple["_WeightedRows[Values]", ...]:
        return self._train, self._test

    def _take(self, content: bytes, most: int) -> int:
        """Count in a page of ciphertexts, and return how many it has."""
        page = self._cipher.read(content)
        if not 0 < len(page) <= most:
            raise PeerError("the peer sent more or fewer encrypted coins than records need")
        start = 0
        for part in self._parts:
            start = part.take(page, start)
        return len(page)

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Form every cell of the batch under encryption and have it decrypted."""
        self._sets.advance(query.expression for query in queries)
        cells: list[Values] = []
        for counted in self._workers.map(count_nodes, bundles(map(self._task, queries))):
            cells += counted
            yield Progress(Phase.COUNTS, len(cells), len(queries))
        items = self._cipher.join(cells)
        reply = PlacedReply(Reply(items, slots=1), [(cell,) for cell in range(len(items))])
        return (yield from self._replying.answers(queries, [reply]))

    def _task(self, query: Query) -> NodeTask[Values]:
        rows = self._sets.rows(query.expression)
        codes = np.ascontiguousarray(self._train.codes[rows][:, [*query.candidates, self._schema.class_index]])
        columns = query.columns(self._schema.classes)
        column_of = {label: position for position, labels in enumerate(columns) for label in labels}
        codes[:, -1] = np.array([column_of[label] for label in range(self._schema.classes)])[codes[:, -1]]
        return NodeTask(
            cipher=self._cipher,
            weights=self._cipher.take(self._train.weights, rows),
            codes=codes,
            sizes=(*(self._schema.attributes[candidate].size for candidate in query.candidates), len(columns)),
        )

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Add up, under encryption, the test rows that the model classifies correctly: one number is disclosed."""
        codes = self._test.codes
        hits = np.flatnonzero(model.predict(codes) == codes[:, self._schema.class_index])
        values = self._cipher.take(self._test.weights, hits)
        total = sum_by_group(self._cipher, values, np.zeros(len(hits), dtype=np.intp), 1)
        return (yield from self._replying.correct(model, total))

    def count_sets(self, sets: Sequence[Expression]) -> Role[list[int]]:
        """Add up, under encryption, the training rows of which each of these is true: one number for each."""
        numbers, rows = np.nonzero(np.array([each.satisfied_by(self._train.codes) for each in sets]))
        totals = sum_by_group(self._cipher, self._cipher.take(self._train.weights, rows), numbers, len(sets))
        return (yield from self._replying.sets(sets, totals))


class _WeightedRows(Generic[Values]):
    """Distinct rows of an expanded table and their encrypted weights; once all have come, no weight is nothing."""

    def __init__(self, view: View, cipher: Ciphertexts[Values]) -> None:
        table = expand(view.codes, view.design, view.peer_columns)
        self.codes, merged, _ = merge_equal(table.codes)
        self._row_of = merged.reshape(len(view), view.design.patterns)
        self._cipher = cipher
        self._guesses = cipher.sums(len(self.codes))
        self._lies = cipher.sums(len(self.codes))
        self._taken = 0
        self.weights: Values = self._guesses.totals()

    @property
    def awaited(self) -> int:
        """Number of ciphertexts that the peer sends for these records."""
        return self._row_of.shape[0] * (self._row_of.shape[1] - 1)

    def take(self, page: Values, start: int) -> int:
        """Take what belongs to these records from a page, from `start` on, and return where the rest begins.

        Each ciphertext goes to the row of its guess, and to the lies of the row of the true guess.
        """
        count = min(len(page) - start, self.awaited - self._taken)
        if count:
            record, lie = np.divmod(np.arange(self._taken, self._taken + count), self._row_of.shape[1] - 1)
            values = self._cipher.take(page, np.arange(start, start + count))
            self._guesses.add(values, self._row_of[record, lie + 1])
            self._lies.add(values, self._row_of[record, 0])
        self._taken += count
        return start + count

    def finish(self) -> None:
        """Give pattern 0 its weight `1 - sum of the others`, for all rows at once."""
        rows = np.arange(len(self.codes))
        self._guesses.add(self._cipher.negate(self._lies.totals()), rows)
        truths = np.bincount(self._row_of[:, 0], minlength=len(self.codes))
        self.weights = self._cipher.add_numbers(self._guesses.totals(), truths)
        self._guesses = self._lies = self._cipher.sums(0)
