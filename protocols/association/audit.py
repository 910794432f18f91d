"""Self-audit of a sampler of transactions: what it sends, held against what its operators declare (DESIGN 9.1 and 10).

For every size one made-up transaction is randomized many times over, and these are counted and held against
their declared chances by Chernoff's bound:

* how many own items stay, and how many foreign ones enter;
* of sets of up to three items, with every number of own items in them, how many are shown: `p[l -> l']`;
* of one transaction and the next, how an item foreign to both comes: by coins of their own.

The number of trials follows from the departure that must be caught: the chance that an own item is shown, or that a
foreign one is, off by `shift`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.association.operators import Operator, transition
from protocols.association.sampling import Words, randomize
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.privacy.audit import FEWEST, MAX_RECORDS
from protocols.privacy.chernoff import DEFAULT_GOAL, Audit, Counted, Goal, limit_of, trials_needed

MOST_ITEMS_TOGETHER = 3
_MOST_CELLS = 64

TransactionSampler = Callable[[Transactions, TransactionDesign, Words], Randomized]


@dataclass(frozen=True)
class OperatorTest(Counted):
    """One count of what a sampler sends of transactions of this original size, and what was counted."""

    size: int
    what: str


OperatorAudit = Audit[OperatorTest]
"""What an audit of transactions found; the shift of its goal is of the chance that an item is shown."""


@dataclass(frozen=True)
class _Count:
    """How many of these items are sent: the chances of every number; of two transactions together if `serial`."""

    what: str
    chances: tuple[Fraction, ...]
    items: tuple[int, ...]
    serial: bool = False

    def values(self, sent: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return what came, trial by trial."""
        number: NDArray[np.int64] = sent[:, list(self.items)].sum(axis=1, dtype=np.int64)
        whole = len(number) - len(number) % 2
        return number[0:whole:2] + number[1:whole:2] if self.serial else number


def audit_operators(
    design: TransactionDesign,
    make_words: Callable[[int], Words],
    sampler: TransactionSampler = randomize,
    goal: Goal = DEFAULT_GOAL,
) -> OperatorAudit:
    """Run a sampler and hold what it sends against its design; `make_words` is called once per size."""
    plans = [(design.operator(size), list(_counts(design.operator(size), design.universe))) for size in design.sizes]
    limit = limit_of(goal, (chance for _, counts in plans for count in counts for chance in count.chances))
    tests: list[OperatorTest] = []
    total = 0
    for operator, counts in plans:
        trials = _trials(operator, design.universe, goal, limit)
        total += trials
        if total > MAX_RECORDS:
            raise InputError(
                f"the goal needs more than {MAX_RECORDS} transactions: raise the shift or the false-alarm rate, or "
                "lower the power"
            )
        sent = _sent(design, operator, trials, make_words(trials), sampler)
        tests += (test for count in counts for test in _tests(operator.size, count, sent, limit))
    return Audit(goal, total, tuple(tests))


def _sent(
    design: TransactionDesign, operator: Operator, trials: int, words: Words, sampler: TransactionSampler
) -> NDArray[np.bool_]:
    """Randomize the transaction of the first `m` items, again and again."""
    starts = np.arange(trials + 1, dtype=np.int64) * operator.size
    items = np.tile(np.arange(operator.size, dtype=np.int32), trials)
    found = sampler(Transactions(design.universe, starts, items), design, words)
    if len(found) != trials or found.transactions.universe != design.universe:
        raise InputError(f"the sampler returned {len(found)} transactions for {trials}, or another universe")
    return found.transactions.matrix(np.arange(trials))


def _counts(operator: Operator, universe: int) -> Iterator[_Count]:
    m, foreign = operator.size, universe - operator.size
    yield _Count("own items that stay", operator.kept.fractions, tuple(range(m)))
    yield _Count("foreign items that enter", _entered(operator, foreign), tuple(range(m, universe)))
    for k in range(1, MOST_ITEMS_TOGETHER + 1):
        for held in range(max(0, k - foreign), min(k, m) + 1):
            chances = tuple(row[held] for row in transition(operator, k))
            name = f"of {k} items, {held} of them own, shown"
            yield _Count(name, chances, (*range(held), *range(m, m + k - held)))
    if foreign:
        shown = transition(operator, 1)[1][0]
        both = ((1 - shown) ** 2, 2 * shown * (1 - shown), shown**2)
        yield _Count("one foreign item, in one transaction and the next, shown", both, (m,), serial=True)


def _entered(operator: Operator, foreign: int) -> tuple[Fraction, ...]:
    """Return the chances of every number of foreign items."""
    chances = [Fraction(0)] * (foreign + 1)
    for j, share in enumerate(operator.kept.fractions):
        if share:
            for number, chance in enumerate(operator.entering(j, foreign).fractions):
                chances[number] += share * chance
    return tuple(chances)


def _tests(size: int, count: _Count, sent: NDArray[np.bool_], limit: float) -> Iterator[OperatorTest]:
    """Test every value that is likely enough for a test, and all others together."""
    values = count.values(sent)
    tally = np.bincount(values, minlength=len(count.chances)).tolist()
    likeliest = sorted(range(len(count.chances)), key=lambda value: count.chances[value], reverse=True)[:_MOST_CELLS]
    cells = [(str(value), count.chances[value], tally[value]) for value in sorted(likeliest)]
    if len(likeliest) < len(tally):
        rest = 1 - sum((chance for _, chance, _ in cells), Fraction(0))
        cells.append(("others", rest, len(values) - sum(hits for *_, hits in cells)))
    for value, chance, hits in cells:
        yield OperatorTest(chance, hits, len(values), limit, size, f"{count.what}: {value}")


def _trials(operator: Operator, universe: int, goal: Goal, limit: float) -> int:
    """Return how many transactions show a shift of the chance that an own item is shown, or a foreign one."""
    needed = FEWEST
    shown = transition(operator, 1)[1]
    own = shown[1:] if operator.size else ()
    for chance in (*own, *(shown[:1] if universe > operator.size else ())):
        for other in (chance + goal.shift, chance - goal.shift):
            if 0 <= other <= 1:
                needed = max(needed, trials_needed(chance, other, limit, 1 - goal.power) or 0)
    return needed
