"""What a run reveals at most, whatever model it builds: counts, or bits of a tree; from sizes and terms alone."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from protocols.secret_tree.bits import bits_at_most, bits_of_leaf
from protocols.terms import ALL, MiningTerms, Terms


def most_counts(domains: Sequence[int], classes: int, train: int, terms: Terms, splits: int | None = None) -> int:
    """Return how many exact counts a run reveals at most, whatever tree it grows; nobody knows before how many it will.

    A node is asked for if its records can be split and are of two classes, so those of one level are at most one for
    each two smallest leaves; and they are at most as many as the values of the attributes above them combine to. Each
    costs its window. The class holder sends the records of each class before.
    """
    if terms.hides_counts:
        return 0
    if isinstance(terms, MiningTerms):
        return terms.rules.most_counts if terms.counts_exactly else classes
    if not terms.counts_exactly:
        return 0
    sizes = sorted(domains, reverse=True)
    window = len(sizes) if terms.window is ALL else terms.window
    total, left, paths, split = 0, splits, 1, max(1, train // terms.growth.smallest_split)
    for level in range(most_levels(len(sizes), terms)):
        nodes = min(paths, split)
        paths = min(paths * sizes[level], split)
        if left is not None:
            nodes = min(nodes, left)
            left -= nodes
        total += nodes * sum(sizes[: min(window, len(sizes) - level)]) * classes
    return classes + total + (terms.test > 0)


def most_levels(attributes: int, terms: Terms) -> int:
    """Return how many levels of this many attributes are counted at most."""
    return attributes if terms.levels is None else min(attributes, terms.levels)


def most_tree_bits(domains: Sequence[int], classes: int, records: int, terms: Terms) -> int | None:
    """Return the bits of the tree that reveals most, where the tree alone is revealed without noise; else None."""
    most = terms.bits_at_most(records)
    if most is None:
        return None
    of_leaf = bits_of_leaf(classes, terms.growth.leaves)
    return ceil(bits_at_most(domains, of_leaf, terms.max_depth, terms.window, most))


class Room(NamedTuple):
    """How many levels of splits `most_bits` leaves room for, however wide, of how many; the bits that all need."""

    levels: int
    wanted: int
    bits: int


def room_for_levels(domains: Sequence[int], classes: int, records: int, terms: Terms) -> Room | None:
    """Return for how many levels `most_bits` leaves room; None where it ends no tree early."""
    most, depth = terms.bits_at_most(records), min(terms.max_depth or len(domains), len(domains))
    if most is None or not terms.opens_tree:
        return None
    of_leaf = bits_of_leaf(classes, terms.growth.leaves)
    wanted = [bits_at_most(domains, of_leaf, level, terms.window) for level in range(depth + 1)]
    fit = sum(bits <= most for bits in wanted)
    return None if fit > depth else Room(max(fit - 1, 0), depth, ceil(wanted[-1]))
