"""What crosses when both classify rows together (DESIGN 13)."""

from dataclasses import dataclass

from protocols.role import Message


@dataclass(frozen=True, repr=False)
class RowsShare(Message):
    """How many rows the sender brings to a joint prediction."""

    rows: int


@dataclass(frozen=True, repr=False)
class RowsAsked(Message):
    """For each row, in the order of the ids, a commitment to the sender's columns of it, or zeros: it is not asked.

    The receiver, who is to answer, learns which people the sender has an answer for already, and later whether it asks
    for one again with other columns. A commitment is keyed by a secret that never leaves: it confirms no guess, and
    those of equal rows differ.
    """

    commitments: bytes


@dataclass(frozen=True, repr=False)
class RowShares(Message):
    """The sender's share of one number for each row of a batch that was asked.

    With its own share the receiver learns which outcome of the model the row has: its class or, where agreed, the
    shares of the classes where it ends in a tree, which nearly name the leaf. A receiver that has chosen what is no
    route reads one other number for each row, of as many bits as the outcomes need (DESIGN 13).
    """

    shares: bytes
