"""Agreement: both sides compare everything before any data leaves (FAULTS 56, 86).

First the greetings and the job (`propose`, `answer`), then what a job of that kind compares. For training
(`agree_on_training`) that is each party's share of the schema, a commitment to its table, the ordered record ids and,
last, where both hold the class, that: both by `equality`, which confirms one guess of the whole. After each step both
send the first field on which they see a difference, and both raise the same `DisagreementError`. What a peer brings is
judged against what it brought before (DESIGN 14): it could put a second table against ours, and subtract the answers.

Discloses: names and values of the attributes, number of records, groups; equality of the whole lists of ids, as they
are and in one spelling, and of the class where both hold it; the commitment shows equality with the table of an earlier
run. How many records each class has is sent after the split is on record, as the first step of the run
(`copies.share_class_counts`, `copies.judge_class`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from protocols.errors import DisagreementError, InputError, NotApprovedError, PeerError
from protocols.jobs import Align, Crosstab, Job, Predict, Train, Unusable
from protocols.learning.whole import MOST_GINI_RECORDS
from protocols.messages import Greeting, Share, SharedColumn, TableCommitment, Verdict
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomness import canonical
from protocols.role import Role, Send, exchange, nothing, receive
from protocols.tables import YES_OR_NO, Attribute, MissingCells, Schema, joint_schema, two_way
from protocols.terms import (
    LEAF_OF_TENTHS,
    TERM_NAMES,
    Impurity,
    Leaves,
    MiningTerms,
    RuleTerms,
    Splits,
    TermError,
    Terms,
    leaf_of_weights,
    whole_weights,
)
from protocols.two_party.equality import CLASSES, IDS, as_spelt, as_written, compare_on_record, tell_difference
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs, held_out_records, split_records, training_records

Versions = tuple[int, ...]
SPOKEN: Versions = (3,)
"""The versions of the messages that this release speaks, the newest first: its own and, from 0.4 on, the one before."""


def versions_text(spoken: Versions) -> str:
    """Return what a greeting says of versions.

    >>> versions_text((4, 3))
    '4 3'
    """
    return " ".join(map(str, spoken))


def common_version(theirs: str, spoken: Versions = SPOKEN) -> int | None:
    """Return the newest version that both speak, which either side finds alike; None where there is none.

    >>> common_version("4 3"), common_version("5 4"), common_version("3", (4, 3))
    (3, None, 3)
    """
    words = theirs.split(" ")
    known = {int(each) for each in words if each.isascii() and each.isdigit() and len(each) < 9}
    return max(known & {*spoken}, default=None) if len(known) == len(words) else None


VERSION = f"cotally/{versions_text(SPOKEN)}"
_NO_COPY = RelatedDesign((), (), Fraction(1))
MAX_SET_BITS = 1 << 34  # of one side's sets of items, a bit per record each: 2 GiB, twice over at worst
FIELDS = (
    "version", "party", *TERM_NAMES, "initiator", "responder", "model", "receiver", "probabilities", "ids",
    "id list", "overlap", "job", "memory", "run", "released", "budget", "answers", "most_columns", "most_values",
    "comparisons", "predictions", "rows", "records", "record ids", "class values", "class column", "columns", "groups",
    "peer columns", "peer order", "peer groups", "peer data", "class counts", "peer copy", "people", "trained on",
    "refusal", "approval", "proposal",
)  # fmt: skip
DECIDED = ("refusal", "approval")
"""What people may have said where a job is judged, or the tables and lists that it begins with, and nowhere else."""
_BY_HAND = (*DECIDED, "proposal")  # no difference, so they come last in `FIELDS`


@dataclass(frozen=True)
class Objection:
    """A field on which the parties differ, and why; only the field's name is sent to the peer."""

    field: str
    reason: str

    def __post_init__(self) -> None:
        if self.field not in FIELDS:
            raise InputError(f"the parties compare {', '.join(FIELDS)}, and not {self.field!r}")


Policy = Callable[[Job], Objection | None]

_ALIGN = (
    "`cotally align` and `cotally train` find those whom both list, where the [agree] most_alignments of both sides "
    "allows it"
)
_KNOWN_OTHERWISE = (
    "this data set was used with another table of ours before, and results of both can be subtracted to expose "
    "single records: use that table again"
)
_PEER_WANTS = {
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
    "records": f"the tables differ in their number of records: {_ALIGN}",
    "record ids": f"the tables list other people: {_ALIGN}",
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


@dataclass(frozen=True)
class Opening:
    """A job on which both parties have agreed, and the nonces of both, the proposer's first."""

    job: Job
    nonces: bytes


@dataclass(frozen=True, repr=False)
class Agreement:
    """What both parties know when they have agreed on training.

    A side of whose copy nothing crosses has a design of no columns: with `smc` either, and who mines. `commitment` is
    the peer's, to its table; `nonces` are those of the `Opening`, and name the run.
    """

    terms: Terms
    schema: Schema
    peer: str
    own_design: RelatedDesign
    peer_design: RelatedDesign
    commitment: bytes = b""
    nonces: bytes = b""

    @property
    def learning(self) -> "Agreement":
        """What was agreed as far as it is about counts: its schema is that of what may split a node."""
        return replace(self, schema=splitting(self.schema, self.terms))


def splitting(schema: Schema, terms: Terms) -> Schema:
    """Return the schema of what may split a node: of the agreed columns, or of conditions on them."""
    return two_way(schema.base) if terms.splits == Splits.TWO_WAY else schema


def split_sizes(columns: Iterable[Attribute], terms: Terms) -> list[tuple[str, int]]:
    """Return what these columns let split a node, each by its name, and how many branches it has."""
    if terms.splits == Splits.TWO_WAY:
        return [(name, len(YES_OR_NO)) for column in columns for name, _ in column.conditions]
    return [(column.name, column.size) for column in columns]


Judge = Callable[[Agreement], Objection | None]


def propose(local: PartyInputs, job: Job, policy: Policy, peer: str, nonce: bytes) -> Role[Opening]:
    """Open a run of this job with the peer of this name, under 32 fresh random bytes.

    Discloses: our name, the job, and the field on which we object.
    """
    yield Send(Greeting(VERSION, local.party, nonce, job))
    greeting = yield from receive(Greeting)
    yield from settle(_greeting_objection(local, job, greeting, policy, peer), people=DECIDED)
    return Opening(job, canonical(nonce, greeting.nonce))


def propose_only(party: str, job: Job, peer: str, nonce: bytes) -> Role[None]:
    """Show the peer a job, and end by an error: what it objects to, or that nothing is in the way.

    Discloses: our name, and the job.
    """
    yield Send(Greeting(VERSION, party, nonce, job))
    greeting = yield from receive(Greeting)
    only = Objection("proposal", f"{peer} allows this job: it runs when you call to run it")
    yield from settle(_names_objection(party, greeting, peer) or only, people=DECIDED)


def answer(local: PartyInputs, policy: Policy, peer: str, nonce: bytes) -> Role[Opening]:
    """Answer a proposal; the job is the initiator's, if our policy agrees.

    Discloses: our name, and the field on which we object.
    """
    greeting = yield from receive(Greeting)
    job = greeting.job
    yield Send(Greeting(VERSION, local.party, nonce, job))
    yield from settle(_greeting_objection(local, job, greeting, policy, peer), people=_BY_HAND)
    assert not isinstance(job, Unusable)  # noqa: S101  # an objection has been raised as an error
    return Opening(job, canonical(greeting.nonce, nonce))


def agree_on_training(
    local: PartyInputs, terms: Terms, peer: str, nonces: bytes, judge: Judge = nothing
) -> Role[Agreement]:
    """Compare what both bring to training; `judge` objects to it before anything that depends on it leaves.

    Discloses: as this module says.
    """
    own = local.share()
    share, commitment, flaw = yield from share_columns(local, peer, nonces)
    judged = flaw or _judge_shares(local, own, share, terms, peer)
    yield from settle(judged if isinstance(judged, Objection) else None, local)
    assert isinstance(judged, Agreement)  # noqa: S101  # an objection has been raised as an error
    agreed = replace(judged, commitment=commitment, nonces=nonces)
    yield from settle(judge(agreed), people=DECIDED)
    if own.class_values is not None and share.class_values is not None:  # it confirms a guess, and so comes last
        label = local.class_column
        (alike,) = yield from compare_on_record(local, peer, nonces, b"class", [label], (CLASSES, label))
        yield from settle(None if alike else Objection("class column", _PEER_WANTS["class column"]))
    return agreed


def share_columns(local: PartyInputs, peer: str, nonces: bytes) -> Role[tuple[Share, bytes, Objection | None]]:
    """Name each other what both bring, and commit to it; return the peer's, and whether these are other people.

    Discloses: as this module says.
    """
    own = local.share()
    yield Send(own)
    yield Send(TableCommitment(local.digest(b"commitment")))
    share = yield from receive(Share)
    commitment = yield from receive(TableCommitment)
    same: tuple[bool, ...] = (False, False)
    if own.records == share.records:  # as they are, and in one spelling
        contents = [as_written(local.records), as_spelt(local.records)]
        same = yield from compare_on_record(local, peer, nonces, b"records", contents, (IDS, contents[0]))
    return share, commitment.digest, _records_objection(own, share, *same)


def agree_again(local: PartyInputs, job: Job, policy: Policy) -> Role[None]:
    """Judge a job on which both have agreed by the rows that we bring now; others than before, since an alignment.

    Discloses: the field on which we object.
    """
    yield from settle(_job_objection(local, job, job, policy), people=DECIDED)


def settle(own: Objection | None, local: PartyInputs | None = None, *, people: Sequence[str] = ()) -> Role[None]:
    """Send each other the first difference; raise the same error on both sides if there is one.

    `local` is what we bring, where the peer may object to that; `people` what those who decide by hand may say here: at
    a later step a peer could make us call again and again, for nothing.

    Discloses: the name of the field on which we object.
    """
    theirs = (yield from exchange(Verdict(own.field if own else ""))).field
    if theirs in _BY_HAND and theirs not in people:
        raise PeerError(
            f"the peer sends {theirs!r}, on which people decide, at a step where nobody is asked: ask its operator "
            "why, and start again once you know"
        )
    if theirs and theirs not in FIELDS:
        theirs = "version"
    fields = [field for field in (own.field if own else "", theirs) if field]
    if fields:
        first = min(fields, key=FIELDS.index)
        brought = sorted(local.attributes, key=lambda each: -each.size) if local else []
        brought = [each for each in brought if each.size > USUAL_LIMITS.most_values] or brought
        widest = ", ".join(f"{each.name!r} ({each.size})" for each in brought[:3])
        wants = _PEER_WANTS[first].format(columns=len(brought), widest=widest)
        reason = own.reason if own and own.field == first else wants
        if first in _BY_HAND:
            raise NotApprovedError(first, reason, by_peer=reason == wants)
        raise DisagreementError(first, reason)


def _greeting_objection(
    local: PartyInputs, job: Job | Unusable, greeting: Greeting, policy: Policy, peer: str
) -> Objection | None:
    return _names_objection(local.party, greeting, peer) or _job_objection(local, greeting.job, job, policy)


def _names_objection(party: str, greeting: Greeting, peer: str) -> Objection | None:
    protocol, _, versions = greeting.version.partition("/")
    if protocol != "cotally" or common_version(versions) is None:
        return Objection("version", _PEER_WANTS["version"])
    if greeting.party != peer or greeting.party == party:
        return Objection("party", f"the peer must be {peer}, and not {party}")
    return None


def _job_objection(
    local: PartyInputs, theirs: Job | Unusable, ours: Job | Unusable, policy: Policy
) -> Objection | None:
    match theirs, ours:
        case (Unusable(field, reason), _) | (_, Unusable(field, reason)):
            return Objection(field, f"it {reason}")
        case Train(named), Train(terms):
            changed = _answered(terms.difference(named)) or policy(ours)  # NB: people are asked before the table is
            return changed or _terms_objection(local.bringing(terms), terms)
        case Predict(asked), Predict(wanted):
            return _answered(wanted.difference(asked)) or policy(ours)
        case Crosstab(asked), Crosstab(wanted):
            return _answered(wanted.difference(asked)) or policy(ours)
        case Align(), Align():
            return policy(ours) if theirs == ours else Objection("ids", "the peer answers with a different alignment")
        case _:
            return Objection("job", "the peer answers with a different job")


def _answered(changed: str | None) -> Objection | None:
    return None if changed is None else Objection(changed, "the peer answers with a different value")


def _terms_objection(local: PartyInputs, terms: Terms) -> Objection | None:
    if local.class_attribute is not None and local.class_attribute.name != terms.class_name:
        return Objection("class", f"our class column is {local.class_attribute.name!r}")
    bits = local.secrets.key.bits if terms.encrypts else terms.key_bits
    if bits < terms.key_bits:
        return Objection("key_bits", f"our paillier key has {bits} bits, the job asks for {terms.key_bits}")
    return _object_to_sizes(local, terms)


def _object_to_sizes(local: PartyInputs, terms: Terms) -> Objection | None:
    """Return what our own limits say of the terms, whatever the records hold: a peer may try as many as it likes."""
    if isinstance(terms, MiningTerms):
        if reason := _refuse_sets(terms.rules, terms.min_leaf, len(local.records)):
            return Objection("rules", reason)
    elif any(column.name == terms.class_name for column in local.attributes):
        return Objection(
            "columns",
            f"our column {terms.class_name!r} has the name of the class and is not declared to be it: say class = "
            f"{terms.class_name!r} under [data] if it is, else list it under ignore, or give it another name",
        )
    held_out = held_out_records(len(local.records), terms.test)
    reason = local.limits.refuse_test(held_out)
    if reason is not None:
        return Objection("test", reason)
    train = training_records(len(local.records), terms)
    if terms.min_leaf > 1 and terms.growth.smallest_split > train:
        fewest = LEAF_OF_TENTHS if terms.leaves == Leaves.TENTHS else 1
        cure = f"use {train // 2} or fewer" if train // 2 >= fewest else 'use leaves = "label", and fewer'
        most = f"no split is possible, {cure}"
        return Objection(
            "min_leaf", f"min_leaf = {terms.min_leaf} is more than half of the {train} training records: {most}"
        )
    return None if local.class_attribute is None else _object_to_class(local, terms, local.class_attribute.values)


def _object_to_weights(terms: Terms, values: Sequence[str]) -> Objection | None:
    try:
        least = leaf_of_weights(whole_weights(terms.weights, values))
    except TermError as error:
        return Objection("weights", str(error))
    if terms.min_leaf >= least:
        return None
    apart = "are so far apart that one or two people would decide a leaf"
    return Objection("weights", f"weights {apart}: write weights closer to each other, or min_leaf = {least}")


def _object_to_class(local: PartyInputs, terms: Terms, values: Sequence[str]) -> Objection | None:
    """Return what is said against a class of these values: by our limits, or because of weights or the measure."""
    if terms.rules is not None:
        return None
    flaw = _object_to_weights(terms, values)
    if flaw is not None:
        return flaw
    classes = len(values)
    reason = local.limits.refuse_classes(classes)
    if reason is not None:
        return Objection("class values", reason)
    train = training_records(len(local.records), terms)
    fits = classes == 2 and train * max(whole_weights(terms.weights, values)) <= MOST_GINI_RECORDS
    if not terms.hides_counts or terms.impurity != Impurity.GINI or fits:
        return None
    if terms.noise is not None and classes > 2:
        two = f"noise is for a class of two values, but there are {classes}"
        return Objection("impurity", f"{two}: merge values of the class ([columns] max_values), or take noise out")
    found = f"{train:,} training records" if classes == 2 else f"a class of {classes} values"
    most = f'impurity = "gini" with reveal = "tree" is for two values and {MOST_GINI_RECORDS:,} records at most'
    cure = "take" if classes == 2 else "merge values of the class ([columns] max_values), or take"
    return Objection("impurity", f'{most}, but there is {found}: {cure} impurity = "information_gain" without noise')


def _refuse_sets(rules: RuleTerms, min_leaf: int, records: int) -> str | None:
    if (least := rules.least(records)) < min_leaf:
        return f"min_support makes {least} records enough, fewer than min_leaf = {min_leaf}: raise min_support"
    if rules.most_sets * records > MAX_SET_BITS:
        return f"most_sets must be at most {MAX_SET_BITS // records:,} for {records:,} records: it takes memory"
    try:
        rules.compared_width(records)
    except InputError as error:
        return str(error)
    return None


def object_to_limits(local: PartyInputs, terms: Terms) -> Objection | None:
    """Return what our own limits say of the terms and of our own class (DESIGN 14): for us alone, before the run.

    Whether a class is rare among the training records depends on the split: a peer that hears it for one split after
    the other learns the class of single records. `copies.judge_class` sends it, once the split is on record. With noise
    the class is judged by any counts that are sent: whether the run begins must reveal no more; where both draw who is
    held out, when they have.
    """
    objection = _object_to_sizes(local, terms)
    is_judged_later = terms.noise is not None or (terms.hides_counts and terms.test > 0)
    if objection is not None or not local.holds_class or is_judged_later:
        return objection
    train, *_ = split_records(terms.seed, len(local.records), terms.test)
    reason = local.limits.refuse_counts(local.class_counts(train), local.table.attributes[-1].values)
    return None if reason is None else Objection("class counts", reason)


def _judge_shares(local: PartyInputs, own: Share, share: Share, terms: Terms, peer: str) -> Objection | Agreement:
    class_values = share.class_values if own.class_values is None else own.class_values
    if class_values is None:
        return Objection("class", f"neither party holds the class {terms.class_name!r}")
    flaw = _object_to_class(local, terms, class_values) or _columns_objection(local, share, terms)
    if flaw is not None:
        return flaw
    owners = tuple(name for name, part in ((local.party, own), (peer, share)) if part.class_values is not None)
    try:
        theirs = (shared_attribute(peer, each) for each in share.attributes)
        class_attribute = Attribute(min(owners), terms.class_name, class_values)
        schema = joint_schema((*local.attributes, *theirs), class_attribute, owners)
        splitting(schema, terms)
    except InputError as error:
        return Objection("columns", str(error))
    return _judge_designs(local, share, terms, schema, peer)


def shared_attribute(party: str, shared: SharedColumn) -> Attribute:
    """Return a column as its owner has named it.

    Raises:
        InputError: It names no such value.
    """
    missing = MissingCells(shared.missing, shared.marks)
    return Attribute(party, shared.name, shared.values, missing, shared.ordered)


def _columns_objection(local: PartyInputs, share: Share, terms: Terms) -> Objection | None:
    if terms.rules is None and any(column.name == terms.class_name for column in share.attributes):
        return Objection("columns", f"the peer has a column {terms.class_name!r} that it does not declare as the class")
    if not terms.hides_counts:
        return None
    many = local.limits.refuse_columns({column.name: len(column.values) for column in share.attributes})
    names = [column.name for column in share.attributes]
    if names != sorted(names):
        return Objection("columns", "the peer's columns must be sorted by name where no count is revealed")
    return None if many is None else Objection(*many)


def _records_objection(own: Share, share: Share, are_same: bool, alike: bool) -> Objection | None:
    if own.records != share.records:
        return Objection(
            "records", tell_difference(own.records, share.records, "at the peer", same_spelling=False, way_out=_ALIGN)
        )
    if not are_same:
        return Objection("record ids", tell_difference(own.records, share.records, "at the peer", alike, _ALIGN))
    both = own.class_values is not None and share.class_values is not None
    if both and own.class_values != share.class_values:
        return Objection("class values", "both hold the class, with different values")
    return None


def _judge_designs(local: PartyInputs, share: Share, terms: Terms, schema: Schema, peer: str) -> Objection | Agreement:
    if not terms.disguises:
        return Agreement(terms, schema, peer, _NO_COPY, _NO_COPY)
    shared = len(schema.class_owners) > 1
    held = [len(each.values) for each in share.attributes]
    held += [] if share.class_values is None else [len(share.class_values)]
    try:
        own_design = local.design(terms.theta, shared)
        peer_design = RelatedDesign.of_odds(tuple(held), share.groups, terms.theta)
        peer_design = peer_design.of_first(len(held) - (shared and share.class_values is not None))
    except InputError as error:
        return Objection("theta" if error.field == "theta" else "groups", str(error))
    coins = [group for design in (own_design, peer_design) for group in design.groups]
    if terms.splits == Splits.TWO_WAY and any(len(group) > 1 for group in coins):
        way = 'take out groups, or take splits = "values"'
        return Objection("groups", f'splits = "{terms.splits}" needs a coin of its own for each column: {way}')
    if terms.mines and schema.class_attribute.party == local.party:
        own_design = _NO_COPY
    elif terms.mines:
        peer_design = _NO_COPY
    return Agreement(terms, schema, peer, own_design, peer_design)
