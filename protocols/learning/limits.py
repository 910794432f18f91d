"""Where a tree must stop (DESIGN 7.1 "Limits")."""

from collections.abc import Iterable

from protocols.terms import Growth

SLACK = 1e-9
"""Counts that are estimates are rounded: what lacks no more than this of a limit reaches it, at both parties."""


def may_be_split(records: float, depth: int, growth: Growth) -> bool:
    """Tell whether a node of so many records, so many splits below the root, may be split by any attribute at all."""
    is_deep = growth.max_depth is not None and depth >= growth.max_depth
    return not is_deep and (growth.min_leaf == 1 or records >= growth.smallest_split - SLACK)


def may_split(branches: Iterable[float], growth: Growth) -> bool:
    """Tell whether an attribute that parts off so many records may split a node: two branches are large at least."""
    return growth.min_leaf == 1 or sum(not is_small(records, growth) for records in branches) > 1


def is_small(records: float, growth: Growth) -> bool:
    """Tell whether a branch of so many records is a leaf of its parent's label: an empty one always is."""
    return records <= 0 or (growth.min_leaf > 1 and records < growth.min_leaf - SLACK)
