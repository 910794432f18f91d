"""What mining baskets found, as columns of a table: for data frames, for files, for screens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from party.data import write_table
from party.models.itemset_file import read_itemsets
from party.settings.transactions import BasketDesign
from party.survey.mining import CONFIDENCE
from protocols.association.apriori import MinedItemsets, mine_itemsets
from protocols.association.joint import JointItemsets, item_name, items_of
from protocols.association.lattice import Reals
from protocols.association.rules import MinedRules, mine_rules, rule_metrics
from protocols.association.transactions import Randomized
from protocols.errors import InputError
from protocols.randomized_response.estimate import quantile
from protocols.survey.itemsets import MinedColumns, column_items


def frequent_itemsets(
    sent: Randomized,
    design: BasketDesign,
    min_support: Fraction | float | str = 0.5,
    max_len: int | None = None,
    confidence: float = 0.95,
) -> Any:  # a pandas DataFrame
    """Return the itemsets whose estimated support is at least `min_support`.

    Columns: mlxtend's `support` and `itemsets`, then `standard_error`, `low` and `high` of an interval, and
    `straddles`: whether the threshold lies in it. Empty and typed where nothing is frequent.

    `min_support` is a share of all baskets, `max_len` the most items of a set: as many as can be estimated if not
    given.

    Raises:
        InputError: An argument is out of range, or sets of `max_len` items cannot be estimated.
    """
    mined = mine_itemsets(sent, design.design, _share(min_support), max_len)
    return result_frame(itemset_columns(sets_of_baskets(mined), design.items, confidence))


def association_rules(
    sent: Randomized,
    design: BasketDesign,
    min_support: Fraction | float | str = 0.5,
    metric: str = "confidence",
    min_threshold: Fraction | float | str = Fraction(4, 5),
    confidence: float = 0.95,
) -> Any:  # a pandas DataFrame
    """Return the rules of the frequent itemsets whose `metric` is at least `min_threshold`.

    Columns: mlxtend's, then the standard errors of support and confidence, an interval of the confidence, and
    `straddles`: whether a threshold of the confidence lies in it. A rule whose antecedent has an estimated support of
    0 or less has no confidence, and is left out.

    `metric` is a measure by mlxtend's name, `min_threshold` its smallest value.

    Raises:
        InputError: An argument is out of range, or unknown.
    """
    wanted = RuleThreshold(metric, exact_of(min_threshold, "min_threshold", "a number"))
    mined = mine_itemsets(sent, design.design, _share(min_support))
    return result_frame(rule_columns(mine_rules(mined), design.items, confidence, wanted))


def _share(given: Fraction | float | str) -> Fraction:
    return exact_of(given, "min_support", "above 0 and at most 1")


def exact_of(given: Fraction | float | str, field: str, wanted: str) -> Fraction:
    """Return a number as it is written: 0.8 is 4/5, and not the nearest float."""
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError):  # NaN and infinity among them
        raise InputError(f"must be {wanted}", field=field) from None


def result_frame(columns: Any) -> Any:  # a pandas DataFrame
    """Return columns as a data frame, typed where it is empty."""
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        raise InputError("data frames need pandas: pip install '.[pandas]' in cotally's clone") from None
    return pd.DataFrame(
        {
            name: pd.Series(cells, dtype=None if len(cells) else getattr(cells, "dtype", object))
            for name, cells in columns.items()
        }
    )


ITEMSET_COLUMNS = ("support", "itemsets", "standard_error", "low", "high", "straddles")
RULE_COLUMNS = (
    "antecedents", "consequents", "antecedent support", "consequent support", "support", "confidence", "lift",
    "representativity", "leverage", "conviction", "zhangs_metric", "jaccard", "certainty", "kulczynski",
    "support_error", "confidence_error", "low", "high", "straddles",
)  # fmt: skip
"""Those of mlxtend in its order, then errors, an interval of the confidence, and whether the threshold lies in it."""

ResultColumns = Mapping[str, Any]
"""Arrays of numbers and lists of sets, all of one length, by the names of columns."""


@dataclass(frozen=True)
class RuleThreshold:
    """Which rules are wanted."""

    metric: str = "confidence"
    least: Fraction = Fraction(4, 5)

    def __post_init__(self) -> None:
        known = RULE_COLUMNS[2:14]
        if self.metric not in known:
            raise InputError(f"must be one of {', '.join(known)}", field="metric")


def threshold_of(metric: str | None, least: Fraction | None) -> RuleThreshold | None:
    """Return a threshold of which one part may be the usual; None for no threshold."""
    given = {"metric": metric, "least": least}
    given = {name: value for name, value in given.items() if value is not None}
    return RuleThreshold(**given) if given else None  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class FoundSets:
    """Frequent itemsets by the numbers of their items, those of fewest items first."""

    threshold: Fraction
    sets: Sequence[Sequence[int]]
    supports: Reals
    variances: Reals

    @property
    def by_length(self) -> list[int]:
        """How many sets have 1 item, 2 items, and so on."""
        return np.bincount([len(items) for items in self.sets]).tolist()[1:] if self.sets else []


def sets_of_baskets(mined: MinedItemsets) -> FoundSets:
    """Return the frequent sets of baskets."""
    levels = list(mined.frequent())
    return FoundSets(
        mined.threshold,
        [row for level in levels for row in level.itemsets.tolist()],
        np.concatenate([np.zeros(0), *(level.shares for level in levels)]),
        np.concatenate([np.zeros(0), *(level.variances for level in levels)]),
    )


def sets_of_columns(mined: MinedColumns) -> FoundSets:
    """Return the frequent sets of a table's columns with their values."""
    number = {item: index for index, item in enumerate(column_items(mined.design))}
    return FoundSets(
        mined.threshold,
        [[number[term] for term in known.terms] for known in mined.sets],
        np.array([known.share for known in mined.sets], dtype=np.float64),
        np.array([known.variance for known in mined.sets], dtype=np.float64),
    )


def itemset_columns(found: FoundSets, items: Sequence[str], confidence: float) -> ResultColumns:
    """Return the frequent itemsets, those of fewest items first."""
    z, support = quantile(confidence), found.supports
    error = np.sqrt(np.maximum(found.variances, 0))
    sets = [frozenset(items[item] for item in row) for row in found.sets]
    low, high = support - z * error, support + z * error
    straddles = (low < float(found.threshold)) & (float(found.threshold) < high)
    return dict(zip(ITEMSET_COLUMNS, (support, sets, error, low, high, straddles), strict=True))


def rule_columns(found: MinedRules, items: Sequence[str], confidence: float, wanted: RuleThreshold) -> ResultColumns:
    """Return the rules that reach a threshold."""
    z = quantile(confidence)
    shares = np.array([rule.supports for rule in found.rules], dtype=np.float64).reshape(-1, 3)
    both, antecedent, consequent = shares.T
    ratio = np.array([rule.confidence for rule in found.rules], dtype=np.float64)
    error = np.array([rule.confidence_error for rule in found.rules], dtype=np.float64)
    low, high = ratio - z * error, ratio + z * error
    at = float(wanted.least) if wanted.metric == "confidence" else np.nan
    columns: dict[str, Reals | NDArray[np.bool_]] = {
        **rule_metrics(both, antecedent, consequent),
        "confidence": ratio,
        "support_error": np.array([rule.support_error for rule in found.rules], dtype=np.float64),
        "confidence_error": error,
        "low": low,
        "high": high,
        "straddles": (low < at) & (at < high),
    }
    reached = found.reached(wanted.metric, wanted.least)
    chosen = [rule for rule, there in zip(found.rules, reached.tolist(), strict=True) if there]
    sets = {
        "antecedents": [frozenset(items[item] for item in rule.antecedent) for rule in chosen],
        "consequents": [frozenset(items[item] for item in rule.consequent) for rule in chosen],
    }
    return {name: sets[name] if name in sets else columns[name][reached] for name in RULE_COLUMNS}


def write_result(path: Path, columns: ResultColumns) -> None:
    """Write a result as a table; a set is a JSON list of its items, sorted."""
    cells = [
        [json.dumps(sorted(cell), ensure_ascii=False) if isinstance(cell, frozenset) else cell for cell in column]
        for column in (c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values())
    ]
    write_table(path, list(columns), cells, str)


def result_json(columns: ResultColumns) -> list[dict[str, object]]:
    """Return a result row by row."""
    cells = (c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values())
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def item_names(found: JointItemsets) -> list[str]:
    """Return the names of all items, `party.column=value`, in their order."""
    return [item_name(found, term) for term in items_of(found.attributes)]


def sets_of(found: JointItemsets, confidence: float = CONFIDENCE) -> ResultColumns:
    """Return the frequent sets, fewest items first; `settled` for exact supports, none where nobody counted."""
    number = {term: position for position, term in enumerate(items_of(found.attributes))}
    sets, names = found.frequent, item_names(found)
    if not found.has_counts:
        return {"itemsets": [frozenset(names[number[term]] for term in each.terms) for each in sets]}
    as_found = FoundSets(
        found.threshold,
        [[number[term] for term in each.terms] for each in sets],
        np.array([float(each.count / found.records) for each in sets], dtype=np.float64),
        np.array([float(each.variance / found.records**2) for each in sets], dtype=np.float64),
    )
    settled = np.array([each.settled for each in sets], dtype=np.bool_)
    return {**itemset_columns(as_found, names, confidence), "settled": settled}


def rules_of(
    found: JointItemsets, wanted: RuleThreshold | None = None, confidence: float = CONFIDENCE
) -> ResultColumns:
    """Return the rules that reach a threshold; `settled` says whether all three supports of one are exact.

    The error of a confidence is at most what stands there: that of estimates is not known better. Of rules without
    counts there are the items alone, of those that reach the threshold of the run.
    """
    names = item_names(found)
    if (reached := found.reached) is not None:
        if wanted is not None and (wanted.metric, wanted.least) != (reached.metric, reached.least):
            raise InputError(
                f"the run asked which rules have a {reached.metric} of {reached.least} or more, and no more is known: "
                "leave metric and min_threshold out"
            )
        name = dict(zip(items_of(found.attributes), names, strict=True))
        sides = zip(*reached.rules, strict=True) if reached.rules else ((), ())
        listed = [[frozenset(name[term] for term in each) for each in side] for side in sides]
        return dict(zip(("antecedents", "consequents"), listed, strict=True))
    wanted = RuleThreshold() if wanted is None else wanted
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
    metric: str | None = None,
    min_threshold: Fraction | float | str | None = None,
    confidence: float = CONFIDENCE,
) -> Any:  # a pandas DataFrame
    """Return the rules of such a file whose `metric` is at least `min_threshold`, with mlxtend's columns.

    By default a confidence of 4/5, or what the run compared where no count is known.

    Raises:
        InputError: The file cannot be used, or an argument is out of range.
    """
    least = None if min_threshold is None else exact_of(min_threshold, "min_threshold", "a number")
    return result_frame(rules_of(read_itemsets(Path(path)), threshold_of(metric, least), confidence))
