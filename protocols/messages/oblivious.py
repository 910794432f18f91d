"""What oblivious transfer sends: points, strings that are uniform to their receiver, and corrections under masks."""

from dataclasses import dataclass

from protocols.role import Joinable, Message


@dataclass(frozen=True, repr=False)
class BaseOffer(Message):
    """Fresh bytes that name the session, and a fresh point: the receiver learns nothing."""

    nonce: bytes
    point: bytes


@dataclass(frozen=True, repr=False)
class BasePoints(Message):
    """Two points for each of the first transfers, both uniform: the receiver does not learn which one was chosen."""

    points: bytes


@dataclass(frozen=True, repr=False)
class SeedHints(Message):
    """What opens all leaves but one of each tree of seeds, and what shows that the trees are consistent.

    The receiver learns seeds that mean nothing by themselves. A sender that deviates guesses bits of the receiver's
    offset by it, and a wrong guess ends the session.
    """

    hints: bytes
    sums: bytes
    digest: bytes


@dataclass(frozen=True, repr=False)
class ChoicePage(Message):
    """The sender's choices in many transfers, under a mask for each tree, and what shows that they are the same in all.

    The receiver learns nothing: the masks are streams of the seed that it lacks, and what is checked is hashed together
    with 128 choices that serve nothing else. A sender that deviates guesses bits of the offset, as above.
    """

    matrix: bytes
    check: bytes


@dataclass(frozen=True, repr=False)
class CorrectionPage(Message):
    """Numbers of the sender, one for each transfer and weight, each under the difference of two masks.

    The receiver, who knows one of both masks, learns nothing: what it gets is its share of a product.
    """

    corrections: bytes


@dataclass(frozen=True, repr=False)
class CodePage(Message):
    """Code words of the sender's ids, one for each place of a table, under the streams of 448 seeds.

    The receiver, who lacks one of each pair of seeds, learns nothing.
    """

    rows: bytes


@dataclass(frozen=True, repr=False)
class HintPage(Message):
    """For each place of a table fresh bytes, and 32 slots of 5 bytes: where an id of the sender's is, a number.

    The receiver finds in each place the sender's number if the id that it has there is the sender's, and else one that
    is as random: it cannot say which.
    """

    nonces: bytes
    slots: bytes


@dataclass(frozen=True, repr=False)
class MaskedPage(Joinable):
    """The sender's shares of what goes into secret gates, under random shares: the receiver learns nothing."""


@dataclass(frozen=True, repr=False)
class OpenedPage(Joinable):
    """The sender's shares of results that both have agreed to learn, and no more than these."""
