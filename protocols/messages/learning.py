"""What the class holder estimates and mines, and that both have the same model at the end."""

from dataclasses import dataclass

from protocols.role import Message


@dataclass(frozen=True, repr=False)
class SentNode:
    """A node of a mined tree: a split on this attribute of the joint schema, or a leaf of this class.

    `counts` are estimates of its training records per class, as multiples of a step of the node (DESIGN 14); none at
    the root, where the exact ones are known.
    """

    attribute: int | None
    label: int
    counts: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class SentTree(Message):
    """The tree that the class holder has mined, nodes in the order of `Tree.walk` (method `randomized` only).

    Splits and classes follow from the sender's true columns and the receiver's copy. With it go the estimated number of
    correctly classified test records and its standard error, rounded to a quarter of that error.
    """

    nodes: tuple[SentNode, ...]
    correct: int
    error: int


@dataclass(frozen=True, repr=False)
class ModelDigest(Message):
    """A digest of the sender's finished model, which it has put where nothing can lose it: equal on both sides."""

    digest: bytes
