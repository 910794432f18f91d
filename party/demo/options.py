"""What a demo is asked to do."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from party.data.treatment import SMALLEST_VALUE
from party.demo.usual import DERIVED_ABOVE
from party.settings.key_sizes import KEY_FLOOR
from party.settings.window import parse_window
from protocols.errors import InputError
from protocols.terms import ALL, MOST_KEY_BITS, Cipher, Engine, Growth, Impurity, Method, Rank, Terms, Window


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
        rows: Take only this many rows, from the first on; None for all.
        omegas: Windows in order; `ALL` for all candidates.
        theta: Chance that a group tells the truth.
        groups: Per party.
        engine: Of the `hybrid` runs.
        key_bits: Length of the Paillier keys.
        test: Share of the records that is held out.
        seed: Decides who holds which column, and which records are held out.
        out: The folder.
        ciphers: Of secure counts; all runs that count are made with each.
        max_depth: Most splits of a path; None, as in the papers, for any.
        min_leaf: Fewest records of a branch, and of a class that is counted by itself; the papers' trees have 1.
        impurity: What all splits are chosen by.
        rank: What `hybrid` ranks candidates by.
        noise: Epsilon of the counts of `hybrid` and `smc`; None for exact ones.
        skip_smc: Derive the row of `smc`; None for above `DERIVED_ABOVE` rows only.
        key_floor: The least length of a key.
        smallest_value: A value that fewer records hold is not named.

    Raises:
        InputError: One of them is out of its range; `field` is its name.
    """

    data: str | OwnFiles
    rows: int | None
    omegas: tuple[Window, ...]
    theta: Fraction
    groups: int
    engine: Engine
    key_bits: int
    test: Fraction
    seed: int
    out: Path
    ciphers: tuple[Cipher, ...] = (Cipher.PAILLIER,)
    max_depth: int | None = None
    min_leaf: int = 1
    impurity: Impurity = Impurity.INFORMATION_GAIN
    rank: Rank = Rank.GAINS
    noise: Fraction | None = None
    skip_smc: bool | None = None
    key_floor: int = KEY_FLOOR
    smallest_value: int = SMALLEST_VALUE

    def __post_init__(self) -> None:
        usual_key = self.key_floor <= self.key_bits <= MOST_KEY_BITS and self.key_bits % 2 == 0
        legal = (
            ("rows", self.rows is None or self.rows >= 1, "must be 1 or more"),
            ("groups", 1 <= self.groups <= 8, "must be 1 to 8"),
            ("key_bits", usual_key, f"must be an even number from {self.key_floor} to {MOST_KEY_BITS}"),
            ("omega", len(set(self.omegas)) == len(self.omegas) > 0, "must list distinct windows"),
            ("cipher", len(set(self.ciphers)) == len(self.ciphers) > 0, "must list distinct ciphers"),
        )
        for name, holds, problem in legal:
            if not holds:
                raise InputError(problem, field=name)
        for omega in self.omegas:
            self.terms(Method.HYBRID, omega, "class")

    def terms(self, method: Method, omega: Window, class_name: str, cipher: Cipher | None = None) -> Terms:
        """Return the terms of one run, with the first of the ciphers unless another is named."""
        engine = Engine.DOT_PRODUCT if method == Method.SMC else self.engine
        return Terms(
            method=method,
            theta=self.theta,
            omega=omega,
            engine=engine,
            cipher=cipher or self.ciphers[0],
            class_name=class_name,
            seed=self.seed,
            test=self.test,
            key_bits=self.key_bits,
            rank=self.rank,
            max_depth=self.max_depth,
            min_leaf=self.min_leaf,
            impurity=self.impurity,
            noise=None if method == Method.RANDOMIZED else self.noise,
        )

    @property
    def growth(self) -> Growth:
        """How far all trees are grown; the plain one has no noise."""
        return self.terms(Method.RANDOMIZED, ALL, "class").growth

    def derives_smc(self, rows: int) -> bool:
        """Tell whether the row of `smc` is derived from the plain tree, which noise makes another."""
        if self.noise is not None:
            return False
        return rows > DERIVED_ABOVE if self.skip_smc is None else self.skip_smc


def parse_omegas(text: str) -> tuple[Window, ...]:
    """Read a list of windows.

    Raises:
        InputError: It is none.

    >>> parse_omegas("1,2,all")
    (1, 2, None)
    """
    try:
        return tuple(parse_window(word.strip()) for word in text.split(","))
    except InputError:
        raise InputError('must list windows of 1 or more, or "all", such as 1,2,3,all', field="omega") from None


def parse_ciphers(text: str) -> tuple[Cipher, ...]:
    """Read a list of ciphers.

    Raises:
        InputError: It is none.

    >>> [cipher.value for cipher in parse_ciphers("paillier,curve")]
    ['paillier', 'curve']
    """
    try:
        return tuple(Cipher(word.strip()) for word in text.split(","))
    except InputError:
        raise InputError(f"must list ciphers, such as {','.join(Cipher)}", field="cipher") from None
