"""Frequent itemsets and rules of disguised baskets as data frames, in mlxtend's manners (extra `pandas`)."""

from fractions import Fraction
from typing import Any

from party.association.mining import RuleThreshold, itemset_columns, rule_columns, sets_of_baskets
from party.settings.transactions import BasketDesign
from protocols.association.apriori import mine_itemsets
from protocols.association.rules import mine_rules
from protocols.association.transactions import Randomized
from protocols.errors import InputError


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

    Args:
        sent: Disguised baskets.
        design: How they were disguised.
        min_support: A share of all baskets.
        max_len: The most items of a set; as many as can be told if not given.
        confidence: Of the intervals.

    Raises:
        InputError: An argument is out of range, or sets of `max_len` items cannot be told.
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

    Args:
        sent: Disguised baskets.
        design: How they were disguised.
        min_support: Of the sets, as for `frequent_itemsets`.
        metric: A measure by mlxtend's name.
        min_threshold: Its smallest value.
        confidence: Of the intervals.

    Raises:
        InputError: An argument is out of range, or unknown.
    """
    wanted = RuleThreshold(metric, exact_of(min_threshold, "min_threshold", "a number"))
    mined = mine_itemsets(sent, design.design, _share(min_support))
    return result_frame(rule_columns(mine_rules(mined), design.items, confidence, wanted))


def _share(given: Fraction | float | str) -> Fraction:
    return exact_of(given, "min_support", "above 0 and at most 1")


def exact_of(given: Fraction | float | str, field: str, wanted: str) -> Fraction:
    """Return a number as it is written: 0.8 is 4/5, and not the nearest float.

    Raises:
        InputError: It is none.
    """
    try:
        return Fraction(str(given))
    except (ValueError, ZeroDivisionError):  # NaN and infinity among them
        raise InputError(f"must be {wanted}", field=field) from None


def result_frame(columns: Any) -> Any:  # a pandas DataFrame
    """Return columns as a data frame, typed where it is empty.

    Raises:
        InputError: pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        raise InputError("data frames need pandas: pip install '.[pandas]' in cotally's clone") from None
    return pd.DataFrame(
        {name: pd.Series(cells, dtype=None if len(cells) else _type(cells)) for name, cells in columns.items()}
    )


def _type(cells: Any) -> Any:
    return getattr(cells, "dtype", object)
