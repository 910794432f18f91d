"""Everything that ever crosses from one party to the other, in one list.

A privacy officer can read here what a run may send: there is no other kind. Each docstring says what the receiver
learns from it (semi-honest model, DESIGN 7.5).

With a message goes how far the sender's ledger about the receiver leads, as in `MemoryHeads`, where it has grown since
this was last shown. The receiver, who knows which facts were told, learns nothing but that they are on record.
"""

from dataclasses import dataclass

from protocols.identifiers import IdForm
from protocols.jobs import Job, Unusable
from protocols.role import Message


@dataclass(frozen=True, repr=False)
class Greeting(Message):
    """Protocol version, the party's name, a fresh nonce, and the job as this party has it.

    A job that the receiver cannot have arrives as `Unusable`, and the answer to it carries none.
    """

    version: str
    party: str
    nonce: bytes
    job: Job | Unusable


@dataclass(frozen=True, repr=False)
class Share(Message):
    """One party's part of the joint schema.

    Only values that many records hold are listed: those held by fewer than the owner's `smallest_value` (10) are merged
    before the run, and bin edges that depend on the data are rounded. The other side learns which columns have merged
    values. A value's absence tells that few records or none hold it.

    `groups` are the groups of columns that share a coin, as indices into `attributes`; the class, where disguised,
    has the index `len(attributes)`. Columns in no group are sent as they are.
    """

    records: int
    attributes: tuple[tuple[str, tuple[str, ...]], ...]
    class_values: tuple[str, ...] | None
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, repr=False)
class HiddenContents(Message):
    """Points of what the sender holds, each times a secret number of this session: to tell whether both hold the same.

    What is compared are lists of ids, as they are and in other spellings, and the class where both hold it, each as a
    whole. The points alone tell nothing (DDH).
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class JointDigests(Message):
    """Digests of the receiver's `HiddenContents` times the sender's numbers, in their order.

    The receiver learns of each content that it has shown whether it is the sender's: one guess for each in a session.
    They confirm no other guess, then or later.
    """

    digests: bytes


@dataclass(frozen=True, repr=False)
class PeopleOffer(Message):
    """How many records the sender brings, and whether it would find the people of both lists, should these differ."""

    records: int
    aligns: bool = False


@dataclass(frozen=True, repr=False)
class IdList(Message):
    """How many ids the sender brings to an alignment, in which normal form, and what tells this list from another.

    The commitment is keyed by a secret that never leaves: it shows that the same list is brought again, and confirms
    no guess.
    """

    ids: int
    form: IdForm
    commitment: bytes


@dataclass(frozen=True, repr=False)
class BlindedPage(Message):
    """Points of the sender's ids, times its secret number, in ascending order, so that the order tells nothing.

    Under DDH they are to the receiver as good as random points: no guess of an id can be tried on them.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class ListCommitment(Message):
    """How many entries the list has that the sender tells next, and a digest of it, bound to sender and session.

    Both sides send theirs before either list, so that none depends on the other.
    """

    entries: int
    digest: bytes


@dataclass(frozen=True, repr=False)
class HiddenPage(Message):
    """Joint points (`overlap`), hashed to points, times a second secret number of the sender, in ascending order.

    Under DDH they are to the receiver as good as random points.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class CountedPage(Message):
    """Digests of the receiver's hidden points times the sender's second number, 16 bytes each, in ascending order.

    The receiver learns how many of its joint points are the sender's too, which is how many people both list.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class ReblindedPage(Message):
    """The receiver's blinded points times the sender's secret number, in ascending order; not where they only count.

    The receiver learns how many of the sender's ids are among its own, and not which: it cannot tell which of its ids
    is behind which point, unless it has deviated, and hidden each by a number of its own.
    """

    points: bytes


@dataclass(frozen=True, repr=False)
class PlacesPage(Message):
    """For each of the receiver's blinded points, its place among the reblinded ones, in four bytes.

    The receiver learns which of its ids the sender has too; of the sender's other ids, nothing.
    """

    places: bytes


@dataclass(frozen=True, repr=False)
class TableCommitment(Message):
    """A digest of the sender's columns, class and ids, keyed by a secret that never leaves.

    The receiver can tell whether it is shown the same table again, but cannot check a guess of its contents. That keeps
    a peer that follows the protocol from putting a second table against ours under the same names; one that deviates
    may send anything here.
    """

    digest: bytes


@dataclass(frozen=True, repr=False)
class ClassCounts(Message):
    """How many training records each class has, in the order of the class values, from the party that holds the class.

    The receiver learns these exact counts in every method; in a run with noise, unless both hold the class, the counts
    with the holder's noise, lifted by the largest that it can be. The split is on record before they leave: counts over
    two splits of the same records, subtracted, would give the class of single records.
    """

    values: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class MemoryHeads(Message):
    """The end of the sender's ledger about the receiver, and of the receiver's as it was last shown to the sender.

    An end is the number of entries and the digest of the last one. The receiver, which was there each time, learns how
    much of it the sender remembers. Digests are made with their owner's secret, and tell nobody else anything. `run`
    names a run of this job that both began and the sender has not seen end, if there is one; `fresh` asks to begin anew
    all the same.
    """

    entries: int
    digest: bytes
    known_entries: int
    known_digest: bytes
    run: bytes = b""
    fresh: bool = False


@dataclass(frozen=True, repr=False)
class KeptParts(Message):
    """What the sender has kept of a run that goes on.

    That is how many answers, with their digest; whether it has the receiver's disguised copy; how many bytes of the
    receiver's encrypted coins, and a digest of the key that they are under. The receiver has told or heard all of it
    before, and learns how much of it the sender has not lost.
    """

    answers: int
    digest: bytes
    copy: bool
    coins: int
    key: bytes


@dataclass(frozen=True, repr=False)
class KnownDigests(Message):
    """Digests, keyed by both nonces, of the exact counts that the sender remembers from earlier runs, in their order.

    The receiver learns how many there are, and which of them it remembers too: they need not be told again. Where it
    has forgotten one it can confirm a guess; it has been told that count before, or was about to be.
    """

    digests: bytes


@dataclass(frozen=True, repr=False)
class SignedHead(Message):
    """The end of the sender's ledger once a run is on record, and after it, signed by the key of its certificate.

    The receiver learns as little as from `MemoryHeads`, and can show later what the sender's ledger held.
    """

    entries: int
    digest: bytes
    signature: bytes


@dataclass(frozen=True, repr=False)
class Verdict(Message):
    """The name of the first field on which the parties differ, or nothing.

    Until the split is on record it depends on no record's values; after that, "class counts" may tell, for that split
    alone, that the class holder finds a class too small.
    """

    field: str


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
class EstimatedGains(Message):
    """The sender's estimated gain of every candidate at every node of one level, as multiples of the node's step.

    A step is at most a quarter of the standard error that the receiver's copy leaves in a count (DESIGN 14): exact
    numbers, computed from the sender's true columns, could be solved for those.
    """

    values: tuple[int, ...]


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
class EstimatedCounts(Message):
    """The class holder's estimates of counts at the root, where naive Bayes counts nothing exactly.

    They follow from its true columns and the receiver's copy, as multiples of twice the error that the sender's copy
    has left of a count. The receiver knows its own columns, so they tell about the sender's, and mostly about classes.
    """

    values: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class EstimatedCorrect(Message):
    """How many test records naive Bayes classifies correctly, as the class holder estimates it, and the error of that.

    Both are multiples of a quarter of the error.
    """

    correct: int
    error: int


@dataclass(frozen=True, repr=False)
class PackedCounts(Message):
    """Rerandomized encryptions, under the receiver's key, of the counts of one batch.

    In a run with noise the sender's is in them, lifted by the largest that it can be: the receiver, who can decrypt,
    learns no count without it. A receiver that encrypted weights instead of bits reads sums of weights in place of
    counts: of Paillier no more bits than a count has, of the curve whatever it can guess of a sum (DESIGN 6.5).
    """

    ciphertexts: bytes


@dataclass(frozen=True, repr=False)
class ExactCounts(Message):
    """The counts of one batch, as the key holder decrypted them.

    A batch of pruning (DESIGN 7.7) holds, for each split that is asked for, how many pruning records are of its
    majority class and, if it has leaves, how many these get right: over few records, numbers that name people.

    In a run with noise both sides' is in them, lifted by the largest that it can be: the receiver, who knows its own,
    learns the counts with the key holder's.
    """

    values: tuple[int, ...]


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
class SealedComparisons(Message):
    """Fresh encryptions, under the receiver's key, of numbers that are 0 or drawn by lot, in an order drawn by lot.

    So many for each pair of classes of each row, which naive Bayes compares. The receiver learns whether one of them is
    0, and so in what order the classes come out, by places that only the sender can name: nothing, by itself. A
    receiver that encrypted other than bits learns how many of them are 0.
    """

    ciphertexts: bytes


@dataclass(frozen=True, repr=False)
class SealedAnswers(Message):
    """Fresh encryptions, under the receiver's key, of one number for each row of a batch that was asked.

    The receiver learns which outcome of the model the row has: its class or, where agreed, the shares of the classes
    where it ends in a tree, which nearly name the leaf. A receiver that encrypted other than bits reads one other
    number for each row: of Paillier no more bits than the outcomes need, of the curve whatever it can guess of a sum
    (DESIGN 13); of naive Bayes, which class stands at each place of `SealedComparisons`.
    """

    ciphertexts: bytes


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


@dataclass(frozen=True, repr=False)
class ModelDigest(Message):
    """A digest of the sender's finished model, which it has put where nothing can lose it: equal on both sides."""

    digest: bytes
