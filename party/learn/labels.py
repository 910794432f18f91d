"""The labels of a class, as scikit-learn gives and expects them, and the codes that a design has for them.

A pandas column of answers is read as text, as all other columns are; what is predicted is of the kind that was given.
Tools that wrap a classifier recode the labels first: to 0, 1, ... in sorted order, or one class to 1 and the rest to 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from party.data import value_of
from party.data.bins import number
from protocols.tables import MAX_DOMAIN, Codes


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """What a learner calls its classes.

    For each code, `names` has the label's text and `by_code` the label that predictions give; `classes` are sorted, and
    `order` has the codes so.
    """

    names: tuple[str, ...]
    by_code: NDArray[Any]
    classes: NDArray[Any]
    order: NDArray[np.intp]

    def codes(self, target: NDArray[Any]) -> Codes:
        """Return the code of every label."""
        code = {label: position for position, label in enumerate(self.by_code.tolist())}
        text_code = {name: position for position, name in enumerate(self.names)}
        for label in set(target.tolist()) - code.keys():
            text = value_of(self.names, str(label))
            if text is None:
                raise _unknown(self.classes)
            code[label] = text_code[text]
        return np.array([code[label] for label in target.tolist()], dtype=np.uint8)


def free_labels(target: NDArray[Any]) -> Labels:
    """Return the labels that occur, where no design says which there are."""
    found = np.unique(target)
    if len(found) > MAX_DOMAIN:
        raise ValueError(f"Unknown label type: {len(found)} classes are more than {MAX_DOMAIN}")
    return _sorted(tuple(map(str, found.tolist())), found)


def declared_labels(target: NDArray[Any], known: Sequence[Any], plain: bool, column: bool) -> Labels:
    """Return the labels for classes that are declared, in the order of their codes.

    Args:
        target: Labels that were given.
        known: The declared ones: texts of a file's design, or any others.
        plain: Whether the class is sent as it is: then numbers that are no declared labels may stand for classes that
            were put together.
        column: Whether the labels were read beside the other columns, and are texts as those are.
    """
    given = np.unique(target)
    names = tuple(map(str, known))
    position = {label: code for code, label in enumerate(known)}
    matched = [position.get(label, position.get(value_of(names, str(label)))) for label in given.tolist()]
    if None not in matched:
        return _matched(names, known, given, [code for code in matched if code is not None], column)
    if given.dtype.kind in "iu":
        if given.tolist() == list(range(len(known))):
            return _recoded(names, known)
        if plain:
            return free_labels(target)
    raise _unknown(np.asarray(known))


def _matched(
    names: tuple[str, ...], known: Sequence[Any], given: NDArray[Any], codes: Sequence[int], column: bool
) -> Labels:
    numbers = [number(name) for name in names]
    if len(given) == len(known):
        by_code = given[np.argsort(codes)]
    elif given.dtype.kind in "iuf" and None not in numbers:
        by_code = np.array([float(value) for value in numbers if value is not None]).astype(given.dtype)
    else:
        by_code = np.asarray(known)
    labels = _sorted(names, by_code)
    return Labels(names, by_code, np.array(names)[labels.order], labels.order) if column else labels


def _recoded(names: tuple[str, ...], known: Sequence[Any]) -> Labels:
    """Return 0, 1, ... for the labels in sorted order, which must be one order for texts and for numbers."""
    order = np.argsort(np.asarray(known))
    numbers = [value for value in (number(names[code]) for code in order) if value is not None]
    if len(numbers) == len(names) and numbers != sorted(numbers):
        raise ValueError(
            "y was recoded to 0, 1, ...: the classes are numbers that sort in another way as texts; give y as texts"
        )
    return _sorted(names, np.argsort(order))


def _sorted(names: tuple[str, ...], by_code: NDArray[Any]) -> Labels:
    order = np.argsort(by_code, kind="stable")
    return Labels(names, by_code, by_code[order], order)


def _unknown(classes: NDArray[Any]) -> ValueError:
    return ValueError(
        f"y holds a class that is not among the {len(classes)} known ones, such as {classes.tolist()[0]!r}"
    )
