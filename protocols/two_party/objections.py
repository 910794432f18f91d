"""What either side may object to, and what the other reads of it.

Only the name of a field crosses. A side that objects says why in its own words; of what the peer objects to it reads
`PEER_WANTS`. Both raise the same error about the first field, by their order in `FIELDS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from protocols.errors import DisagreementError, InputError, NotApprovedError, PeerError
from protocols.learning.whole import MOST_GINI_RECORDS
from protocols.messages import Verdict
from protocols.role import Role, exchange
from protocols.terms import TERM_NAMES
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs

T = TypeVar("T")

FIELDS = (
    "version", "party", *TERM_NAMES, "initiator", "responder", "model", "receiver", "probabilities", "ids",
    "id list", "overlap", "job", "memory", "run", "released", "budget", "answers", "most_columns", "most_values",
    "comparisons", "predictions", "rows", "records", "record ids", "class values", "class column", "columns", "groups",
    "peer columns", "peer order", "peer groups", "peer data", "class counts", "peer copy", "people", "trained on",
    "refusal", "approval", "proposal",
)  # fmt: skip
DECIDED = ("refusal", "approval")
"""What people may have said where a job is judged, or the tables and lists that it begins with, and nowhere else."""
BY_HAND = (*DECIDED, "proposal")  # no difference, so they come last in `FIELDS`


@dataclass(frozen=True)
class Objection:
    """A field on which the parties differ, and why; only the field's name is sent to the peer."""

    field: str
    reason: str

    def __post_init__(self) -> None:
        if self.field not in FIELDS:
            raise InputError(f"the parties compare {', '.join(FIELDS)}, and not {self.field!r}")


def settle(own: T | Objection, local: PartyInputs | None = None, *, people: Sequence[str] = ()) -> Role[T]:
    """Send each other the first difference; raise the same error on both sides if there is one, else return `own`.

    `local` is what we bring, where the peer may object to that; `people` what those who decide by hand may say here: at
    a later step a peer could make us call again and again, for nothing.

    Discloses: the name of the field on which we object.
    """
    ours = own.field if isinstance(own, Objection) else ""
    theirs = (yield from exchange(Verdict(ours))).field
    if theirs in BY_HAND and theirs not in people:
        raise PeerError(
            f"the peer sends {theirs!r}, on which people decide, at a step where nobody is asked: ask its operator "
            "why, and start again once you know"
        )
    if theirs and theirs not in FIELDS:
        theirs = "version"
    if isinstance(own, Objection) or theirs:
        first = min(filter(None, (ours, theirs)), key=FIELDS.index)
        brought = sorted(local.attributes, key=lambda each: -each.size) if local else []
        brought = [each for each in brought if each.size > USUAL_LIMITS.most_values] or brought
        widest = ", ".join(f"{each.name!r} ({each.size})" for each in brought[:3])
        wants = PEER_WANTS[first].format(columns=len(brought), widest=widest)
        reason = own.reason if isinstance(own, Objection) and ours == first else wants
        if first in BY_HAND:
            raise NotApprovedError(first, reason, by_peer=reason == wants)
        raise DisagreementError(first, reason)
    return own


ALIGN = (
    "`cotally align` and `cotally train` find those whom both list, where the [agree] most_alignments of both sides "
    "allows it"
)
_KNOWN_OTHERWISE = (
    "this data set was used with another table of ours before, and results of both can be subtracted to expose "
    "single records: use that table again"
)
PEER_WANTS = {
    "version": "the peer runs another version of cotally: install the same release on both sides",
    "party": (
        "the peer expects a party of another name (compare name and [node] peer in the party.toml of both sides), or "
        "has released its data set to another one before"
    ),
    "method": "the peer's [agree] methods does not list this method: choose another, or ask its owner to add it",
    "theta": (
        "the peer's [agree] odds refuse its copy (choose a theta nearer 1/2, or let its owner leave groups out), or it "
        "has released its data set with another theta before"
    ),
    "omega": "the peer's [agree] omega allows fewer attributes with exact counts: choose a smaller omega",
    "counting": "the peer's [agree] counting does not list this way of counting: choose the other",
    "class": (
        "the class column has another name at the peer, or no side holds it (compare class in job.toml and [data]), or "
        "the peer's data set was released with another class before"
    ),
    "seed": "the peer has used its data set with another seed before: use that seed, or ask its owner",
    "impurity": (
        'the peer cannot take this impurity: with reveal = "tree", gini, and so noise, is for two classes and '
        f'{MOST_GINI_RECORDS:,} records at most: take impurity = "information_gain", without noise'
    ),
    "reveal": (
        'the peer\'s [agree] allows no exact counts: take reveal = "tree", or noise, or ask its owner to write '
        "exact_counts = true"
    ),
    "most_bits": (
        "the peer does not agree: it allows a tree of fewer bits only (its [agree] most_bits), or has revealed those "
        "of its data set; write a smaller most_bits in the job, or ask it to allow more"
    ),
    "most_columns": (
        "our {columns} columns are more than the peer takes where no count is revealed (its [agree] most_columns): "
        "list some under [data] ignore, or ask it to allow more"
    ),
    "most_values": (
        "a column of ours has more values than the peer takes here (its [agree] most_values); the most have {widest}: "
        "give them fewer ([columns] bins, max_values, group), list them under [data] ignore, or ask it to allow more"
    ),
    "weights": (
        "the peer's class has no such value, or the peer refuses these weights: write a value that it has, or raise "
        "min_leaf"
    ),
    "splits": "the peer does not take these splits: ask its owner which it takes",
    "leaves": "the peer does not take these leaves: ask its owner which it takes",
    "learner": "the peer does not take this learner: ask its owner which it takes",
    "rules": "the peer does not take these rules: raise min_support, or lower most_sets",
    "initiator": "the peer does not take our column in a table: its screen says why",
    "responder": "the peer has no such column to count by: ask its owner, whose `cotally check` lists them",
    "receiver": "the peer does not agree on who receives the classes: ask its owner",
    "job": "the peer does not take part in such a job: ask its owner what its [agree] allows",
    "records": f"the tables differ in their number of records: {ALIGN}",
    "record ids": f"the tables list other people: {ALIGN}",
    "class column": "both hold the class, with different contents: let one side list it under [data] ignore",
    "columns": (
        "the peer's columns and the class do not go together: a column of one side has the name of the class and is "
        "not declared as it ([data] class, or ignore), or two columns of one side have one name"
    ),
    "groups": "the peer cannot carry the coins: name fewer groups, or merge values",
    "ids": "the peer declares another form of ids: write the same [data] id_alike and as many columns on both sides",
    "id list": (
        "the peer takes no such list: its [agree] most_ids or most_alignments, or a run over its data set, is "
        "in the way: bring the lists of that run again, or ask it to allow more"
    ),
    "overlap": (
        "too few ids in common for the peer to reveal which (its [agree] least_overlap): check that both "
        "sides spell ids alike, or ask it to allow fewer"
    ),
    "budget": (
        "the peer has revealed as much of its data set as it allows: return to earlier terms, or ask its owner to "
        "raise the [agree] key that its screen names"
    ),
    "answers": "the peer answers about fewer people: ask about fewer, or ask it to allow more: its screen says how",
    "comparisons": "whole lists have differed too often: the peer compares none for a while; its screen says how long",
    "model": "the peer has no such model: its screen says which it has; name the model of one run on both sides",
    "people": "the peer has answered for some of these people before, on other columns: leave these people out",
    "trained on": "some of these people were trained on, and nobody answers about them: leave them out of the rows",
    "predictions": "the peer answers about nobody: its [agree] most_predictions is 0, or there is an epsilon; ask it",
    "probabilities": "the peer reveals classes alone (its [agree] probabilities): ask for classes, or ask its owner",
    "rows": "the peer offers no rows to classify, or they cannot be read: its screen says what to do",
    "run": "a run on other terms or data has not ended at the peer: return to them, or give it up (`cotally cancel`)",
    "released": (
        "the peer's data set was released with other records, columns or groups before: ask its owner, whose screen "
        "names what has changed, to return to them"
    ),
    "memory": "one ledger is older than the other side was last shown: the peer's screen says whose",
    **dict.fromkeys(("peer columns", "peer order", "peer groups", "peer data", "peer copy"), _KNOWN_OTHERWISE),
    "class values": "the peer does not agree: the class has one value, or too many (merge rare ones by max_values)",
    "class counts": "the peer does not agree: merge rare values of the class ([columns] max_values)",
    "max_depth": "the peer does not agree: it allows fewer splits of a path; choose a smaller max_depth",
    "min_leaf": "the peer does not agree: it asks for larger leaves; choose a larger min_leaf",
    "noise": (
        "the peer does not agree: its [agree] epsilon is a number, and the job has no noise or more (write noise, or "
        "less, in the job); or it has no number, it has spent that of its data set, or has cut a column by its class; "
        "ask its owner which"
    ),
    "key_bits": "the peer does not agree: its own key is smaller, or it asks for a larger one; ask its owner which",
    "test": "the peer does not agree: keep the share that it knows, hold out more records, or none (test = 0)",
    "refusal": "people at the peer have refused this job: ask its owner; a job on other terms is another proposal",
    "approval": "people at the peer decide about this job by hand, and it runs once they have approved it",
    "proposal": "the peer proposes this job, which our [agree] allows: it runs when the peer calls to run it",
}
