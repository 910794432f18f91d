"""Everything that ever crosses from one party to the other, in one list.

A privacy officer can read here what a run may send: there is no other kind. Each docstring says what the receiver
learns from it (semi-honest model, DESIGN 7.5).

With a message goes how far the sender's ledger about the receiver leads, as in `MemoryHeads`, where it has grown since
this was last shown. The receiver, who knows which facts it received, learns nothing but that they are on record.
"""

from dataclasses import dataclass
from fractions import Fraction

from protocols.identifiers import IdForm
from protocols.jobs import Job, Unusable
from protocols.role import Joinable, Message

# Who we are, what we want and hold, and where the two differ.


class Greeting(Message):
    """Protocol version, the party's name, a fresh nonce, and the job as this party has it.

    A job that the receiver cannot have arrives as `Unusable`, and the answer to it carries none.
    """

    version: str
    party: str
    nonce: bytes
    job: Job | Unusable


@dataclass(frozen=True, repr=False)
class SharedColumn:
    """A column as its owner names it: its name, its values, and what became of its missing cells.

    `missing` is the value that they have, where that was declared, or is one of their own or `other`; `marks` are the
    texts that the owner takes for missing, none for those that everybody does; the first `ordered` values rise. Where
    the owner declares that the commonest value is filled in, the receiver learns which that is. Whether cells are
    missing is not revealed.
    """

    name: str
    values: tuple[str, ...]
    missing: str | None = None
    marks: tuple[str, ...] | None = None
    ordered: int = 0


class Share(Message):
    """One party's part of the joint schema.

    Only values that many records hold are listed: those held by fewer than the owner's `smallest_value` (10) are merged
    before the run, and bin edges that depend on the data are rounded. The other side learns which columns have merged
    values. A value's absence shows that few records or none hold it.

    `groups` are the groups of columns that share a coin, as indices into `attributes`; the class, where disguised,
    has the index `len(attributes)`. Columns in no group are sent as they are.
    """

    records: int
    attributes: tuple[SharedColumn, ...]
    class_values: tuple[str, ...] | None
    groups: tuple[tuple[int, ...], ...]


class HiddenContents(Message):
    """Points of what the sender holds, each times a secret number of this session: to find whether both hold the same.

    What is compared are lists of ids, as they are and in other spellings, and the class where both hold it, each as a
    whole. The points alone say nothing (DDH).
    """

    points: bytes


class JointDigests(Message):
    """Digests of the receiver's `HiddenContents` times the sender's numbers, in their order.

    The receiver learns of each content that it has shown whether it is the sender's: one guess for each in a session.
    They confirm no other guess, then or later.
    """

    digests: bytes


class TableCommitment(Message):
    """A digest of the sender's columns, class and ids, keyed by a secret that never leaves.

    The receiver can see whether it is shown the same table again, but cannot check a guess of its contents. That keeps
    a peer that follows the protocol from putting a second table against ours under the same names; one that deviates
    may send anything here.
    """

    digest: bytes


class Verdict(Message):
    """The name of the first field on which the parties differ, or nothing.

    Until the split is on record it depends on no record's values; after that, "class counts" may reveal, for that split
    alone, that the class holder finds a class too small.
    """

    field: str


# What each side remembers of runs, ended or going on.


class MemoryHeads(Message):
    """The end of the sender's ledger about the receiver, and of the receiver's as it was last shown to the sender.

    An end is the number of entries, the digest of the last one, and a signature over both by the key of its owner's
    certificate (none where there are no entries). The receiver, which was there each time, learns how much of it the
    sender remembers. Only the owner of the secret can read anything from a digest. `run` names a run of
    this job that both began and the sender has not seen end, if there is one; `fresh` asks to begin from the start.
    """

    entries: int
    digest: bytes
    signature: bytes
    known_entries: int
    known_digest: bytes
    known_signature: bytes
    run: bytes = b""
    fresh: bool = False


class SignedHead(Message):
    """The end of the sender's ledger, signed by the key of its certificate, once a run is on record, and after it.

    It also goes with the last page of every message before which the ledger has grown. The receiver learns as little as
    from `MemoryHeads`, and can show later what the sender's ledger held.
    """

    entries: int
    digest: bytes
    signature: bytes


class KeptParts(Message):
    """What the sender has kept of a run that goes on.

    That is how many answers, with their digest, and whether it has the receiver's disguised copy. The receiver has sent
    or heard all of it before, and learns how much of it the sender has not lost.
    """

    answers: int
    digest: bytes
    copy: bool


class LostAnswers(Message):
    """What was opened of a tree that alone is revealed, and the receiver has lost: answers, the first one first.

    The receiver was there when they were opened, and sent its share of each.
    """

    answers: tuple[bytes, ...]


# How the people on both lists are found.


class PeopleOffer(Message):
    """How many records the sender brings, and whether it would find the people of both lists, should these differ."""

    records: int
    aligns: bool = False


class IdList(Message):
    """How many ids the sender brings to an alignment, in which normal form, and a commitment to the list.

    The commitment is keyed by a secret that never leaves: it names a list, and confirms no guess. `least` is the share
    of the receiver's ids that must be the sender's, or it goes no further.
    """

    ids: int
    form: IdForm
    commitment: bytes
    least: Fraction = Fraction(0)


class ValuesPage(Message):
    """For each of the sender's ids three values of its random function, 10 bytes each, in ascending order of the first.

    The receiver, who has asked for one value in each place of its table, learns which of its ids are the sender's; all
    other values are random to it.
    """

    values: bytes


class CommonRows(Message):
    """Which of the rows of values that the receiver has sent are of ids of the sender's: a bit each.

    The receiver learns which of its ids the sender has too; of the sender's other ids, nothing.
    """

    rows: bytes


# Counts, and what exact ones are made from.


class ClassCounts(Message):
    """How many training records each class has, in the order of the class values, from the party that holds the class.

    The receiver learns these exact counts in every method; in a run with noise, unless both hold the class, the counts
    with the holder's noise, lifted by the largest that it can be. The split is on record before they leave: counts over
    two splits of the same records, subtracted, would give the class of single records.
    """

    values: tuple[int, ...]


class HolderKey(Message):
    """The key holder's public key, as its cipher writes it; for Paillier, the modulus and a proof that it hides.

    The receiver learns no more than the key: what proves it could be made by anybody who chooses the questions.
    """

    key: bytes


class DisguisedPage(Message):
    """Consecutive records of the sender's disguised copy, one byte per code, record by record."""

    codes: bytes


class CiphertextPage(Message):
    """Fresh encryptions under the sender's own key, of equal length, one after the other."""

    ciphertexts: bytes


class PackedCounts(Message):
    """Rerandomized encryptions, under the receiver's key, of the counts of one batch.

    In a run with noise the sender's is in them, lifted by the largest that it can be: the receiver, who can decrypt,
    learns no count without it. A receiver that encrypted weights instead of bits reads sums of weights in place of
    counts, and no more bits than a count has (DESIGN 6.2).
    """

    ciphertexts: bytes


class CountShares(Message):
    """The sender's shares of the counts of one batch that do not follow from others, each below a power of two.

    With its own shares, which are uniform, the receiver learns these counts; in a run with noise the sender's is in
    them, lifted by the largest that it can be.
    """

    shares: tuple[int, ...]


class ExactCounts(Message):
    """The counts of one batch, as the key holder decrypted them or the chooser opened them.

    In a run with noise both sides' is in them, lifted by the largest that it can be: the receiver, who knows its own,
    learns the counts with the key holder's.
    """

    values: tuple[int, ...]


class SetCounts(Message):
    """How many records have each frequent set of the sender's own items, exactly.

    `items` are those of all sets, one set after the other, as positions in the joint list of items; `sizes` say how
    many each set has. The receiver learns these counts, and that all other sets of the sender's items are rarer, longer
    than was agreed, or differ from one of these in few records.
    """

    items: tuple[int, ...]
    sizes: tuple[int, ...]
    counts: tuple[int, ...]


# A mined tree, and that both have one model.


class SentTree(Message):
    """The tree that the class holder has mined, nodes in the order of `Tree.walk` (method `randomized` only).

    Of each split the attribute of the joint schema, of each leaf of class `c` the number `-1 - c`. They follow from the
    sender's true columns and the receiver's copy.
    """

    nodes: tuple[int, ...]


class ModelDigest(Message):
    """A digest of the sender's finished model, which it has put where nothing can lose it: equal on both sides."""

    digest: bytes


# Rows classified together.


class RowsShare(Message):
    """How many rows the sender brings to a joint prediction."""

    rows: int


class RowsAsked(Message):
    """For each row, in the order of the ids, a commitment to the sender's columns of it, or zeros: it is not asked.

    The receiver, who is to answer, learns which people the sender has an answer for already, and later whether it asks
    for one again with other columns. A commitment is keyed by a secret that never leaves: it confirms no guess, and
    those of equal rows differ.
    """

    commitments: bytes


class RowShares(Message):
    """The sender's share of one number for each row of a batch that was asked.

    With its own share the receiver learns which outcome of the model the row has: its class or, where agreed, the
    shares of the classes where it ends in a tree, which nearly name the leaf. A receiver that has chosen what is no
    route reads one other number for each row, of as many bits as the outcomes need (DESIGN 13).
    """

    shares: bytes


# What oblivious transfer is made of.


class BaseOffer(Message):
    """Fresh bytes that name the session, and a fresh point: the receiver learns nothing."""

    nonce: bytes
    point: bytes


class BasePoints(Message):
    """Two points for each of the first transfers, both uniform: the receiver does not learn which one was chosen."""

    points: bytes


class SeedHints(Message):
    """What opens all leaves but one of each tree of seeds, and what shows that the trees are consistent.

    The receiver learns seeds that mean nothing by themselves. A sender that deviates guesses bits of the receiver's
    offset by it, and a wrong guess ends the session.
    """

    hints: bytes
    sums: bytes
    digest: bytes


class ChoicePage(Message):
    """The sender's choices in many transfers, under a mask for each tree, and what shows that they are the same in all.

    The receiver learns nothing: the masks are streams of the seed that it lacks, and what is checked is hashed together
    with 128 choices that serve nothing else. A sender that deviates guesses bits of the offset, as above.
    """

    matrix: bytes
    check: bytes


class CorrectionPage(Message):
    """Numbers of the sender, one for each transfer and weight, each under the difference of two masks.

    The receiver, who knows one of both masks, learns nothing: what it gets is its share of a product.
    """

    corrections: bytes


class CodePage(Message):
    """Code words of the sender's ids, one for each place of a table, under the streams of 448 seeds.

    The receiver, who lacks one of each pair of seeds, learns nothing.
    """

    rows: bytes


class HintPage(Message):
    """For each place of a table fresh bytes, and 32 slots of 5 bytes: where an id of the sender's is, a number.

    The receiver finds in each place the sender's number if the id that it has there is the sender's, and else one that
    is as random: it cannot say which.
    """

    nonces: bytes
    slots: bytes


class MaskedPage(Joinable):
    """The sender's shares of what goes into secret gates, under random shares: the receiver learns nothing."""


class OpenedPage(Joinable):
    """The sender's shares of results that both have agreed to learn, and no more than these."""
