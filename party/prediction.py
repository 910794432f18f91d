"""Classify rows of a file whose columns are all at hand.

A column is found by the attribute's name or, where both parties have a column of that name, by `party.name`. A cell
belongs to the value that the owner's treatment would have given it, as far as the model shows that: the same text,
the bin that holds the number, "other" where rare values were merged, "missing". A cell that belongs to no value has no
branch: its row gets the majority class of the node that it reached; naive Bayes
leaves such a cell out.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from party.data import MISSING_TOKENS, Frame, label_of
from party.errors import DataError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Node, Tree, majority
from protocols.tables.schema import Attribute

NO_BRANCH = -1

Branches = NDArray[np.int16]


@dataclass(frozen=True, repr=False)
class Predictions:
    """The class of each row, and, where the file has the class column, how many of how many rows are right."""

    labels: list[str]
    correct: int | None
    known: int | None

    def __repr__(self) -> str:
        return f"<Predictions of {len(self.labels)} rows>"


def predict_frame(
    model: Tree | NaiveBayes, frame: Frame, missing_tokens: Collection[str] = MISSING_TOKENS
) -> Predictions:
    """Classify every row of a file.

    Args:
        model: The model.
        frame: The file; of a tree only columns that it splits on are needed.
        missing_tokens: Texts that mean a missing cell; an empty cell always does.

    Raises:
        DataError: A column that the model reads is not there, or its name alone does not tell whose it is.
    """
    attributes = model.schema.attributes
    used = sorted(model.columns)
    branches = {i: _branches(frame, column_of(frame, attributes, i), attributes[i], missing_tokens) for i in used}
    if isinstance(model, Tree):
        codes = classify(model.root, branches, len(frame))
    else:
        codes = _most_likely(model, [branches[i] for i in used])
    values = model.schema.class_attribute.values
    correct, known = _score(model, frame, codes, missing_tokens)
    return Predictions([values[code] for code in codes], correct, known)


def column_of(frame: Frame, attributes: tuple[Attribute, ...], index: int) -> str:
    """Return the column of the file that holds this attribute.

    Raises:
        DataError: There is none, or several attributes have that name and none is named in full.
    """
    attribute = attributes[index]
    full = f"{attribute.party}.{attribute.name}"
    if full in frame.columns:
        if any(other.name == full for other in attributes):
            raise DataError(f"{full!r} is a column's own name and one in full: rename it in the data", path=frame.path)
        return full
    if sum(other.name == attribute.name for other in attributes) > 1:
        raise DataError(f"both parties have a column {attribute.name!r}: name it {full!r}", path=frame.path)
    frame.column(attribute.name)
    return attribute.name


def _branches(frame: Frame, column: str, attribute: Attribute, missing_tokens: Collection[str]) -> Branches:
    cells = frame.column(column).cells
    code = {value: position for position, value in enumerate(attribute.values)}
    branch = {}
    for text in set(cells):
        label = label_of(attribute.values, text, missing_tokens)
        branch[text] = NO_BRANCH if label is None else code[label]
    return np.fromiter(map(branch.__getitem__, cells), np.int16, len(cells))


def classify(root: Node, branches: Mapping[int, Branches], rows: int) -> NDArray[np.intp]:
    """Return the class of each row.

    Args:
        root: The tree.
        branches: For each attribute that it splits on, the value of each row, or `NO_BRANCH`.
        rows: Number of rows.
    """
    labels = np.zeros(rows, dtype=np.intp)
    pending: list[tuple[Node, NDArray[np.intp]]] = [(root, np.arange(rows, dtype=np.intp))]
    while pending:
        node, inside = pending.pop()
        if isinstance(node, Leaf):
            labels[inside] = node.label
            continue
        values = branches[node.attribute][inside]
        labels[inside[values == NO_BRANCH]] = majority(node.counts)
        pending += [(child, inside[values == v]) for v, child in enumerate(node.children)]
    return labels


def _most_likely(model: NaiveBayes, branches: Sequence[Branches]) -> NDArray[np.intp]:
    """Return the class of each row; a cell without a branch says nothing: it selects a last row of zeros."""
    tables = tuple(np.vstack([table, np.zeros(table.shape[1])]) for table in model.conditional)
    codes = [np.where(b == NO_BRANCH, len(table) - 1, b) for b, table in zip(branches, tables, strict=True)]
    return NaiveBayes(model.schema, model.prior, tables).predict(np.column_stack(codes))


def _score(
    model: Tree | NaiveBayes, frame: Frame, codes: Iterable[int], missing_tokens: Collection[str]
) -> tuple[int | None, int | None]:
    """Count right predictions among the rows whose class is given."""
    target = model.schema.class_attribute
    if target.name not in frame.columns:
        return None, None
    truth = frame.column(target.name).cells
    given = [
        (label_of(target.values, text, missing_tokens), target.values[code])
        for text, code in zip(truth, codes, strict=True)
        if text is not None and (text not in missing_tokens or text in target.values)
    ]
    return sum(true == predicted for true, predicted in given), len(given)
