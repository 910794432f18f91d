"""Itemsets that two parties have found together, as columns of a table and as data frames (extra `pandas`)."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from party.association.frames import exact_of, result_frame
from party.association.mining import FoundSets, ResultColumns, RuleThreshold, itemset_columns, rule_columns
from party.models.itemset_file import read_itemsets
from party.survey.mining import CONFIDENCE
from protocols.association.joint import JointItemsets, item_name, items_of


def item_names(found: JointItemsets) -> list[str]:
    """Return the names of all items, `party.column=value`, in their order."""
    return [item_name(found, term) for term in items_of(found.attributes)]


def sets_of(found: JointItemsets, confidence: float = CONFIDENCE) -> ResultColumns:
    """Return the frequent sets, those of fewest items first; `settled` tells whether a support is exact.

    Raises:
        InputError: The confidence is not between 0 and 1, both excluded.
    """
    number = {term: position for position, term in enumerate(items_of(found.attributes))}
    sets = found.frequent
    as_found = FoundSets(
        found.threshold,
        [[number[term] for term in each.terms] for each in sets],
        np.array([float(each.count / found.records) for each in sets], dtype=np.float64),
        np.array([float(each.variance / found.records**2) for each in sets], dtype=np.float64),
    )
    settled = np.array([each.settled for each in sets], dtype=np.bool_)
    return {**itemset_columns(as_found, item_names(found), confidence), "settled": settled}


def rules_of(found: JointItemsets, wanted: RuleThreshold, confidence: float = CONFIDENCE) -> ResultColumns:
    """Return the rules that reach a threshold; `settled` tells whether all three supports of one are exact.

    The error of a confidence is at most what stands there: that of estimates is not known better.

    Raises:
        InputError: The confidence is not between 0 and 1, both excluded.
    """
    names = item_names(found)
    columns = rule_columns(found.rules(), names, confidence, wanted)
    term = dict(zip(names, items_of(found.attributes), strict=True))
    settled = [
        found.is_settled(*([term[name] for name in part] for part in (first, rest, first | rest)))
        for first, rest in zip(columns["antecedents"], columns["consequents"], strict=True)
    ]
    return {**columns, "settled": np.array(settled, dtype=np.bool_)}


def joint_itemsets(path: Path | str, confidence: float = CONFIDENCE) -> Any:  # a pandas DataFrame
    """Return the frequent itemsets of a file that `train` or `serve` wrote, in mlxtend's manners.

    Raises:
        InputError: The file cannot be used, or the confidence is out of range.
    """
    return result_frame(sets_of(read_itemsets(Path(path)), confidence))


def joint_rules(
    path: Path | str,
    metric: str = "confidence",
    min_threshold: Fraction | float | str = Fraction(4, 5),
    confidence: float = CONFIDENCE,
) -> Any:  # a pandas DataFrame
    """Return the rules of such a file whose `metric` is at least `min_threshold`, with mlxtend's columns.

    Raises:
        InputError: The file cannot be used, or an argument is out of range.
    """
    wanted = RuleThreshold(metric, exact_of(min_threshold, "min_threshold", "a number"))
    return result_frame(rules_of(read_itemsets(Path(path)), wanted, confidence))
