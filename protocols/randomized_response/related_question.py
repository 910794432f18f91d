"""Multi-group randomized response over any finite domains (Multi-group; Hybrid section 4; DESIGN 4.1 to 4.3).

Attributes of a group share one coin: an offset `s` in `0 .. L-1`, `L` the least common multiple of their domain sizes,
0 (the truth) with chance `t` and every other offset with chance `q = (1 - t)/(L - 1)`. An attribute is sent as `(x + s)
mod d`. With `L = 2` this is the papers' "tell the truth or reverse every bit". One group is Du-Zhan 2003, one attribute
in it is Warner.

What `t` is can be declared in two ways. A respondent tosses one coin, so a survey's groups all have `t = theta`. Two
parties hide every column alike, however many values it has: `of_odds` gives each group the `t` that has the odds of
theta against any one lie, `t : q = theta : 1 - theta` (DESIGN 14). A column with a coin of its own is then sent with
these odds; one of fewer values than its group's offsets, with weaker odds.

Discloses, with certainty: how the attributes of a group relate within a record (binary: the XOR of any two).

Coins are made once: a deterministic function of the owner's secret, data set, record and group (DESIGN 4.6, FAULTS B1).
Asking for the disguised copy again, in another run or after a restore, yields the same copy, so nothing can be averaged
away. Two data sets of one owner have unrelated coins.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm, prod
from operator import mod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.design import (
    Candidates,
    Draw,
    Factors,
    Kind,
    Matrix,
    Moments,
    OneKind,
    cells,
    numbered,
)
from protocols.randomness import canonical, keyed_digest, keyed_uniforms
from protocols.tables import Codes, Expression, Index

MAX_ORDER = 64

Coins = NDArray[np.uint8]


@dataclass(frozen=True)
class RelatedDesign(OneKind):
    """The related question: each group tells the truth or one of its `L - 1` lies.

    `tossed` are, of each group whose odds are those of theta, the offsets among which its coin is tossed: `L`, or more
    where columns of the group are not sent; None where every group has theta.
    """

    kind: ClassVar[Kind] = Kind.RELATED
    asks_personally: ClassVar[bool] = False

    tossed: tuple[int, ...] | None = None

    @classmethod
    def of_odds(cls, sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...], theta: Fraction) -> "RelatedDesign":
        """Return the design in which the truth has the odds of theta against any one lie, in every group."""
        orders = cls(sizes, groups, Fraction(1)).orders  # theta is looked at next
        return cls(sizes, groups, theta, orders)

    def of_groups(self, kept: Sequence[int]) -> "RelatedDesign":
        """Return the same disguise with these groups alone; other columns are sent as they are."""
        tossed = None if self.tossed is None else tuple(self.tossed[k] for k in kept)
        return replace(self, groups=tuple(self.groups[k] for k in kept), tossed=tossed)

    def of_first(self, columns: int) -> "RelatedDesign":
        """Return the same disguise of the first columns alone: by the same coins, among as many offsets."""
        kept = [tuple(column for column in group if column < columns) for group in self.groups]
        own = self.of_groups([k for k, group in enumerate(kept) if group])
        return replace(own, sizes=self.sizes[:columns], groups=tuple(group for group in kept if group))

    def __post_init__(self) -> None:
        super().__post_init__()
        tossed = self.orders if self.tossed is None else self.tossed
        if len(tossed) != len(self.orders) or any(map(mod, tossed, self.orders)):
            raise InputError("a group's coin is tossed among all offsets that its columns can show, or a multiple")
        for group, order in enumerate(self.orders):
            if order > MAX_ORDER:
                raise InputError(
                    f"a group needs {order} offsets, more than {MAX_ORDER}: put columns of equal domain sizes "
                    "into a group, or merge values"
                )
            if order > 1 and self.truth(group) * order == 1:
                raise InputError(
                    f"= {self.theta} makes a group of {order} offsets carry nothing: choose another", field="theta"
                )

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """`L` of every group: the number of its offsets."""
        return tuple(lcm(*(self.sizes[column] for column in group)) for group in self.groups)

    def truth(self, group: int) -> Fraction:
        """Chance `t` of the truth: theta, or by odds what has `theta : 1 - theta` against each lie of the coin."""
        return self._truths[group]

    @cached_property
    def _truths(self) -> tuple[Fraction, ...]:
        """Of every group; asked for at every node. By odds the coin's lead over a lie, `t - q`, is that of any part."""
        if self.tossed is None:
            return (self.theta,) * len(self.groups)
        leads = [(2 * self.theta - 1) / (self.theta + (max(toss, 2) - 1) * (1 - self.theta)) for toss in self.tossed]
        return tuple((1 + lead * (order - 1)) / order for lead, order in zip(leads, self.orders, strict=True))

    def lie(self, group: int) -> Fraction:
        """Chance `q` of each single lie in this group; 0 where no lie exists."""
        return self._lies[group]

    @cached_property
    def _lies(self) -> tuple[Fraction, ...]:
        shared = zip(self._truths, self.orders, strict=True)
        return tuple((1 - truth) / (order - 1) if order > 1 else Fraction(0) for truth, order in shared)

    def contrast(self, group: int) -> Fraction:
        """`t - q`, by how much the truth is likelier than any single lie; 1 where no lie exists."""
        return self.truth(group) - self.lie(group) if self.orders[group] > 1 else Fraction(1)

    def coins(self, draw: Draw, names: Sequence[bytes] = ()) -> Coins:
        """Toss the coins of all records (`records x groups`); a group's draw is for its name, else its number."""
        coins = [np.zeros((len(draw(b"", 1)), 0), dtype=np.uint8)]  # an empty column that fixes the number of records
        for k, order in enumerate(self.orders):
            uniform = draw(names[k] if names else k.to_bytes(4, "big"), self.coin_bound(k))
            coins.append(offsets_from_uniform(uniform, self.truth(k), order).astype(np.uint8)[:, None])
        return np.hstack(coins)

    def coin_bound(self, group: int) -> int:
        """Range of the uniform integer that decides a coin (see `offsets_from_uniform`)."""
        return self.truth(group).denominator * max(self.orders[group] - 1, 1)

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the disguised records; nothing personal is asked for."""
        if personal is not None:
            raise InputError("the related question has no personal answers")
        return disguise(codes, self.coins(draw), self)

    def transition(self, group: int, columns: Sequence[int]) -> Matrix:
        """Return the chances of an offset, gathered over the offsets that turn the truth into the response."""
        every = cells([self.sizes[column] for column in columns])
        index = {cell: position for position, cell in enumerate(every)}
        rows = [[Fraction(0)] * len(every) for _ in every]
        for truth, cell in enumerate(every):
            for offset, share in enumerate(self.coin_chances(group)):
                moved = ((v + offset) % self.sizes[column] for v, column in zip(cell, columns, strict=True))
                rows[index[tuple(moved)]][truth] += share
        return tuple(map(tuple, rows))

    def candidates(self, codes: Codes, group: int, columns: Sequence[int]) -> Candidates:
        """Return the responses moved by every offset that these columns tell apart.

        A place is the offset from one record of the list: in each column the residue left is below what those before
        leave open.
        """
        period, places = 1, np.zeros(len(codes), dtype=np.int64)
        left = np.zeros((len(codes), len(columns)), dtype=np.int64)
        sizes = [self.sizes[column] for column in columns]
        for k, size in enumerate(sizes):
            common = gcd(period, size)
            gap = (codes[:, columns[k]] - places) % size
            steps = gap // common * pow(period // common, -1, size // common) % (size // common)
            places, period = places + period * steps, lcm(period, size)
        for k, size in enumerate(sizes):
            left[:, k] = (codes[:, columns[k]] - places) % size
        first, lists = numbered(left)
        base = left[first]
        other = (self.lie(group) * self.orders[group] / period,) * period

        def at(kinds: Index, where: Index) -> Codes:
            moved: Codes = ((base[kinds] + where[:, None]) % np.array(sizes)).astype(np.uint8)
            return moved

        return Candidates(lists, places.astype(np.intp), self.contrast(group), other, at)

    def alone(self, column: int) -> OneKind:
        """Return the design of this column with the contrast of its group: what it is sent as does not change."""
        group = self.group_of(column)
        if group is not None and self.tossed is not None:
            return replace(self, groups=((column,),), tossed=(self.tossed[group],))
        size = self.sizes[column]
        contrast = Fraction(1) if group is None else self.contrast(group)
        return replace(self, groups=((column,),), theta=(1 + contrast * (size - 1)) / size, tossed=None)

    def coin_chances(self, group: int) -> tuple[Fraction, ...]:
        """Return the chance of each offset."""
        if self.orders[group] == 1:
            return (Fraction(1),)
        return (self.truth(group), *[self.lie(group)] * (self.orders[group] - 1))

    def disclosed_modulus(self, first: int, second: int) -> int:
        """Return `gcd(d, d')` for two columns of one group, which one offset moves; two coins disclose nothing."""
        return gcd(self.sizes[first], self.sizes[second]) if self.group_of(first) == self.group_of(second) else 1

    def factors(self, codes: Codes, part: Expression, group: int) -> Factors:
        """Return `[x* satisfies e]/(t - q) - h q/(t - q)`, `h` the offsets for which `x* - s` satisfies it.

        The offsets that do are a coset of those of `lcm(d)` over the part's columns: `h` is `L/lcm` or 0.
        """
        satisfied = part.satisfied_by(codes)
        reachable = satisfied.copy()
        for offset in range(1, self._period([term.column for term in part.terms])):
            reached = np.ones(len(codes), dtype=np.bool_)
            for term in part.terms:
                reached &= codes[:, term.column] == (term.value + offset) % self.sizes[term.column]
            reachable |= reached
        contrast = self.contrast(group)
        drawback = self._guesses(group, part) * self.lie(group) / contrast
        return Factors(satisfied.astype(np.intp) + reachable, (Fraction(0), -drawback, 1 / contrast - drawback))

    def moments(self, group: int, part: Expression) -> Moments:
        """With `u = h q`, `D = t - q`: `(D + u - u^2 - 2uD)/D^2`, and `(u - u^2)/D^2` if some truth can lie so."""
        satisfied, failed = self.moments_of(group, self._guesses(group, part))
        constant = self._period([term.column for term in part.terms]) == 1
        return satisfied, Fraction(0) if constant else failed

    def moments_of(self, group: int, guesses: int) -> Moments:
        """Return the moments of the factor of a part that a given number of offsets satisfy, `h` of `L`."""
        lies, contrast = guesses * self.lie(group), self.contrast(group)
        return (contrast + lies - lies**2 - 2 * lies * contrast) / contrast**2, (lies - lies**2) / contrast**2

    def likelihood_ratio(self, group: int, columns: Sequence[int]) -> Fraction | None:
        """Return `t/q`, its inverse, or None where some response is ruled out: sizes with one coin not coprime."""
        period = self._period(columns)
        if period == 1:
            return Fraction(1)
        repeats = self.orders[group] // period
        truth = self.truth(group) + (repeats - 1) * self.lie(group)
        lie = repeats * self.lie(group)
        if prod(self.sizes[column] for column in columns) > period or not truth or not lie:
            return None
        return max(truth / lie, lie / truth)

    def _period(self, columns: Sequence[int]) -> int:
        """Number of offsets that these columns tell apart."""
        return lcm(*(self.sizes[column] for column in columns))

    def _guesses(self, group: int, part: Expression) -> int:
        """Return `h`: the offsets that turn a reachable response into one that satisfies the part."""
        return self.orders[group] // self._period([term.column for term in part.terms])

    def guess_weights(self, group: int) -> tuple[Fraction, ...]:
        """Weight of each guess of one group's coin (DESIGN 5.1): `w(0) = (1-q)/(t-q)`, `w(s) = -q/(t-q)`.

        The weighted guesses of a record add up to its truth in expectation, whatever its coin was.
        """
        lie, contrast = self.lie(group), self.contrast(group)
        return ((1 - lie) / contrast, *[-lie / contrast] * (self.orders[group] - 1))

    def guess_values(self, group: int, column: int) -> tuple[Matrix, ...]:
        """Return a 1 for the one value that each offset leaves: `(x* - s) mod d`."""
        size = self.sizes[column]
        one = tuple(tuple(Fraction(value == own) for value in range(size)) for own in range(size))
        return tuple(tuple(one[(sent - offset) % size] for sent in range(size)) for offset in range(self.orders[group]))


def offsets_from_uniform(uniform: NDArray[np.int64], truth: Fraction, order: int) -> NDArray[np.int64]:
    """Turn integers uniform in `0 .. b(L-1) - 1`, `t = a/b`, into offsets: exact, no float (FAULTS B5).

    The lowest `a(L-1)` tell the truth; of the rest, `b - a` belong to each lie.
    """
    true = truth.numerator * (order - 1)
    lies = truth.denominator - truth.numerator
    if order == 1 or lies == 0:
        return np.zeros_like(uniform)
    return np.where(uniform < true, 0, 1 + (uniform - true) // lies)


def disguise(codes: Codes, coins: Coins, design: RelatedDesign) -> Codes:
    """Return the disguised copy: group `k`'s columns shifted by the record's coin `k`; no answer stays no answer."""
    result, offsets = codes.copy(), coins.astype(np.int64)
    for k, group in enumerate(design.groups):
        for column in group:
            moved = (codes[:, column] + offsets[:, k]) % design.sizes[column]
            result[:, column] = np.where(codes[:, column] < design.sizes[column], moved, codes[:, column])
    return result


def keyed_draw(secret: bytes, dataset: str, records: Sequence[str]) -> Draw:
    """Return draws that depend on these arguments and nothing else."""
    labels = [canonical(record.encode()) for record in records]

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally coin", dataset.encode(), purpose)
        uniforms = keyed_uniforms(key, labels, bound)
        return np.fromiter(uniforms, dtype=np.int64, count=len(records))

    return draw


def compared_draw(secret: bytes, dataset: str, records: int) -> Draw:
    """Return draws, in bulk, for a copy that never leaves: 64 bits modulo the bound, nearly uniform."""

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally compared copy", dataset.encode(), purpose)
        words = np.frombuffer(hashlib.shake_256(key).digest(8 * records), dtype="<u8")
        return (words % np.uint64(bound)).astype(np.int64)

    return draw


def default_groups(sizes: Sequence[int], groups: int, plain: Sequence[int] = ()) -> tuple[tuple[int, ...], ...]:
    """Spread columns over at most `groups` groups, equal domain sizes together (DESIGN 4.3).

    Starts with one group per domain size. While there are too many, joins the two that add the fewest coin patterns, if
    possible without passing the limit of offsets; while there are too few, halves the largest.
    """
    if groups < 1:
        raise InputError("the number of groups must be 1 or more")
    columns = [c for c in range(len(sizes)) if c not in set(plain)]
    parts = [[c for c in columns if sizes[c] == size] for size in sorted({sizes[c] for c in columns})]
    while len(parts) > groups:
        _join_cheapest(parts, sizes)
    while len(parts) < groups and any(len(part) > 1 for part in parts):
        largest = max(parts, key=len)
        parts.remove(largest)
        half = (len(largest) + 1) // 2
        parts += [largest[:half], largest[half:]]
    return tuple(sorted(tuple(sorted(part)) for part in parts))


def _join_cheapest(parts: list[list[int]], sizes: Sequence[int]) -> None:
    def cost(pair: tuple[int, int]) -> tuple[bool, Fraction, int]:
        left, right = (lcm(*(sizes[c] for c in parts[i])) for i in pair)
        joint = lcm(left, right)
        return joint > MAX_ORDER, Fraction(joint, left * right), sum(len(parts[i]) for i in pair)

    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    i, j = min(pairs, key=cost)
    parts[i] += parts.pop(j)
