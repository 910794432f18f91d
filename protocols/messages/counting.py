"""Counts, exact ones and what they are made from: a key, disguised records, ciphertexts."""

from dataclasses import dataclass

from protocols.role import Message


@dataclass(frozen=True, repr=False)
class ClassCounts(Message):
    """How many training records each class has, in the order of the class values, from the party that holds the class.

    The receiver learns these exact counts in every method; in a run with noise, unless both hold the class, the counts
    with the holder's noise, lifted by the largest that it can be. The split is on record before they leave: counts over
    two splits of the same records, subtracted, would give the class of single records.
    """

    values: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class HolderKey(Message):
    """The key holder's public key, as its cipher writes it; for Paillier, the modulus and a proof that it hides.

    The receiver learns no more than the key: what proves it could be made by anybody who chooses the questions.
    """

    key: bytes


@dataclass(frozen=True, repr=False)
class DisguisedPage(Message):
    """Consecutive records of the sender's disguised copy, one byte per code, record by record."""

    codes: bytes


@dataclass(frozen=True, repr=False)
class CiphertextPage(Message):
    """Fresh encryptions under the sender's own key, of equal length, one after the other."""

    ciphertexts: bytes


@dataclass(frozen=True, repr=False)
class PackedCounts(Message):
    """Rerandomized encryptions, under the receiver's key, of the counts of one batch.

    In a run with noise the sender's is in them, lifted by the largest that it can be: the receiver, who can decrypt,
    learns no count without it. A receiver that encrypted weights instead of bits reads sums of weights in place of
    counts, and no more bits than a count has (DESIGN 6.3).
    """

    ciphertexts: bytes


@dataclass(frozen=True, repr=False)
class CountShares(Message):
    """The sender's shares of the counts of one batch that do not follow from others, each below a power of two.

    With its own shares, which are uniform, the receiver learns these counts; in a run with noise the sender's is in
    them, lifted by the largest that it can be.
    """

    shares: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class ExactCounts(Message):
    """The counts of one batch, as the key holder decrypted them or the chooser opened them.

    In a run with noise both sides' is in them, lifted by the largest that it can be: the receiver, who knows its own,
    learns the counts with the key holder's.
    """

    values: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class SetCounts(Message):
    """How many records have each frequent set of the sender's own items, exactly.

    `items` are those of all sets, one set after the other, as positions in the joint list of items; `sizes` say how
    many each set has. The receiver learns these counts, and that all other sets of the sender's items are rarer, longer
    than was agreed, or differ from one of these in few records.
    """

    items: tuple[int, ...]
    sizes: tuple[int, ...]
    counts: tuple[int, ...]
