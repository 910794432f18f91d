"""What a side sees of a protocol, made from its result and chance alone: tests show that it sees no more."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.association.joint import JointItemsets
from protocols.learning.tree import TENTHS, Leaf, Split, Tree
from protocols.messages import CodePage, CorrectionPage, CountShares, HintPage
from protocols.oblivious import prf, programmed
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.numbers import wires_of
from protocols.oblivious.prf import CODE_BITS
from protocols.oblivious.programmed import NUMBER_BYTES
from protocols.randomness import Randomness
from protocols.secret_tree import openings
from protocols.secret_tree.bits import Allowance
from protocols.tables import Expression
from protocols.terms import ALL, Leaves, RuleTerms
from protocols.two_party.opened_sets import AskedSets


def simulate_page(size: int, randomness: Randomness) -> CorrectionPage:
    """Return a page as the chooser sees it: uniform bytes."""
    return CorrectionPage(randomness.randbelow(1 << 8 * size).to_bytes(size, "big"))


def simulate_codes(size: int, randomness: Randomness) -> Iterator[CodePage]:
    """Yield what the key holder sees of a table of this size: uniform rows."""
    for page in prf._pages(size):
        length = CODE_BITS * (page.stop - page.start) // 8
        yield CodePage(randomness.randbelow(1 << 8 * length).to_bytes(length, "big"))


def simulate_hints(size: int, randomness: Randomness) -> list[HintPage]:
    """Return hints as the asker sees them: uniform bytes."""
    pages = []
    for start in range(0, size, programmed._PAGE_PLACES):
        places = min(programmed._PAGE_PLACES, size - start)
        lengths = (8 * places, programmed._SLOTS * NUMBER_BYTES * places)
        pages.append(HintPage(*(randomness.randbelow(1 << 8 * each).to_bytes(each, "big") for each in lengths)))
    return pages


def simulate_share(own: CountShares, opened: Sequence[int], most: np.uint64) -> CountShares:
    """Return the share that the other side must have sent, where ours and theirs open so, modulo one above `most`."""
    theirs = (np.array(opened, np.int64).astype(WORD) - np.array(own.shares, WORD)) & most
    return CountShares(tuple(map(int, theirs)))


def simulate_openings(
    tree: Tree, allowance: Allowance, windows: Mapping[Expression, tuple[int, ...]] | None = None
) -> Iterator[Uint64s]:
    """Yield the wires that a run opens, in their order, from its tree, what that may reveal, and its windows."""
    every, classes, omega = range(len(tree.schema.attributes)), tree.schema.classes, allowance.window
    for level, asked in allowance.levels(tree):
        ended = [node.label for at, (_, node) in enumerate(level) if isinstance(node, Leaf) and at not in asked]
        nodes = [level[at] for at in asked]
        labels = [node.label for _, node in nodes if isinstance(node, Leaf)]
        candidates = [[at for at in every if at not in path.columns] for path, _ in nodes]
        if windows and omega is not ALL and nodes and omega < len(candidates[0]):
            own = [windows[path] for path, _ in nodes]
            yield window_wires(
                np.array([[at in one for at in all_] for one, all_ in zip(own, candidates, strict=True)])
            )
            candidates = [list(window) for window in own]
        winners = [
            of_node.index(node.attribute)
            for (_, node), of_node in zip(nodes, candidates, strict=True)
            if isinstance(node, Split)
        ]
        left = len(candidates[0]) if candidates else 0
        ends = [isinstance(node, Leaf) for _, node in nodes] if tree.growth.noise is None else []
        for numbers, kinds in ((ended, classes), (ends, 2), (labels, classes), (winners, left)):
            if numbers:
                yield _wires(numbers, kinds)
    if tree.growth.leaves == Leaves.TENTHS and classes > 1:
        tenths = np.array([node.tenths[1:] for _, node in tree.walk() if isinstance(node, Leaf)]).T
        yield wires_of(tenths[:, None] >= np.arange(1, TENTHS + 1)[:, None])


def window_wires(inside: NDArray[np.bool_]) -> Uint64s:
    """Return the wires that are opened of these windows (`nodes x candidates`)."""
    return wires_of(inside.T.reshape(-1))


def _wires(numbers: Sequence[int], kinds: int) -> Uint64s:
    bits = np.arange(openings._width(kinds))[:, None]
    return wires_of((np.array(numbers) >> bits & 1).astype(np.bool_))


def simulate_answers(found: JointItemsets, terms: RuleTerms) -> Iterator[Uint64s]:
    """Yield the wires that a run opens, in their order, from what it found."""
    there, asked = {each.terms for each in found.kept}, AskedSets(found.attributes, terms)
    level = asked.first()
    while level:
        yield wires_of(np.array([[each in there for each in level]]))
        level = asked.after([each for each in level if each in there])
    if rules := asked.rules([each.terms for each in found.kept]):
        reached = set(found.reached.rules if found.reached else ())
        yield wires_of(np.array([[rule in reached for rule in rules]]))
