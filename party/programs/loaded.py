"""A model's file for Python programs: rows of a table in, classes out, as `cotally predict` has them."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from party.models.any_file import read_model
from party.models.prediction import Predictions, predict_frame
from party.show.document import rendered
from party.show.page.drawings import shown
from party.show.prediction import unknown_lines
from party.survey.table import TableSource, as_frame
from protocols.learning.naive_bayes import Model


@dataclass(frozen=True, repr=False)
class LoadedModel:
    """A finished model, of two parties or of a survey.

    Tables are DataFrames, or paths of CSV and Parquet files, with the columns of both parties that the model reads, by
    name, or by `party.name` where both have one of that name. Numbers fall into the model's bins.
    """

    model: Model

    def __repr__(self) -> str:
        return f"<LoadedModel of {self.model.schema.class_attribute.name!r}>"

    @property
    def classes(self) -> tuple[str, ...]:
        """The values of the class, in the order of `predict_proba`."""
        return self.model.schema.class_attribute.values

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, as `party.name`."""
        schema = self.model.schema
        read = map(schema.base.attributes.__getitem__, sorted(schema.base_columns(self.model.columns)))
        return tuple(f"{each.party}.{each.name}" for each in read)

    def predict(self, table: TableSource) -> list[str]:
        """Return the class of each row.

        Raises:
            DataError: The table cannot be read, or lacks a column.
        """
        return self._predicted(table).labels

    def predict_proba(self, table: TableSource) -> NDArray[np.float64]:
        """Return the shares of the classes (`rows x classes`): of training records in a leaf, or by naive Bayes.

        Raises:
            DataError: The table cannot be read, or lacks a column.
            InputError: The model has classes alone.
        """
        return self._predicted(table).need_shares()

    def _predicted(self, table: TableSource) -> Predictions:
        found = predict_frame(self.model, as_frame(table))
        for told in unknown_lines(found.unknown):
            warnings.warn(told, stacklevel=3)
        return found

    def text(self) -> str:
        """Return the model as `cotally show` prints it."""
        return rendered(shown(self.model).blocks(self.model, None, ()), None)


def load_model(path: Path | str) -> LoadedModel:
    """Read a model's file.

    Raises:
        ModelError: It cannot be read, or is no model in every detail.
    """
    return LoadedModel(read_model(Path(path)))
