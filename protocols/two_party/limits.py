"""The fewest records that anything a run tells may stand for (DESIGN 14, "Class first"), and what a peer may bring.

A partner chooses its own columns. A class that names people would make every exact count a record of the other side,
and an accuracy over one held-out record tells that record; so each side refuses both, from anybody. A class
value that no training record has is refused like a rare one: all who have it are held out, and their number is small.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The most classes, the fewest training records per class, the fewest records held out, unless none.

    `most_values` of each column and `most_columns` are what a peer may bring where no count is revealed.
    """

    max_classes: int = 20
    smallest_class: int = 10
    smallest_test: int = 30
    most_values: int = 8
    most_columns: int = 32

    def refuse_classes(self, classes: int) -> str | None:
        """Return why a class of this many values is refused, and what to do; None if it is accepted."""
        if classes < 2:
            return "all records have one class, so there is nothing to predict: choose another class"
        if classes <= self.max_classes:
            return None
        return (
            f"the class has {classes} values, our [agree] max_classes allows {self.max_classes}: "
            "choose another class, or merge values ([columns] max_values)"
        )

    def refuse_counts(self, counts: Sequence[int]) -> str | None:
        """Return why classes of these sizes are refused, and what to do; None if they are accepted."""
        rare = sum(count < self.smallest_class for count in counts)
        if not rare:
            return None
        return (
            f"{rare} of {len(counts)} class values have fewer than {self.smallest_class} training records (our [agree] "
            "smallest_class): merge them ([columns] max_values)"
        )

    def refuse_test(self, held_out: int) -> str | None:
        """Return why this number of held-out records is refused, and what to do; None if it is accepted."""
        if not 0 < held_out < self.smallest_test:
            return None
        return (
            f"{held_out} records would be held out, our [agree] smallest_test asks for {self.smallest_test}: "
            "hold out more, or none (test = 0)"
        )

    def refuse_columns(self, sizes: Sequence[int]) -> tuple[str, str] | None:
        """Return which limit refuses columns of a peer of these many values, and why; None if they are accepted."""
        asks = "more say more of single people: ask it to"
        if len(sizes) > self.most_columns:
            few = f"our [agree] most_columns allows {self.most_columns} where no count is revealed"
            return "most_columns", f"the peer brings {len(sizes):,} columns, {few}: {asks} leave some out (ignore)"
        if (most := max(sizes, default=0)) > self.most_values:
            few = f"our [agree] most_values allows {self.most_values} where no count is revealed"
            return "most_values", f"a column of the peer has {most:,} values, {few}: {asks} merge some (max_values)"
        return None


USUAL_LIMITS = Limits()
