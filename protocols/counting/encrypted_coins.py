"""Secure counting by encrypted coins (DESIGN 6.2): what a disguised copy hides of a record is exactly its coins.

The key holder sends, once for the whole run, for each record and each coin pattern `t != 0`

    C_t = Enc([coins of the record = t])

The evaluator, who holds the disguised copy already, then owns the expanded table with encrypted weights, pattern 0
having the weight `1 - sum_t C_t`, and forms `Enc(N(E))` for any `E` by multiplying ciphertexts. Rows with equal
contents are merged while the ciphertexts arrive, so the evaluator never holds more than the merged rows.

Security (semi-honest): the evaluator sees ciphertexts on top of the disguised copy; the key holder sees rerandomized
encryptions of the counts that both learn anyway.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.counting.compute import PageEncryptor, Workers, bundles, count_nodes
from protocols.counting.engine import Answer, Predictor, Query
from protocols.counting.expanded import RowSets, expand, merge_equal
from protocols.counting.margins import NodeTask
from protocols.counting.replies import Reply, Replying, Telling, page_length
from protocols.counting.view import View
from protocols.errors import InputError, PeerError
from protocols.messages import CiphertextPage
from protocols.paillier.arithmetic import Integer, invert_all, multiply_by_key
from protocols.paillier.ciphertext import read_page
from protocols.paillier.keys import PublicKey
from protocols.randomized_response.multi_group import MultiGroupDesign
from protocols.role import Progress, Role, Send, receive

MAX_CIPHERTEXTS_A_RECORD = 255
_PHASE = "encrypting coins"


def ciphertexts_a_record(design: MultiGroupDesign) -> int:
    """Return how many ciphertexts the owner of this disguise has to send for each record.

    Raises:
        InputError: They are too many for this engine.
    """
    if design.patterns - 1 > MAX_CIPHERTEXTS_A_RECORD:
        raise InputError(
            f"the groups have {design.patterns} coin patterns: too many to encrypt; "
            "use fewer groups, merge values (max_values) or choose engine dot_product"
        )
    return design.patterns - 1


class EncryptedCoinsKeyHolder:
    """The party whose coins are encrypted.

    Args:
        encryption: Encrypts under our key.
        design: Our own disguise.
        patterns: Coin pattern of every record, training records first.
        telling: Decrypts, checks and tells counts.

    Discloses: to the peer, ciphertexts under our key, and the exact counts of every batch.
    """

    def __init__(
        self, encryption: PageEncryptor, design: MultiGroupDesign, patterns: NDArray[np.intp], telling: Telling
    ) -> None:
        self._encryption, self._design, self._patterns, self._telling = encryption, design, patterns, telling

    def set_up(self) -> Role[None]:
        """Encrypt the coins and send them page by page, each as soon as it is made."""
        total = len(self._patterns) * ciphertexts_a_record(self._design)
        done = 0
        for page in self._encryption.encrypt_pages(self._pages()):
            yield Send(CiphertextPage(page))
            done += len(page) // self._telling.public_key.ciphertext_bytes
            yield Progress(_PHASE, done, total)

    def _pages(self) -> Iterator[list[int]]:
        """Yield `[coins of the record = t]` for all records and `t = 1, 2, ...`, a page at a time."""
        patterns = np.arange(1, 1 + ciphertexts_a_record(self._design))
        records = max(1, page_length(self._telling.public_key) // max(1, len(patterns)))
        for start in range(0, len(self._patterns), records):
            bits = self._patterns[start : start + records, None] == patterns
            if bits.size:
                yield bits.ravel().astype(int).tolist()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Wait for the evaluator's encrypted counts, decrypt, check and tell them."""
        return (yield from self._telling.answers(queries))

    def count_correct(self, tree: Predictor) -> Role[float]:
        """Decrypt and tell the number of test records that the tree classifies rightly."""
        del tree
        return (yield from self._telling.correct())


class EncryptedCoinsEvaluator:
    """The party that computes on the encrypted coins.

    Args:
        train: Our view of the training records.
        test: Our view of the test records.
        public_key: The peer's.
        replying: Packs, sends and checks counts.
        workers: Where nodes are counted.

    Discloses: to the peer, rerandomized encryptions of the exact counts of every batch.
    """

    def __init__(self, train: View, test: View, public_key: PublicKey, replying: Replying, workers: Workers) -> None:
        self._schema, self._replying, self._workers = train.schema, replying, workers
        self._n_square = public_key.n_square
        self._public_key = public_key
        self._train = _WeightedRows(train, public_key)
        self._test = _WeightedRows(test, public_key)
        self._sets = RowSets(self._train.codes)

    def set_up(self) -> Role[None]:
        """Receive the encrypted coins, multiplying each into its rows at once.

        Raises:
            PeerError: The pages do not hold the ciphertexts that the schema asks for.
            DeviationError: A ciphertext is not a unit.
        """
        expected = self._train.awaited + self._test.awaited
        sinks = _chain(self._train.sinks(), self._test.sinks())
        done = 0
        while done < expected:
            page = read_page(self._public_key, (yield from receive(CiphertextPage)).ciphertexts)
            if not 0 < len(page) <= expected - done:
                raise PeerError("the peer sent more or fewer encrypted coins than records need")
            for ciphertext in page:
                next(sinks)(ciphertext)
            done += len(page)
            yield Progress(_PHASE, done, expected)
        self._train.finish()
        self._test.finish()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Form every cell of the batch under encryption and have it decrypted."""
        self._sets.advance(query.expression for query in queries)
        cells: list[Integer | None] = []
        done = 0
        for counted in self._workers.map(count_nodes, bundles(map(self._task, queries))):
            for node in counted:
                cells += node
            done += len(counted)
            yield Progress("counting under encryption", done, len(queries))
        return (yield from self._replying.answers(queries, [Reply(tuple(cells), slots=1)]))

    def _task(self, query: Query) -> NodeTask:
        rows = self._sets.rows(query.expression)
        columns = [*query.candidates, self._schema.class_index]
        weights = self._train.weights
        return NodeTask(
            weights=[weights[row] for row in rows.tolist()],
            codes=np.ascontiguousarray(self._train.codes[rows][:, columns]),
            sizes=tuple(self._schema.columns[column].size for column in columns),
            modulus=self._n_square,
        )

    def count_correct(self, tree: Predictor) -> Role[float]:
        """Add up, under encryption, the test rows that the tree classifies rightly: one number is disclosed."""
        codes = self._test.codes
        hits = np.flatnonzero(tree.predict(codes) == codes[:, self._schema.class_index])
        values = [self._test.weights[row] for row in hits.tolist()]
        (total,) = multiply_by_key(values, np.zeros(len(values), dtype=np.intp), 1, self._n_square)
        return (yield from self._replying.correct(total))


class _WeightedRows:
    """Distinct rows of an expanded table and their encrypted weights."""

    def __init__(self, view: View, public_key: PublicKey) -> None:
        table = expand(view.codes, view.design, view.peer_columns)
        self.codes, merged, _ = merge_equal(table.codes)
        self._row_of = merged.reshape(len(view), view.design.patterns)
        self._key = public_key
        self._sums: list[Integer | None] = [None] * len(self.codes)
        self._lies: list[Integer | None] = [None] * len(self.codes)
        self.weights: list[Integer] = []

    @property
    def awaited(self) -> int:
        """Number of ciphertexts that the peer sends for these records."""
        return self._row_of.shape[0] * (self._row_of.shape[1] - 1)

    def sinks(self) -> Iterator[Callable[[Integer], None]]:
        """For each ciphertext in the order of sending, what takes it: its guess's row, and the true guess's."""
        n_square = self._key.n_square
        for rows in self._row_of.tolist():
            for row in rows[1:]:

                def take(ciphertext: Integer, row: int = row, truth: int = rows[0]) -> None:
                    _multiply_into(self._sums, row, ciphertext, n_square)
                    _multiply_into(self._lies, truth, ciphertext, n_square)

                yield take

    def finish(self) -> None:
        """Give pattern 0 its weight `1 - sum of the others`, for all rows in one inversion."""
        n, n_square = self._key.n, self._key.n_square
        lying = [row for row, lies in enumerate(self._lies) if lies is not None]
        inverses = invert_all([value for value in self._lies if value is not None], n_square)
        for row, inverse in zip(lying, inverses, strict=True):
            _multiply_into(self._sums, row, inverse, n_square)
        truths = np.bincount(self._row_of[:, 0], minlength=len(self.codes))
        self.weights = [
            (1 if value is None else value) * (1 + n * int(truth)) % n_square
            for value, truth in zip(self._sums, truths, strict=True)
        ]
        self._sums, self._lies = [], []


def _multiply_into(values: list[Integer | None], index: int, factor: Integer, modulus: Integer) -> None:
    current = values[index]
    values[index] = factor if current is None else current * factor % modulus


def _chain(*parts: Iterator[Callable[[Integer], None]]) -> Iterator[Callable[[Integer], None]]:
    for part in parts:
        yield from part
