"""What crosses, and nothing else: kinds by method and way of counting, no canary, the same copy every time."""

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols import messages
from protocols.errors import CotallyError
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CiphertextPage,
    ClassCounts,
    CorrectionPage,
    CountShares,
    DisguisedPage,
    ExactCounts,
    Greeting,
    HiddenContents,
    HolderKey,
    JointDigests,
    MaskedPage,
    ModelDigest,
    OpenedPage,
    PackedCounts,
    SeedHints,
    SentTree,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.role import Joinable, Message, Transcript, run_pair
from protocols.terms import Counting, Learner
from protocols.two_party.inputs import PartyInputs
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import Case, make_local, make_roles, make_terms, play, private_key_of

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2, 3, 4)},
    class_owners=("alice",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 3, 4, 2), 60, seed=9, flips=0.5),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(),
)

AGREEMENT = {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}
CLASS = {ClassCounts}
COPIES = {DisguisedPage}
BASE = {BaseOffer, BasePoints, SeedHints}
CHOOSER = {ChoicePage, ExactCounts} | BASE
CORRECTOR = {CorrectionPage, CountShares} | BASE
HOLDER = {HolderKey, CiphertextPage, ExactCounts}
EVALUATOR = {PackedCounts}
TESTED = {ChoicePage, CorrectionPage, MaskedPage}  # classes are compared by gates on shared bits
RANKED = {ChoicePage, MaskedPage, OpenedPage}  # windows are found by such gates
MODELS = {ModelDigest}

ALLOWED: dict[str, tuple[dict[str, Any], set[type[Message]], set[type[Message]]]] = {
    "hybrid, window 2": (
        {"omega": 2},
        AGREEMENT | COPIES | CORRECTOR | RANKED | MODELS,
        AGREEMENT | COPIES | CHOOSER | RANKED | MODELS,
    ),
    "hybrid, window 2, dot products": (
        {"omega": 2, "counting": "paillier"},
        AGREEMENT | COPIES | HOLDER | BASE | RANKED | MODELS,
        AGREEMENT | COPIES | EVALUATOR | BASE | RANKED | MODELS,
    ),
    "hybrid, window all": ({}, AGREEMENT | COPIES | CORRECTOR | MODELS, AGREEMENT | COPIES | CHOOSER | MODELS),
    "hybrid, window all, dot products": (
        {"counting": "paillier"},
        AGREEMENT | COPIES | HOLDER | MODELS,
        AGREEMENT | COPIES | EVALUATOR | MODELS,
    ),
    "smc": ({"method": "smc"}, AGREEMENT | CORRECTOR | MODELS, AGREEMENT | CHOOSER | MODELS),
    "smc, dot products": (
        {"method": "smc", "counting": "paillier"},
        AGREEMENT | HOLDER | MODELS,
        AGREEMENT | EVALUATOR | MODELS,
    ),
    "randomized": ({"method": "randomized"}, AGREEMENT | {SentTree} | MODELS, AGREEMENT | COPIES | MODELS),
    "naive Bayes, smc": (
        {"learner": Learner.NAIVE_BAYES, "method": "smc"},
        AGREEMENT | CORRECTOR | TESTED | MODELS,
        AGREEMENT | CHOOSER | TESTED | MODELS,
    ),
}
"""What Alice may send, and what Bob. She holds the class, and so is the one who mines, and corrects what Bob chooses;
by dot products she holds the key: 6 combinations, 12 with the class, against Bob's 48."""


def transcript(case: Case) -> Transcript:
    result = Transcript()
    play(case, result)
    return result


@pytest.mark.parametrize("initiator", ["alice", "bob"])
@pytest.mark.parametrize("way", ALLOWED)
def test_each_side_sends_the_kinds_of_its_method_and_no_other(way: str, initiator: str) -> None:
    changes, alice, bob = ALLOWED[way]
    sent = transcript(replace(CASE, terms=make_terms(**changes), initiator=initiator))
    counts = set() if way == "randomized" else CLASS  # she holds the class
    assert {type(message) for message in sent.sent_by_a} == alice | counts
    assert {type(message) for message in sent.sent_by_b} == bob


def test_a_tree_takes_two_openings_a_level_and_each_kind_is_used() -> None:
    used = set().union(*(kinds for _, a, b in ALLOWED.values() for kinds in (a, b, CLASS)))
    every = {kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, Message)}
    between_runs = {messages.MemoryHeads, messages.SignedHead}  # before and after, whatever the method
    between_runs |= {messages.KeptParts, messages.LostAnswers}  # in a run that goes on
    aligning = {
        messages.IdList,
        messages.CodePage,
        messages.HintPage,
        messages.ValuesPage,
        messages.CommonRows,
        messages.PeopleOffer,
    }
    of_rules = {messages.SetCounts}
    predicting = {messages.RowsShare, messages.RowsAsked, messages.RowShares}
    assert used == every - {Message, Joinable} - between_runs - aligning - predicting - of_rules
    # DESIGN 7.2: one of windows, where they leave a candidate out, and one of counts.
    sent = transcript(replace(CASE, terms=make_terms(omega=1, test=Fraction(0))))
    depth = play(replace(CASE, terms=make_terms(omega=1, test=Fraction(0))))[0].tree.depth
    batches = [message for message in sent.sent_by_b if isinstance(message, ExactCounts)]
    windows = [message for message in sent.sent_by_b if isinstance(message, OpenedPage)]
    assert len(batches) == depth
    assert 0 < len(windows) <= depth


def copies(case: Case, party: str = "b") -> bytes:
    sent = transcript(case)
    pages = sent.sent_by_a if party == "a" else sent.sent_by_b
    return b"".join(message.codes for message in pages if isinstance(message, DisguisedPage))


def test_the_copy_is_the_same_in_every_run_and_disguised() -> None:
    """FAULTS cases 35 and 37: whatever else the run is about."""
    first = copies(CASE)
    assert len(first) == 60 * 4
    others = (
        make_terms(),
        make_terms(omega=1),
        make_terms(counting="paillier", seed=99),
        make_terms(method="randomized", test=Fraction(1, 2)),
    )
    assert all(copies(replace(CASE, terms=terms)) == first for terms in others)
    assert copies(replace(CASE, initiator="bob")) == first
    true = np.ascontiguousarray(CASE.codes[:, 2:6]).tobytes()
    assert len(copies(CASE)) == len(true)
    assert copies(CASE) != true


CANARY = "canary-4711"


def with_canaries(case: Case) -> tuple[PartyInputs, PartyInputs]:
    """Plant the canary in record ids, data set names and secrets."""
    sides = []
    for party in ("alice", "bob"):
        local = make_local(case, party)
        secret = replace(local.secrets, coins=CANARY.encode().ljust(32, party.encode()[:1]))
        records = tuple(f"{CANARY}-{i}" for i in range(len(local.table)))
        sides.append(replace(local, records=records, dataset=f"{CANARY} data", secrets=secret))
    return sides[0], sides[1]


def content(message: Message) -> bytes:
    """Return every byte and text that a message holds, one way or another."""
    return pickle.dumps(message)


def assert_no_canary(sent: list[Message], private: list[bytes]) -> None:
    for message in sent:
        assert CANARY not in repr(message)
        held = content(message)
        assert not any(each in held for each in (CANARY.encode(), *private))


def private_bytes(local: PartyInputs) -> list[bytes]:
    """Return what must not cross in any form: key, factors, and each column and the whole table as bytes."""
    key = private_key_of(local)
    sizes = [(int(prime), (int(prime).bit_length() + 7) // 8) for prime in (key.p, key.q)]
    factors = [prime.to_bytes(size, "big") for prime, size in sizes]
    factors += [prime.to_bytes(size, "little") for prime, size in sizes]
    codes = local.table.codes
    columns = [np.ascontiguousarray(codes[:, c]).tobytes() for c in range(codes.shape[1])]
    return [local.secrets.coins, *factors, *columns, codes.tobytes()]


@pytest.mark.parametrize("way", ALLOWED)
def test_no_message_holds_a_record_id_a_secret_or_a_true_column(way: str) -> None:
    case = replace(CASE, terms=make_terms(**ALLOWED[way][0]))
    alice, bob = with_canaries(case)
    sent = Transcript()
    run_pair(*make_roles(case, alice, bob), sent)
    assert_no_canary(sent.sent_by_a, private_bytes(alice))
    assert_no_canary(sent.sent_by_b, private_bytes(bob))


def test_smc_sends_nothing_that_depends_on_the_codes_but_a_keyed_digest_what_is_masked_and_counts() -> None:
    """A table and the same with its records in another order have equal counts; nothing else tells them apart."""
    for counting in Counting:
        hidden = CiphertextPage | PackedCounts | TableCommitment | BaseOffer | BasePoints | SeedHints | ChoicePage
        hidden |= CorrectionPage | CountShares
        case = replace(CASE, terms=make_terms(method="smc", test=Fraction(0), counting=counting))
        seen = []
        for each in (case, replace(case, codes=case.codes[::-1].copy())):
            sent = Transcript()
            run_pair(*make_roles(each, nonce=b"n" * 32), sent)
            shown = [m for m in (*sent.sent_by_a, *sent.sent_by_b) if not isinstance(m, hidden)]
            seen.append(shown)
        assert seen[0] == seen[1]
        assert seen[0]


def errors_of(ends: tuple[End[Any], End[Any]]) -> list[Exception]:
    return [end.error for end in ends if end.error is not None]


FAILURES: dict[str, tuple[dict[str, Any], Tamper]] = {
    "page": ({}, lambda who, n, m: DisguisedPage(b"\xff" * 180) if isinstance(m, DisguisedPage) else m),
    "kind": ({}, lambda who, n, m: Verdict(CANARY) if isinstance(m, CountShares) else m),
    "ciphertexts": ({"counting": "paillier"}, lambda who, n, m: Verdict(CANARY) if isinstance(m, PackedCounts) else m),
    "choices": ({}, lambda who, n, m: ChoicePage(m.matrix[::-1], m.check) if isinstance(m, ChoicePage) else m),
    "counts": ({}, lambda who, n, m: ExactCounts(m.values[:-1]) if isinstance(m, ExactCounts) else m),
    "digest": ({}, lambda who, n, m: ModelDigest(CANARY.encode()) if isinstance(m, ModelDigest) else m),
    "windows": ({"omega": 1}, lambda who, n, m: OpenedPage(b"1") if isinstance(m, OpenedPage) else m),
    "a mined model": ({"method": "randomized"}, lambda who, n, m: SentTree(()) if isinstance(m, SentTree) else m),
    "terms": ({"theta": Fraction(10**17, 10**18 - 1)}, honest),
    "verdict": ({}, lambda who, n, m: Verdict(CANARY) if isinstance(m, Verdict) else m),
}


def test_no_message_holds_a_canary_that_the_search_would_find_and_no_error_does() -> None:
    alice, _ = with_canaries(CASE)
    page = DisguisedPage(private_bytes(alice)[-1])
    with pytest.raises(AssertionError):
        assert_no_canary([page], private_bytes(alice))
    with pytest.raises(AssertionError):
        assert_no_canary([Verdict(CANARY)], [])
    with pytest.raises(AssertionError):
        assert_no_canary([HolderKey(private_bytes(alice)[1])], private_bytes(alice))
    for entry in FAILURES.values():
        changes, tamper = entry
        case = replace(CASE, terms=make_terms(**changes))
        errors = errors_of(duel(*make_roles(case, *with_canaries(case)), tamper))
        assert errors
        for error in errors:
            assert isinstance(error, CotallyError)
            assert CANARY not in f"{error!s} {error!r}"
    alice, bob = with_canaries(CASE)
    other = replace(bob, records=tuple(f"{CANARY}-{i + 1}" for i in range(60)))
    errors = errors_of(duel(*make_roles(CASE, alice, other)))
    assert len(errors) == 2
    assert all(CANARY not in f"{error!s} {error!r}" for error in errors)
