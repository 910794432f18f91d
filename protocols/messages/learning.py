"""What the class holder mines, and that both have the same model at the end."""

from dataclasses import dataclass

from protocols.role import Message


@dataclass(frozen=True, repr=False)
class SentTree(Message):
    """The tree that the class holder has mined, nodes in the order of `Tree.walk` (method `randomized` only).

    Of each split the attribute of the joint schema, of each leaf of class `c` the number `-1 - c`. They follow from the
    sender's true columns and the receiver's copy.
    """

    nodes: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class ModelDigest(Message):
    """A digest of the sender's finished model, which it has put where nothing can lose it: equal on both sides."""

    digest: bytes
