"""The share of each class in the leaves of a tree, in tenths, of counts that nobody sees.

    counts      shares of how many records of each class a leaf has; of a leaf of fewer than `min_leaf` its parent's
    tenth       how many k of 1 .. 10 have 20 n_c >= (2 k - 1) n, for every class but the first: n_c / n rounded
    opened      these comparisons, of all leaves at once

With noise, counts are those with the noise of both sides from which labels were made (`noise.both`): label and tenths
follow from them, and cost no more than they do.

*Functionality*: the tenths of each leaf; nothing else is learned.
*Assumed*: as `oblivious.numbers`.
*Deviations*: as `oblivious.gates`; a side may flip a comparison; that shows it nothing of the other side.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.errors import DeviationError
from protocols.learning.tree import TENTHS, Leaf, Tree, shares_in_tenths
from protocols.noise.both import TreeNoise
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import are_negative, bits_of_lanes, filled, modulus_mask, products, wires_of
from protocols.role import Note, Role
from protocols.secret_tree.openings import OpenedFact, OpenedKind
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Expression, Term


def add_tenths(
    tree: Tree, counts: SharedCounts, gates: Gates, answers: KeptAnswers, noise: TreeNoise | None = None
) -> Role[Tree]:
    """Return the agreed tree, of labels only, with the shares of its leaves; `noise` is ours, where labels have some.

    Discloses: to both, the tenths of each leaf.
    """
    paths, others = [path for path, _ in tree.leaves()], tree.schema.classes - 1

    def fits(numbers: AnswerNumbers) -> bool:
        return len(numbers) == len(paths) * others and all(0 <= number <= TENTHS for number in numbers)

    if not others:
        return tree.relabelled(lambda _, leaf: replace(leaf, tenths=(TENTHS,)))
    found = yield from answers.ask(_opened(tree, paths, counts, gates, noise), fits)
    rows = np.array(found, np.int64).reshape(len(paths), others).tolist()
    tenths = {path: (max(0, TENTHS - sum(row)), *row) for path, row in zip(paths, rows, strict=True)}
    return tree.relabelled(lambda path, leaf: replace(leaf, tenths=tenths[path]))


def _opened(
    tree: Tree, paths: Sequence[Expression], counts: SharedCounts, gates: Gates, noise: TreeNoise | None
) -> Role[AnswerNumbers]:
    classes = tree.schema.classes
    room = 0 if noise is None else 2 * classes * noise.spending.label.cut
    width = (2 * TENTHS * (counts.records + room)).bit_length() + 2
    labels = [Term(tree.schema.class_index, label) for label in range(classes)]
    rows = (yield from counts.count([path & label for path in paths for label in labels], width)).reshape(-1, classes)
    if noise is None:
        numbers = yield from _deciding_counts(tree, paths, filled(rows.T), gates, width)
    else:
        drawn = np.array([noise.label(path, classes) for path in paths], np.int64).astype(WORD)
        numbers = filled((rows + drawn).T)
    steps = np.arange(1, 2 * TENTHS, 2, dtype=WORD)[:, None]
    lead = numbers[1:, None] * np.uint64(2 * TENTHS) - numbers.sum(0, dtype=WORD) * steps
    behind = yield from are_negative(gates, lead & modulus_mask(width), width)
    yield Note(OpenedFact(OpenedKind.TENTHS, tuple(paths), None))
    own = bits_of_lanes(gates.flipped(behind))[..., : len(paths)]
    bits = bits_of_lanes((yield from gates.opened(wires_of(own))))[..., : len(paths)]
    if noise is None and not (bits[:, :-1] >= bits[:, 1:]).all():
        raise DeviationError
    values: list[int] = bits.sum(1).T.ravel().tolist()
    yield Note(OpenedFact(OpenedKind.TENTHS, tuple(paths), tuple(values)))
    return tuple(map(float, values))


def _deciding_counts(tree: Tree, paths: Sequence[Expression], own: Uint64s, gates: Gates, width: int) -> Role[Uint64s]:
    """Return shares of the counts that decide: a leaf's own, or its parent's where it is too small."""
    if isinstance(tree.root, Leaf):
        return own
    parents = own.copy()
    for at, path in enumerate(paths):
        below = [place for place, other in enumerate(paths) if other.terms[: len(path.terms) - 1] == path.parent.terms]
        parents[:, at] = own[:, below].sum(1, dtype=WORD)
    lacking = own.sum(0, dtype=WORD) - np.uint64(gates.first * tree.growth.min_leaf)
    is_small = yield from are_negative(gates, lacking & modulus_mask(width), width)
    repeated = np.broadcast_to(is_small, (len(own), *is_small.shape))
    change = yield from products(gates, repeated, (parents - own) & modulus_mask(width), width)
    return own + change


def with_tenths(tree: Tree) -> Tree:
    """Return a tree of counts with the tenths of its leaves, as they follow for anybody who sees these."""
    counts = {path: node.counts for path, node in tree.walk()}

    def tenths(path: Expression, leaf: Leaf) -> Leaf:
        is_small = sum(leaf.counts) < tree.growth.min_leaf and path.terms
        return replace(leaf, tenths=shares_in_tenths([*map(round, counts[path.parent] if is_small else leaf.counts)]))

    return tree.relabelled(tenths)
