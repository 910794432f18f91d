"""Records that a model is learned from, and those that test it."""

from dataclasses import dataclass

from protocols.counts import Classifier
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


@dataclass(frozen=True, eq=False, repr=False)
class HoldOut:
    """Training and test records by the columns of a schema; of two parties, the schema says who holds which."""

    schema: Schema
    train: Codes
    test: Codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Domain size of every column."""
        return tuple(column.size for column in self.schema.columns)

    def __repr__(self) -> str:
        return f"<HoldOut {len(self.train)} + {len(self.test)} x {len(self.sizes)}>"


def accuracy(model: Classifier, data: HoldOut) -> float:
    """Return the share of the test records that a model classifies correctly."""
    return float((model.predict(data.test) == data.test[:, data.schema.class_index]).mean())
