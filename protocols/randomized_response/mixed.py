"""Groups of several kinds, each with a theta of its own (DESIGN 4.10): one design per group, side by side.

Groups answer independently, so whatever is asked of a group is asked of its own design, and nothing else changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from protocols.errors import InputError
from protocols.randomized_response.design import Candidates, Design, Draw, Factors, Matrix, Moments, OneKind
from protocols.tables import Codes, Expression


@dataclass(frozen=True)
class MixedDesign(Design):
    """A design for every group, over the same columns, that has this group alone; made by `of`."""

    parts: tuple[OneKind, ...]

    @classmethod
    def of(cls, sizes: tuple[int, ...], parts: Sequence[OneKind]) -> Self:
        """Return the design of these parts, each of which has one group."""
        return cls(sizes, tuple(group for part in parts for group in part.groups), tuple(parts))

    def __post_init__(self) -> None:
        super().__post_init__()
        if tuple(part.groups for part in self.parts) != tuple((group,) for group in self.groups):
            raise InputError("a mixed design has one part per group, in their order")
        if any(part.sizes != self.sizes for part in self.parts):
            raise InputError("all parts of a mixed design are for the same columns")

    def part(self, group: int) -> OneKind:
        """Return the group's own design, in which it is group 0."""
        return self.parts[group]

    def truth(self, group: int) -> Fraction:
        """Return the group's own chance of the truth."""
        return self.parts[group].truth(0)

    @property
    def draws(self) -> int:
        """Those of all parts."""
        return sum(part.draws for part in self.parts)

    def with_sizes(self, sizes: tuple[int, ...]) -> Self:
        """Return the same design for columns of other domain sizes."""
        return replace(self, sizes=sizes, parts=tuple(part.with_sizes(sizes) for part in self.parts))

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; each group draws under its number."""
        if personal is not None and not any(part.asks_personally for part in self.parts):
            raise InputError("no group of this design has personal answers")
        result = codes.copy()
        for k, part in enumerate(self.parts):
            responses = part.randomize(codes, _named(draw, k), personal if part.asks_personally else None)
            result[:, list(self.groups[k])] = responses[:, list(self.groups[k])]
        return result

    def transition(self, group: int, columns: Sequence[int]) -> Matrix:
        """Return that of the group's own design."""
        return self.parts[group].transition(0, columns)

    def candidates(self, codes: Codes, group: int, columns: Sequence[int]) -> Candidates:
        """Return those of the group's own design."""
        return self.parts[group].candidates(codes, 0, columns)

    def alone(self, column: int) -> OneKind:
        """Return that of the column's own design."""
        return next(part for part in self.parts if column in part.groups[0]).alone(column)

    def coin_chances(self, group: int) -> tuple[Fraction, ...]:
        """Return those of the group's own design."""
        return self.parts[group].coin_chances(0)

    def guess_weights(self, group: int) -> tuple[Fraction, ...]:
        """Return those of the group's own design."""
        return self.parts[group].guess_weights(0)

    def guess_values(self, group: int, column: int) -> tuple[Matrix, ...]:
        """Return those of the group's own design."""
        return self.parts[group].guess_values(0, column)

    def disclosed_modulus(self, first: int, second: int) -> int:
        """Return that of their group's own design; two coins disclose nothing."""
        group = self.group_of(first)
        if group is None or group != self.group_of(second):
            return 1
        return self.parts[group].disclosed_modulus(first, second)

    def declaration(self) -> dict[str, object]:
        """Return what the parts declare, a list of one entry per group."""
        parts = [part.declaration() for part in self.parts]
        fields = {key: [part[key] for part in parts] for key in ("kind", "theta", "personal")}
        return {**fields, "groups": [list(group) for group in self.groups]}

    def factors(self, codes: Codes, part: Expression, group: int) -> Factors:
        """Return those of the group's own design."""
        return self.parts[group].factors(codes, part, 0)

    def moments(self, group: int, part: Expression) -> Moments:
        """Return those of the group's own design."""
        return self.parts[group].moments(0, part)

    def likelihood_ratio(self, group: int, columns: Sequence[int]) -> Fraction | None:
        """Return that of the group's own design."""
        return self.parts[group].likelihood_ratio(0, columns)


def _named(draw: Draw, group: int) -> Draw:
    """Return draws for the purposes of one group."""
    return lambda purpose, bound: draw(group.to_bytes(4, "big") + purpose, bound)


def one_coin_each(design: Design) -> MixedDesign:
    """Return the design that sends every column as this one does, by a coin of its own."""
    hidden = sorted(column for group in design.groups for column in group)
    return MixedDesign.of(design.sizes, [design.alone(column) for column in hidden])
