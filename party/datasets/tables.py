"""An embedded data set as a table of codes, for experiments that need no files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from party.data import ColumnTreatment, frame_of, treat
from party.datasets.included import load
from protocols.tables.schema import Attribute
from protocols.tables.table import Table


def load_table(name: str, records: int | None = None, treatments: Mapping[str, ColumnTreatment] | None = None) -> Table:
    """Return the first records of a data set; the class is last. The data are public: rare values are named.

    Args:
        name: Of the data set.
        records: How many; all unless given.
        treatments: What is done to the columns; what the demo does unless given.

    Raises:
        InputError: There is no data set of this name.
    """
    dataset = load(name)
    rows = dataset.rows[:records]
    chosen = dataset.treatments if treatments is None else treatments
    order = [*(c for c in dataset.columns if c != dataset.class_name), dataset.class_name]
    frame = frame_of(Path(name), dataset.columns, list(zip(*rows, strict=True)))
    attributes, codes = [], []
    for column in order:
        treated = treat(frame.column(column), replace(chosen.get(column, ColumnTreatment()), smallest_value=1))
        attributes.append(Attribute(name, column, treated.values))
        codes.append(treated.codes)
    return Table(tuple(attributes), np.column_stack(codes))
