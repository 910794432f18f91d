"""Two parties over one small joint table, ready to play against each other in one process."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from phe import paillier

from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.counting.plaintext import PlaintextEngine
from protocols.jobs import Job, Train, Unusable
from protocols.kinds import values_of
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.merit import Ranking
from protocols.randomized_response.related_question import default_groups
from protocols.role import Kept, Role, Transcript, nothing, run_alone, run_pair
from protocols.tables import Attribute, Codes, Table, joint_schema
from protocols.terms import ALL, LEARNERS, Counting, Learner, Method, Reveal, TermError, Terms, fixed_terms
from protocols.terms import terms_of as terms_from
from protocols.two_party.agreement import Agreement, Judge, Policy, agree_on_training, answer, propose
from protocols.two_party.copies import CopyJudge
from protocols.two_party.inputs import Limits, PartyInputs, Secrets, split_records
from protocols.two_party.training import Outcome, training_role

TEST_BITS = 256
NO_LIMITS = Limits(max_classes=256, smallest_class=0, smallest_test=0)
"""For tables of a few records; the limits have tests of their own."""


def private_key(number: int, bits: int = TEST_BITS) -> PrivateKey:
    """Return one of a few small keys; real Paillier, only too short to be safe."""
    return key_holder(number, bits).private_key


def key_holder(number: int, bits: int = TEST_BITS) -> PaillierKeyHolder:
    """Return the same small key as the port has it."""
    return _made(number, bits)


@cache
def _made(number: int, bits: int) -> PaillierKeyHolder:
    del number  # of the key, in the cache
    _, key = paillier.generate_paillier_keypair(n_length=bits)
    return PaillierKeyHolder(PrivateKey(Integer(key.p), Integer(key.q)))


@dataclass(frozen=True)
class Case:
    """A joint table, who holds what, and the terms."""

    sizes: dict[str, tuple[int, ...]]
    class_owners: tuple[str, ...]
    classes: int
    codes: Codes
    groups: dict[str, int]
    terms: Terms
    initiator: str = "alice"

    @property
    def columns(self) -> dict[str, list[int]]:
        """Columns of `codes` by party, the class last where held."""
        first = len(self.sizes["alice"])
        own = {"alice": list(range(first)), "bob": list(range(first, self.codes.shape[1] - 1))}
        return {name: [*c, self.codes.shape[1] - 1] if name in self.class_owners else c for name, c in own.items()}


def make_terms(**changes: object) -> Terms:
    """Return usual terms with changes."""
    usual: dict[str, object] = {
        "method": "hybrid", "theta": Fraction(9, 20), "omega": ALL, "counting": "oblivious_transfer",
        "class_name": "class", "seed": 1, "test": Fraction(1, 5), "key_bits": TEST_BITS,
        "max_depth": None, "min_leaf": 1, "noise": None, "reveal": "counts",
    }  # fmt: skip
    if changes.get("reveal") == Reveal.TREE and changes.get("noise") is None:
        usual["most_bits"] = 10_000  # of tables of a few records; that growth ends has tests of its own
    return terms_of(usual | changes)


def terms_of(values: Mapping[str, object]) -> Terms:
    """Return terms of these values; choices by name. What their learner does not have is passed over.

    Raises:
        TermError: One of them is not legal.
    """
    choices = {"method": Method, "counting": Counting, "reveal": Reveal}
    named = {name: choice(str(values[name])) for name, choice in choices.items()}
    learner = Learner(str(values.get("learner", Learner.TREE)))
    fixed = fixed_terms(LEARNERS[learner])
    own = {name: value for name, value in values.items() if name not in fixed}
    return terms_from({**own, **named, "learner": learner})


def learned(terms: Terms, learner: Learner, **changes: object) -> Terms:
    """Return the same terms for another learner, without what that does not have."""
    return terms_of({**values_of(terms), "learner": learner, **changes})


def training_terms(job: Job) -> Terms:
    """Return the terms of a job that is to train."""
    assert isinstance(job, Train)
    return job.terms


def changed_job(job: Job | Unusable, **changes: object) -> Job | Unusable:
    """Return a job with other terms, as it arrives from a peer that speaks of them."""
    assert isinstance(job, Train)
    try:
        return Train(terms_of(values_of(job.terms) | changes))
    except TermError as error:
        return Unusable(error.field, error.problem)


def make_local(case: Case, party: str) -> PartyInputs:
    """Return one party's side of a case."""
    sizes = case.sizes[party]
    attributes = [Attribute(party, f"{party[0]}{i}", labels(size)) for i, size in enumerate(sizes)]
    holds = party in case.class_owners
    if holds:
        attributes.append(Attribute(party, "class", labels(case.classes)))
    table = Table(tuple(attributes), np.ascontiguousarray(case.codes[:, case.columns[party]]))
    number = 0 if party == "alice" else 1
    return PartyInputs(
        party=party,
        table=table,
        holds_class=holds,
        records=tuple(f"r{i}" for i in range(len(table))),
        groups=default_groups([a.size for a in attributes], case.groups[party]),
        dataset="case",
        secrets=Secrets(bytes([number]) * 32, key_holder(number), secrets),
        limits=NO_LIMITS,
    )


def private_key_of(local: PartyInputs) -> PrivateKey:
    """Return a party's key with its two primes."""
    holder = local.secrets.key
    assert isinstance(holder, PaillierKeyHolder)
    return holder.private_key


def labels(size: int) -> tuple[str, ...]:
    """Return value labels of a domain."""
    return tuple(f"v{i}" for i in range(size))


def agree_to_all(job: Job) -> None:
    """Return no objection."""
    del job


def whole(
    local: PartyInputs,
    terms: Terms | None,
    peer: str,
    policy: Policy = agree_to_all,
    nonce: bytes | None = None,
    judge: Judge = nothing,
    judge_copy: CopyJudge = nothing,
    *,
    kept: Kept | None = None,
) -> Role[tuple[Agreement, Outcome]]:
    """Agree, then run: one party's part of a session."""
    nonce = nonce or secrets.token_bytes(32)
    if terms is not None:
        opening = yield from propose(local, Train(terms), policy, peer, nonce)
    else:
        opening = yield from answer(local, policy, peer, nonce)
    agreed = yield from agree_on_training(local, training_terms(opening.job), peer, opening.nonces, judge)
    return agreed, (yield from training_role(local, agreed, judge_copy, kept=kept))


def make_roles(
    case: Case,
    alice: PartyInputs | None = None,
    bob: PartyInputs | None = None,
    nonce: bytes | None = None,
    kept: Kept | None = None,
) -> tuple[Role[tuple[Agreement, Outcome]], Role[tuple[Agreement, Outcome]]]:
    """Return both parties' parts of a case, either side's data replaced where given."""
    a, b = alice or make_local(case, "alice"), bob or make_local(case, "bob")
    opens = case.initiator == "alice"
    return (
        whole(a, case.terms if opens else None, "bob", nonce=nonce, kept=kept),
        whole(b, None if opens else case.terms, "alice", nonce=nonce, kept=kept),
    )


def play(case: Case, transcript: Transcript | None = None) -> tuple[Outcome, Outcome]:
    """Play a case and return Alice's and Bob's outcome."""
    (_, a), (_, b) = run_pair(*make_roles(case), transcript)
    return a, b


def plain_id3(case: Case, ranking: Ranking | None = None) -> tuple[Result, float]:
    """Return plain ID3 on the joined table, in windows if any, and its number of correctly classified test records."""
    locals_ = [make_local(case, party) for party in ("alice", "bob")]
    owner = min(case.class_owners)
    schema = joint_schema(
        [a for local in locals_ for a in local.attributes],
        Attribute(owner, "class", labels(case.classes)),
        case.class_owners,
    )
    train, test = split_records(case.terms.seed, len(case.codes), case.terms.test)
    engine = PlaintextEngine(schema, case.codes[train], case.codes[test])
    window = ALL if ranking is None else case.terms.window
    learner = HybridId3(schema, engine.class_counts, window, engine, ranking, case.terms.growth)
    result = run_alone(learner.build())
    return result, run_alone(engine.count_correct(result.tree)).count
