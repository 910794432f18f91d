"""What a demo is asked to do."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from party.data.bins import SMALLEST_VALUE
from party.demo import USUAL_WAYS
from party.settings.job import usual_leaf
from protocols.errors import CotallyError, InputError
from protocols.terms import (
    ALL,
    KEY_BITS,
    KEY_FLOOR,
    OMEGA,
    Counting,
    Growth,
    Impurity,
    Method,
    Reveal,
    Splits,
    Terms,
    TreeTerms,
    Window,
)


@dataclass(frozen=True)
class OwnFiles:
    """Two tables of the user's: each party's file, the class, and the id column (None: the usual `id`, if there)."""

    alice: Path
    bob: Path
    class_name: str
    id_column: str | None


@dataclass(frozen=True)
class DemoOptions:
    """Everything that decides a demo but chance.

    Args:
        data: A data set's name, or the user's files.
        rows: Take this many rows, drawn by the seed; None for as many as usual.
        omegas: Windows in order; `ALL` for all candidates.
        theta: Chance that a group tells the truth.
        key_bits: Length of the Paillier keys.
        test: Share of the records that is held out.
        seed: Decides which rows are taken, who holds which column, and which records are held out.
        out: The folder.
        ways: Of counting; all runs are made in each.
        max_depth: Most splits of a path; None, as in the papers, for any.
        min_leaf: Fewest records of a branch with its own label, and of a class counted by itself; None for 1, as in
            the papers, where counts are revealed, and else for as many as a job has that names none.
        impurity: What all splits are chosen by.
        noise: Epsilon of the counts of `hybrid` and `smc`, or of the tree; None for exact ones.
        reveal: All methods that reveal counts, or `smc` that reveals the tree alone.
        key_floor: The least length of a key.
        smallest_value: A value that fewer records hold is not named.
        splits: What may split a node.
    """

    data: str | OwnFiles
    rows: int | None
    omegas: tuple[Window, ...]
    theta: Fraction
    key_bits: int
    test: Fraction
    seed: int
    out: Path
    ways: tuple[Counting, ...]
    max_depth: int | None = None
    min_leaf: int | None = None
    impurity: Impurity = Impurity.INFORMATION_GAIN
    noise: Fraction | None = None
    reveal: Reveal = Reveal.COUNTS
    key_floor: int = KEY_FLOOR
    smallest_value: int = SMALLEST_VALUE
    splits: Splits = Splits.VALUES

    def __post_init__(self) -> None:
        usual_key = self.key_floor <= self.key_bits <= KEY_BITS.high and self.key_bits % 2 == 0
        legal = (
            ("rows", self.rows is None or self.rows >= 1, "must be 1 or more"),
            ("key_bits", usual_key, f"must be an even number from {self.key_floor} to {KEY_BITS.high}"),
            ("omega", len(set(self.omegas)) == len(self.omegas) > 0, "must list distinct windows"),
            ("ways", len(set(self.ways)) == len(self.ways) > 0, "must list distinct ways of counting"),
        )
        for name, holds, problem in legal:
            if not holds:
                raise InputError(problem, field=name)
        for omega in self.omegas:
            self.terms(self.closest, omega, "class")

    def terms(self, method: Method, omega: Window, class_name: str, way: Counting | None = None) -> Terms:
        """Return the terms of one run, of the first way unless another is named."""
        return TreeTerms(
            method=method,
            theta=self.theta,
            omega=omega,
            counting=way or self.ways[0],
            class_name=class_name,
            seed=self.seed,
            test=self.test,
            key_bits=self.key_bits,
            max_depth=self.max_depth,
            min_leaf=self.min_leaf or 1,
            impurity=self.impurity,
            noise=None if method == Method.RANDOMIZED else self.noise,
            reveal=self.reveal,
            splits=self.splits,
        )

    @property
    def closest(self) -> Method:
        """The method whose last model is shown: of those that reveal counts the one that the demo is about."""
        return Method.HYBRID if self.reveal == Reveal.COUNTS else Method.SMC

    def sized(self, records: int) -> "DemoOptions":
        """Return the options for this many records, with a `min_leaf`."""
        usual = 1 if self.reveal == Reveal.COUNTS else usual_leaf(self.reveal, self.noise, records)
        return replace(self, min_leaf=self.min_leaf or usual)

    @property
    def growth(self) -> Growth:
        """How far all trees are grown; the plain one has no noise."""
        return replace(self.terms(Method.SMC, ALL, "class").growth, noise=None)


def parse_omegas(text: str) -> tuple[Window, ...]:
    """Read a list of windows.

    >>> parse_omegas("1,2,all")
    (1, 2, None)
    """
    try:
        return tuple(OMEGA.parse(word.strip()) for word in text.split(","))
    except InputError:
        raise InputError('must list windows of 1 or more, or "all", such as 1,2,3,all', field="omega") from None


def parse_ways(text: str) -> tuple[Counting, ...]:
    """Read a list of ways of counting.

    >>> [str(way) for way in parse_ways("paillier,oblivious_transfer")]
    ['paillier', 'oblivious_transfer']
    """
    try:
        return tuple(Counting(word.strip()) for word in text.split(","))
    except InputError:
        raise InputError(f"must list ways of counting, such as {USUAL_WAYS}", field="ways") from None


class DemoError(CotallyError):
    """A demo failed; `code` is the exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class PartyFailedError(DemoError):
    """A party's process failed: its own line of error and exit code are passed on."""

    def __init__(self, party: str, problem: str, code: int) -> None:
        super().__init__(f"{party}: {problem}", max(code, 1))
        self.party, self.problem = party, problem
