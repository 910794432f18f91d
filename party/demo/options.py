"""What a demo is asked to do."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from party.data.treatment import SMALLEST_VALUE
from party.settings.party import ALL, ENGINES, HALF, KEY_CEILING, KEY_FLOOR
from protocols.errors import InputError

DERIVED_ABOVE = 5000


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
        skip_smc: Derive the row of `smc`; None for above `DERIVED_ABOVE` rows only.
        key_floor: The least length of a key.
        smallest_value: A value that fewer records hold is not named.

    Raises:
        InputError: One of them is out of its range.
    """

    data: str | OwnFiles
    rows: int | None
    omegas: tuple[int, ...]
    theta: Fraction
    groups: int
    engine: str
    key_bits: int
    test: Fraction
    seed: int
    out: Path
    skip_smc: bool | None = None
    key_floor: int = KEY_FLOOR
    smallest_value: int = SMALLEST_VALUE

    def __post_init__(self) -> None:
        legal = (
            (self.rows is None or self.rows >= 1, "--rows must be 1 or more"),
            (0 < self.theta < 1 and self.theta != HALF, "--theta must be above 0 and below 1, and not 1/2"),
            (1 <= self.groups <= 8, "--groups must be 1 to 8"),
            (self.engine in ENGINES, f"--engine must be one of {', '.join(ENGINES)}"),
            (
                self.key_floor <= self.key_bits <= KEY_CEILING and self.key_bits % 2 == 0,
                f"--key-bits must be an even number from {self.key_floor} to {KEY_CEILING}",
            ),
            (0 <= self.test < 1, "--test must be 0 or more and below 1"),
            (0 <= self.seed < 2**63, "--seed must be an integer from 0 to 2**63 - 1"),
            (len(set(self.omegas)) == len(self.omegas) > 0, "--omega must list distinct windows"),
        )
        for holds, problem in legal:
            if not holds:
                raise InputError(problem)

    def derives_smc(self, rows: int) -> bool:
        """Tell whether the row of `smc` is derived from the plain tree."""
        return rows > DERIVED_ABOVE if self.skip_smc is None else self.skip_smc


def parse_omegas(text: str) -> tuple[int, ...]:
    """Read a list of windows.

    Raises:
        InputError: It is none.

    >>> parse_omegas("1,2,all")
    (1, 2, 0)
    """
    omegas = []
    for word in text.split(","):
        plain = word.strip()
        is_number = plain.isascii() and plain.isdigit() and 1 <= int(plain[:6]) <= 65535
        if plain != "all" and not is_number:
            raise InputError('--omega must list windows of 1 or more, or "all", such as 1,2,3,all')
        omegas.append(ALL if plain == "all" else int(plain))
    return tuple(omegas)
