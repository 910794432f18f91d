"""Operators randomize a transaction of one original size `m`, by chances that they declare (Review 3; DESIGN 9).

All three (Review sections 3.1 and 3.3) keep some items of a transaction and add foreign ones. Each says how many own
items it keeps, `p_m[j]`, and how many of any given foreign items enter; which of its own it keeps, and which of the
foreign ones it adds, is uniform. From that declaration everything else follows: the sampler, the chances `p[l -> l']`,
supports, breaches, an audit. An operator sees one transaction alone, and treats all items alike.

An operator declares chances `p[l -> l']` for an itemset (Review section 3.4, equation 4). Of an itemset `A` of `k`
items a transaction of size `m` holds `l`; its randomized form holds `l'`. With `q` own items of `A` among the `j` that
stay,

    p[l -> l'] = sum_j p_m[j] sum_q C(l, q) C(m - l, j - q)/C(m, j) P(l' - q of k - l foreign items enter | j).

NB: the printed equation 4 has one probability over itself, which is 1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import comb
from typing import ClassVar

from protocols.association.chances import Binomial, Chances, Hypergeometric, Listed
from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR, Matrix


@dataclass(frozen=True)
class Operator(ABC):
    """A randomizer of transactions of one original size, `m`."""

    kind: ClassVar[str]
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise InputError("must be 0 or more", field="size")

    @property
    @abstractmethod
    def kept(self) -> Chances:
        """`p_m[j]`: the chance that `j` of the transaction's own items stay, `j = 0 .. m`."""

    @abstractmethod
    def entering(self, kept: int, among: int) -> Chances:
        """Return the distribution of how many of `among` given foreign items enter, if `kept` own items stayed."""

    @abstractmethod
    def check_universe(self, universe: int) -> None:
        """Refuse a universe in which this operator cannot work."""

    @abstractmethod
    def declaration(self) -> dict[str, object]:
        """Return kind, size and parameters as JSON takes them."""


class _ByRho(Operator):
    """One whose foreign items enter each with chance rho."""

    rho: Fraction

    def entering(self, kept: int, among: int) -> Chances:
        """Return a binomial distribution: foreign items enter independently, whatever was kept."""
        del kept
        return Binomial(among, self.rho)

    def check_universe(self, universe: int) -> None:
        """Refuse a universe that is smaller than a transaction."""
        _check_room(self.size, universe)


@dataclass(frozen=True)
class SelectASize(_ByRho):
    """Keep `j` own items with chance `p_m[j]`; each foreign item enters with chance rho (Review section 3.3)."""

    kind: ClassVar[str] = "select-a-size"
    chances: tuple[Fraction, ...]
    rho: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.chances) != self.size + 1 or min(self.chances) < 0 or sum(self.chances) != 1:
            raise InputError(f"size {self.size} must have {self.size + 1} chances of 0 or more that add up to 1")
        _check_rho(self.rho)

    @property
    def kept(self) -> Chances:
        """The declared distribution."""
        return Listed(self.chances)

    def declaration(self) -> dict[str, object]:
        """Return kind, size, chances and rho."""
        return {"kind": self.kind, "size": self.size, "chances": list(map(str, self.chances)), "rho": str(self.rho)}


@dataclass(frozen=True)
class CutAndPaste(_ByRho):
    """Keep `j` own items, uniform in `0 .. K`, at most all; then *every* other item enters with chance rho.

    Review definition 3.3; `cutoff` is `K`. The rest of the transaction may enter too, so as select-a-size it keeps

        p_m[j] = sum_{i=0}^{min(K, j)} C(m - i, j - i) rho^(j - i) (1 - rho)^(m - j) w_i

    with `w_i = 1 - m/(K + 1)` if `i = m < K`, else `1/(K + 1)`.
    """

    kind: ClassVar[str] = "cut-and-paste"
    cutoff: int
    rho: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff < 1:
            raise InputError("must be above 0", field="cutoff")
        _check_rho(self.rho)

    @cached_property
    def kept(self) -> Chances:
        """Those that were cut, and those of the rest that entered again."""
        m, rho = self.size, self.rho
        each = Fraction(1, self.cutoff + 1)
        cut = [1 - m * each if i == m < self.cutoff else each for i in range(min(m, self.cutoff) + 1)]
        return Listed(
            tuple(
                sum(
                    (
                        comb(m - i, j - i) * rho ** (j - i) * (1 - rho) ** (m - j) * cut[i]
                        for i in range(min(self.cutoff, j) + 1)
                    ),
                    Fraction(0),
                )
                for j in range(m + 1)
            )
        )

    def declaration(self) -> dict[str, object]:
        """Return kind, size, cut-off and rho."""
        return {"kind": self.kind, "size": self.size, "cutoff": self.cutoff, "rho": str(self.rho)}


@dataclass(frozen=True)
class Uniform(Operator):
    """Replace each own item with chance `p` by one that was not there, each by another (Review section 3.1)."""

    kind: ClassVar[str] = "uniform"
    universe: int
    replaced: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.replaced <= 1:
            raise InputError(f"must be between 0 and 1, not {self.replaced}", field="replaced")
        _check_fine("replaced", self.replaced)
        self.check_universe(self.universe)

    @property
    def kept(self) -> Chances:
        """A binomial distribution: each item stays with chance `1 - p`."""
        return Binomial(self.size, 1 - self.replaced)

    def entering(self, kept: int, among: int) -> Chances:
        """Return a hypergeometric distribution: `m - j` of all foreign items enter."""
        return Hypergeometric(self.universe - self.size, among, self.size - kept)

    def check_universe(self, universe: int) -> None:
        """Refuse another universe than the declared one, and one too small to replace every item."""
        if universe != self.universe:
            raise InputError(f"the uniform randomizer is declared for {self.universe} items, there are {universe}")
        _check_room(self.size * (2 if self.replaced else 1), universe)

    def declaration(self) -> dict[str, object]:
        """Return kind, size and the chance of a replacement; the universe stands beside it."""
        return {"kind": self.kind, "size": self.size, "replaced": str(self.replaced)}


def _check_rho(rho: Fraction) -> None:
    if not 0 <= rho < 1:
        raise InputError(f"must be at least 0 and below 1, not {rho}", field="rho")
    _check_fine("rho", rho)


def _check_fine(name: str, chance: Fraction) -> None:
    if chance.denominator > MAX_DENOMINATOR:
        raise InputError(f"must be a fraction with a denominator of at most {MAX_DENOMINATOR}", field=name)


def _check_room(needed: int, universe: int) -> None:
    if universe < needed:
        raise InputError(f"a universe of {universe} items is too small: list {needed} at least")


@lru_cache(4096)
def transition(operator: Operator, k: int) -> Matrix:
    """Return `P`: row `l'`, column `l`, of an itemset of `k` items.

    Where transactions have fewer than `k` items, `l` goes up to `m` only: `(k + 1) x (min(k, m) + 1)`. Of the uniform
    randomizer, a column is 0 if its universe has no room for so few items of the set in a transaction.
    """
    if k < 0:
        raise InputError("an itemset has 0 or more items")
    columns = [_column(operator, k, held) for held in range(min(k, operator.size) + 1)]
    return tuple(zip(*columns, strict=True))


def _column(operator: Operator, k: int, held: int) -> list[Fraction]:
    """Return the chance of every `l'` for one `l = held`."""
    m = operator.size
    chances = [Fraction(0)] * (k + 1)
    for j, share in enumerate(operator.kept.fractions):
        if not share:
            continue
        entering = operator.entering(j, k - held).fractions
        for q in range(max(0, j + held - m), min(j, held) + 1):
            own = share * Fraction(comb(held, q) * comb(m - held, j - q), comb(m, j))
            for f, chance in enumerate(entering):
                chances[q + f] += own * chance
    return chances
