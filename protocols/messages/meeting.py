"""What two parties tell on meeting: who they are, what they want, what they hold, and where they differ."""

from dataclasses import dataclass

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
class SharedColumn:
    """A column as its owner names it: its name, its values, and what became of its missing cells.

    `missing` is the value that they have, where that was declared, or is one of their own or `other`; `marks` are the
    texts that the owner takes for missing, none for those that everybody does. Where the owner declares that the
    commonest value is filled in, the receiver learns which that is. Whether cells are missing is not told.
    """

    name: str
    values: tuple[str, ...]
    missing: str | None = None
    marks: tuple[str, ...] | None = None


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
    attributes: tuple[SharedColumn, ...]
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
class TableCommitment(Message):
    """A digest of the sender's columns, class and ids, keyed by a secret that never leaves.

    The receiver can tell whether it is shown the same table again, but cannot check a guess of its contents. That keeps
    a peer that follows the protocol from putting a second table against ours under the same names; one that deviates
    may send anything here.
    """

    digest: bytes


@dataclass(frozen=True, repr=False)
class Verdict(Message):
    """The name of the first field on which the parties differ, or nothing.

    Until the split is on record it depends on no record's values; after that, "class counts" may tell, for that split
    alone, that the class holder finds a class too small.
    """

    field: str
