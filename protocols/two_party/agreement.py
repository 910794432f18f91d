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

from protocols.errors import InputError
from protocols.jobs import Align, Crosstab, Job, Predict, Train, Unusable
from protocols.learning.whole import MOST_GINI_RECORDS
from protocols.messages import Greeting, Share, SharedColumn, TableCommitment
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomness import canonical
from protocols.role import Role, Send, nothing, receive
from protocols.tables import YES_OR_NO, Attribute, MissingCells, Schema, joint_schema, two_way
from protocols.terms import (
    LEAF_OF_TENTHS,
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
from protocols.two_party.inputs import PartyInputs, held_out_records, split_records, training_records
from protocols.two_party.objections import ALIGN, BY_HAND, DECIDED, PEER_WANTS, Objection, settle

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
NO_COPY = RelatedDesign((), (), Fraction(1))
MAX_SET_BITS = 1 << 34  # of one side's sets of items, a bit per record each: 2 GiB, twice over at worst
Policy = Callable[[Job], Objection | None]


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
    yield from settle(_greeting_objection(local, job, greeting, policy, peer), people=BY_HAND)
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
    agreed = replace((yield from settle(judged, local)), commitment=commitment, nonces=nonces)
    yield from settle(judge(agreed), people=DECIDED)
    if own.class_values is not None and share.class_values is not None:  # it confirms a guess, and so comes last
        label = local.class_column
        (alike,) = yield from compare_on_record(local, peer, nonces, b"class", [label], (CLASSES, label))
        yield from settle(None if alike else Objection("class column", PEER_WANTS["class column"]))
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


def _greeting_objection(
    local: PartyInputs, job: Job | Unusable, greeting: Greeting, policy: Policy, peer: str
) -> Objection | None:
    return _names_objection(local.party, greeting, peer) or _job_objection(local, greeting.job, job, policy)


def _names_objection(party: str, greeting: Greeting, peer: str) -> Objection | None:
    protocol, _, versions = greeting.version.partition("/")
    if protocol != "cotally" or common_version(versions) is None:
        return Objection("version", PEER_WANTS["version"])
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
            "records", tell_difference(own.records, share.records, "at the peer", same_spelling=False, way_out=ALIGN)
        )
    if not are_same:
        return Objection("record ids", tell_difference(own.records, share.records, "at the peer", alike, ALIGN))
    both = own.class_values is not None and share.class_values is not None
    if both and own.class_values != share.class_values:
        return Objection("class values", "both hold the class, with different values")
    return None


def _judge_designs(local: PartyInputs, share: Share, terms: Terms, schema: Schema, peer: str) -> Objection | Agreement:
    if not terms.disguises:
        return Agreement(terms, schema, peer, NO_COPY, NO_COPY)
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
        own_design = NO_COPY
    elif terms.mines:
        peer_design = NO_COPY
    return Agreement(terms, schema, peer, own_design, peer_design)
