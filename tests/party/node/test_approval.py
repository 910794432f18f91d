"""Jobs that wait until people have signed them: what is kept of each, whose word counts, and for what it holds."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from party.cli import train
from party.errors import PeerLostError
from party.keys.identity import read_identity, signed_here
from party.node import approval
from party.node.aligning import Offers
from party.node.approval import MOST_WAITING, Approvals, decide
from party.node.session import propose_job
from party.records.approvals import Proposal, decision_statement, proposals
from party.records.journal import cancel_run, open_journal, recorded_runs
from party.records.ledger import PeerEntries, PeerName, has_ledger, join_ledger
from party.records.ledger_entries import DecisionEntry, WouldReveal
from party.records.tally import dealings
from party.settings.party import read_party_config
from party.show.assessment import people_read
from party.show.ledger import cancelled_text, dealings_lines, open_run_lines, proposal_lines
from protocols.errors import DisagreementError, InputError, NotApprovedError
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Train
from protocols.messages import BaseOffer, CountShares
from protocols.terms import Learner, RuleTerms, Terms
from protocols.two_party.objections import PEER_WANTS
from tests.party.node.test_going_on import Meeting, assert_done, until
from tests.support import sessions as support
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.offering import Offering, assert_not_answered, classes
from tests.support.parties import make_terms
from tests.support.sessions import ANY_ODDS, Sessions, contents, of_kind, trained, with_terms

CASE = with_terms(support.CASE, max_depth=1)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
TREE = with_terms(CASE, method="smc", reveal="tree", max_depth=2, most_bits=40)


LIKE = replace(CASE, sizes=dict.fromkeys(CASE.sizes, (2, 2)), codes=correlated((2, 2, 2, 2, 2), 80, seed=1, flips=0.5))
"""With columns of both sides that are alike: what people sign before they know the peer's is true."""


def by_hand(
    folder: Path, case: Any = CASE, more: str = "approvals = 2\n", agree: str = ANY_ODDS, who: str = "alice"
) -> Sessions:
    """Return two parties of which one, Alice who answers unless named, decides by hand."""
    sessions = Sessions(folder, case, agree)
    settings = folder / who / "party.toml"
    settings.write_text(f'{settings.read_text()}approve = "by hand"\n{more}')
    return sessions


def proposed(sessions: Sessions, who: str = "alice") -> list[Proposal]:
    with sessions.ledger(who) as ledger:
        return proposals(ledger.entries())


def sign(sessions: Sessions, *names: str, job: int = -1, approved: bool = True, who: str = "alice") -> None:
    folder, secret = sessions.folder / who, sessions.local(who).secrets.coins
    for name in names:
        decide(folder, secret, proposed(sessions, who)[job].name, name, approved=approved, clock=lambda: MAY)


def assert_waits(sessions: Sessions, asked: Terms | Job | None = None) -> None:
    """Play a session and make sure that it ends, at both sides, since the job waits for people of Alice."""
    alice, bob = sessions.both_errors(asked)
    assert isinstance(alice, NotApprovedError)
    assert isinstance(bob, NotApprovedError)
    assert alice.waits
    assert bob.waits
    assert str(bob) == PEER_WANTS["approval"]


def assert_runs(sessions: Sessions) -> None:
    """Make sure that nobody is asked about the job any more: play until its first message, which Bob does not send."""
    until(sessions, "bob", BaseOffer)


def text_of(found: list[Proposal]) -> str:
    return "\n".join(proposal_lines(found, 1))


def test_a_job_by_hand_waits_with_what_it_would_reveal_until_two_people_have_signed_it(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, with_terms(CASE, max_depth=2))
    assert_waits(sessions)
    assert_waits(sessions)
    (kept,) = of_kind(contents(sessions, "alice"), "proposal")
    would = kept["reveals"]
    assert kept["job"]["kind"] == "train"
    assert kept["job"]["theta"] == "7/10"
    assert would["counts"] > would["counts probably"] > 0
    assert would["read"][1] == kept["records"] == 80
    assert would["seconds"] is not None
    sign(sessions, "Ann")
    assert_waits(sessions)
    assert_waits(sessions)
    assert not of_kind(contents(sessions, "alice"), "columns")
    sign(sessions, "Ben")
    alice, _ = sessions.run()
    assert trained(alice).outcome.tree
    assert [each["what"] for each in of_kind(contents(sessions, "alice"), "proposed table")] == ["list", "table"]
    with sessions.ledger("alice") as ledger:
        (dealt,) = dealings(ledger.entries())
    said = "\n".join(dealings_lines(dealt, full=False))
    assert f"Job {proposed(sessions)[0].name} of bob: train (hybrid, omega 1, class 'class'), proposed" in said
    assert (
        'terms: method = "hybrid", theta = "7/10", omega = 1, counting = "oblivious_transfer", class = "class"' in said
    )
    assert "approved by Ben, 2026-05-01T00:00:00Z" in said
    assert_runs(sessions)


def test_who_calls_lists_its_own_job_while_it_waits_for_people_of_the_peer(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")

    def listed(who: str, *, busy: bool = False) -> str:
        runs = recorded_runs(sessions.folder / who, sessions.local(who).secrets.coins)
        return "\n".join(open_run_lines(runs, busy, ended=False))

    assert_waits(sessions)
    assert_waits(sessions)
    assert re.search(
        r"^[0-9a-f]{16}  waiting  train \(hybrid, omega 1, class 'class'\) with alice, data set 'case', "
        r"first asked 20\S*Z, last asked 20\S*Z\n    waits for people at alice to approve it: start the same command",
        listed("bob"),
    )
    assert "the process that works in this folder asks again" in listed("bob", busy=True)
    assert "waiting" not in listed("alice")
    sign(sessions, "Ann", approved=False)
    sessions.both_errors()
    assert "waiting" not in listed("bob")
    sign(sessions, "Ann")
    other = with_terms(CASE, max_depth=2).terms
    assert_waits(sessions, other)
    with open_journal(tmp_path / "bob", sessions.local("bob").secrets.coins) as journal:
        (asked,) = journal.runs()
        assert "listed here no more" in cancelled_text(cancel_run(journal, asked.run, asked.began))
        assert journal.runs() == []
    assert_waits(sessions, other)
    sign(sessions, "Ann")
    sessions.run(other)
    assert "waiting" not in listed("bob")


def test_a_job_that_waits_for_our_own_people_is_listed_once(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="", who="bob")
    sessions.both_errors()
    assert len(proposed(sessions, "bob")) == 1
    assert recorded_runs(tmp_path / "bob", sessions.local("bob").secrets.coins) == []


def test_a_tree_alone_is_proposed_with_its_bits_and_no_counts(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, TREE)
    assert_waits(sessions)
    would = proposed(sessions)[0].said.reveals
    assert would.bits is not None
    assert would.likely_bits is not None
    assert 0 < would.likely_bits <= would.bits <= 40
    assert (would.counts, would.read, would.epsilon) == (None, None, None)


def test_what_people_read_of_a_job_ends_where_a_text_of_the_peers_does(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    sessions.both_errors(
        Crosstab(CrosstabTerms('spending", noise = "1/2', "a0", None))
    )  # kept though Bob has no such column
    said = text_of(proposed(sessions))
    assert r'terms: initiator = "spending\", noise = \"1/2", responder = "a0", noise = none' in said


BAYES = make_terms(method="smc", learner=Learner.NAIVE_BAYES)
RULES = make_terms(learner=Learner.RULES, rules=RuleTerms(Fraction(1, 2), 2, 9), method="smc")
NOISY = make_terms(method="smc", noise=Fraction(1), max_depth=2, test=Fraction(0))


@pytest.mark.parametrize(
    ("job", "has"),
    [
        (BAYES, {"counts", "likely_counts"}),
        (RULES, {"counts", "likely_counts"}),
        (NOISY, {"counts", "likely_counts", "epsilon"}),
        (make_terms(method="randomized", theta=Fraction(7, 10)), {"read"}),
        (Crosstab(CrosstabTerms("b0", "a1", Fraction(1, 2))), {"counts", "epsilon"}),
        (Align(), {"people"}),
    ],
)
def test_each_kind_of_job_is_kept_with_what_it_would_reveal(tmp_path: Path, job: Terms | Job, has: set[str]) -> None:
    epsilon = 'epsilon = "5"\n' if "epsilon" in has else ""
    sessions = by_hand(tmp_path, agree=f"{ANY_ODDS}{epsilon}")
    assert_waits(sessions, job)
    (kept,) = proposed(sessions)
    given = {name for name, value in vars(kept.said.reveals).items() if value is not None}
    assert given - {"seconds", "megabytes"} == has
    terms = next(line for line in proposal_lines([kept], 1) if line.startswith("  terms: "))
    assert ("count_only = false" in terms) == (job == Align())
    assert ('test = "0"' in terms) == (isinstance(job, Terms) and not job.test)


def test_who_signs_a_table_with_noise_reads_how_many_people_a_partner_that_deviates_may_read(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, agree='epsilon = "5"\n')
    assert_waits(sessions, Crosstab(CrosstabTerms("b0", "a1", Fraction(1, 2))))
    (job,) = proposed(sessions)
    read = people_read(job.said.records, job.said.reveals.counts or 0, Fraction(1, 2))
    assert f"one that deviates can read {read} by the table" in " ".join(proposal_lines([job], 1))


GUESSES: list[tuple[Any, Any, str]] = [
    (TREE.terms, with_terms(TREE, min_leaf=41).terms, "min_leaf"),
    (TREE.terms, with_terms(TREE, class_name="a0").terms, "columns"),
    (Crosstab(CrosstabTerms("b0", "a0", None)), Crosstab(CrosstabTerms("b0", "zip", None)), "responder"),
]


@pytest.mark.parametrize(("fits", "guess", "field"), GUESSES, ids=[each[2] for each in GUESSES])
def test_a_guess_at_our_table_gets_no_answer_before_people_have_signed_it(
    tmp_path: Path, fits: Any, guess: Any, field: str
) -> None:
    sessions = by_hand(tmp_path, TREE, more="")
    assert [answer_to(sessions, job) for job in (fits, guess)] == ["approval", "approval"]
    said = [each.said.reveals for each in proposed(sessions)]
    assert said[0] != said[1] == WouldReveal()
    said_of_guess = text_of(proposed(sessions)[1:])
    assert "no tree and no count, since our table or what was revealed before refuses it; names" in said_of_guess
    sign(sessions, "Ann")
    assert answer_to(sessions, guess) == field  # the control: then it is looked at


WIDE = replace(
    CASE,
    sizes={"alice": (2,), "bob": (4, 4, 4)},
    codes=correlated((2, 4, 4, 4, 2), 200, seed=1),
    groups=dict.fromkeys(CASE.sizes, 1),
)
"""Bob brings more columns than Alice, of more values."""


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(make_terms(method="smc", max_depth=2), id="counts", marks=pytest.mark.full),
        pytest.param(make_terms(method="smc", reveal="tree", max_depth=2, most_bits=99), id="tree"),
        pytest.param(make_terms(theta=Fraction(7, 10), omega=1, max_depth=2), id="hybrid"),
        pytest.param(BAYES, id="bayes"),
        pytest.param(NOISY, id="noise", marks=pytest.mark.full),
    ],
)
def test_a_job_that_would_reveal_more_by_the_peers_columns_than_was_signed_waits_again_with_the_true_amount(
    tmp_path: Path, job: Terms
) -> None:
    sessions = by_hand(tmp_path, WIDE, more="", agree=ANY_ODDS + ('epsilon = "9"\n' if job.noise else ""))
    assert_waits(sessions, job)
    sign(sessions, "Ann")
    alice, bob = sessions.both_errors(job)
    assert "(more than was signed, by bob's columns), which waits for one person" in str(alice)
    assert str(bob) == PEER_WANTS["approval"]
    assert {each["kind"] for each in contents(sessions, "alice")} <= BEFORE_A_RUN
    first, second = (each.said for each in proposed(sessions))
    said = text_of(proposed(sessions))
    assert "if bob's columns are like ours, of" in said
    assert "with bob's columns, of" in said
    assert second.reveals.passes(first.reveals)
    sign(sessions, "Ann")
    sessions.run(job)  # the control: what was signed now is true, and nobody is asked again
    with sessions.ledger("alice") as ledger:
        (found,) = dealings(ledger.entries())
    assert first.reveals.counts is None or first.reveals.counts < found.revealed.counts <= (second.reveals.counts or 0)


BEFORE_A_RUN = {"head", "columns", "comparison", "proposal", "decision", "proposed table"}


def test_a_job_that_our_table_refuses_in_the_run_is_kept_with_what_crosses_before(tmp_path: Path) -> None:
    job = make_terms(learner=Learner.RULES, rules=RuleTerms(Fraction(1, 4), 2, 1), method="smc")
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions, job)
    said = text_of(proposed(sessions))
    assert (
        "probably 0; our table refuses it in the run: names of columns and values, and the number of records," in said
    )
    sign(sessions, "Ann")
    alice, _ = sessions.both_errors(job)
    assert "sets of our own items are frequent" in str(alice)
    kinds = {each["kind"] for each in contents(sessions, "alice")}
    assert {"columns", "run"} < kinds <= BEFORE_A_RUN | {"run", "release", "class counts"}  # that of all records


def test_what_a_job_would_reveal_is_worked_out_once_the_peer_has_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, answered = by_hand(tmp_path, TREE, more=""), Event()
    looks: list[bool] = []

    def recorded(look: Any) -> Any:
        def looked(*given: Any) -> Any:
            looks.append(answered.wait(10))
            return look(*given)

        return looked

    for name in ("check_job", "supposed_run", "would_reveal"):
        monkeypatch.setattr(approval, name, recorded(getattr(approval, name)))
    ours, theirs = memory_channels()
    with ThreadPoolExecutor(1) as pool:
        alice = pool.submit(sessions._take_part, "alice", ours, None)
        with theirs, pytest.raises(NotApprovedError):
            propose_job("bob", theirs, Train(TREE.terms))
        answered.set()
        assert alice.exception()
    assert looks == [True] * 3
    assert proposed(sessions)[0].said.reveals.bits


def answer_to(sessions: Sessions, job: Terms | Job) -> str:
    """Return what Alice objects to in a job that Bob, without data, shows her."""
    ours, theirs = memory_channels()
    with ThreadPoolExecutor(1) as pool:
        alice = pool.submit(sessions._take_part, "alice", ours, None)
        with theirs, pytest.raises(DisagreementError) as error:
            propose_job("bob", theirs, Train(job) if isinstance(job, Terms) else job)
        assert isinstance(alice.exception(), DisagreementError)
    return error.value.field


def moved(column: int) -> Any:
    codes = CASE.codes.copy()
    codes[:, column] ^= 1
    return replace(CASE, codes=codes)


def test_an_approval_holds_for_no_changed_job(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions)
    sign(sessions, "Ann")
    cases = with_terms(CASE, max_depth=2), with_terms(CASE, theta=Fraction(3, 4)), moved(0)
    for number, case in enumerate((*cases, replace(CASE, groups={"alice": 2, "bob": 2})), start=2):
        assert_waits(replace(sessions, case=case))
        assert len(proposed(sessions)) == number
    assert_runs(sessions)  # the control


def test_an_approval_holds_for_this_peer_key_data_set_and_who_proposes_alone(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions)
    sign(sessions, "Ann")
    (signed,), local, folder = proposed(sessions), sessions.local("alice"), tmp_path / "alice"
    config = read_party_config(folder / "party.toml", CASE.terms.key_bits)
    with join_ledger(folder, local.secrets.coins) as ledger:

        def session(peer: PeerName = signed.peer, *, initiates: bool = False, **changed: Any) -> Approvals:
            pages = PeerEntries(ledger, peer, lambda: MAY)
            return Approvals(replace(local, **changed), config, pages, Offers(), signed_here(folder), initiates)

        def flaw(judged: Approvals, asked: Terms = CASE.terms) -> str:
            with judged.keeping():
                found = judged.judge_job(Train(asked))
            return "" if found is None else found.reason

        other, again = replace(signed.peer, name="carl"), session()
        assert flaw(again) == ""  # the control
        assert "carl proposes job" in flaw(session(other))
        assert "bob proposes job" in flaw(session(replace(signed.peer, fingerprint="00")))
        assert "we propose job" in flaw(session(initiates=True))
        assert "bob proposes job" in flaw(session(dataset="other"))
        again.local = replace(sessions, case=moved(0)).local("alice")  # read again meanwhile
        assert again.judge_tables("table", b"theirs") is not None
        for seed in range(MOST_WAITING - 1):
            assert "carl proposes job" in flaw(session(other), with_terms(CASE, seed=100 + seed).terms)
        more = with_terms(CASE, seed=99).terms
        assert f"{MOST_WAITING} jobs of carl wait" in flaw(session(other), more)
        assert "bob proposes job" in flaw(session(), more)


def test_an_approved_job_holds_for_the_table_of_the_peer_with_which_it_began(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="", agree='epsilon = "2"\n')
    job = Crosstab(CrosstabTerms("b0", "a0", Fraction(1, 2)))
    assert_waits(sessions, job)
    sign(sessions, "Ann")
    sessions.run(job)
    sessions.run(job)
    other = replace(sessions, case=moved(2))
    assert_waits(other, job)
    assert proposed(sessions)[-1].said.other == "table"
    assert len(of_kind(contents(sessions, "alice"), "crosstab")) == 2
    sign(sessions, "Ann")
    other.run(job)
    assert len(of_kind(contents(sessions, "alice"), "crosstab")) == 4


def begin_and_stop(sessions: Sessions, who: str) -> None:
    """Play until the tables are bound, where one side then objects."""
    own = sessions.folder / who / "party.toml"
    text = own.read_text()
    own.write_text(f"{text}most_counts = 1\n")
    for error in sessions.both_errors():
        assert isinstance(error, DisagreementError)
        assert error.field == "budget"
    own.write_text(text)


def test_a_table_of_the_peer_binds_a_job_of_training_too_before_anything_of_it_is_revealed(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions)
    sign(sessions, "Ann")
    begin_and_stop(sessions, "bob")
    assert_waits(replace(sessions, case=moved(2)))
    assert_runs(sessions)


def test_an_approved_run_that_was_cut_off_goes_on_without_another_signature(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, with_terms(CASE, method="smc"), more="")
    assert_waits(sessions)
    sign(sessions, "Ann")
    until(sessions, "bob", CountShares)
    assert_done(sessions, Meeting(sessions).play())
    (begun,) = of_kind(contents(sessions, "alice"), "run")
    assert (len(proposed(sessions)), begun["terms"]["method"]) == (1, "smc")


def test_other_rows_of_ours_or_another_list_of_the_peers_are_another_prediction(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    settings = tmp_path / "alice" / "party.toml"
    settings.write_text(settings.read_text().replace("[node]", 'approve = "by hand"\n[node]'))
    ages, cities = dict(pair.ages), dict(pair.cities)
    changes: tuple[dict[str, Any], ...] = (
        {}, {"ages": ages | {"p2": "old"}}, {"cities": cities | {"p7": "Rome"}},
    )  # fmt: skip
    for times, change in enumerate(changes, start=1):
        vars(pair).update(change)
        assert_not_answered(pair.play(), "approval")
        assert len(proposed(pair.sessions)) == times
        sign(pair.sessions, "Ann")
        assert classes(pair.play()[1])


def test_the_last_word_of_each_name_counts_and_a_refusal_crosses_as_one_fixed_sentence(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path)
    assert_waits(sessions)
    sign(sessions, "Ann", "Ben")
    sign(sessions, "Carl who knows why", approved=False)
    alice, bob = sessions.both_errors()
    assert "refused here" in str(alice)
    assert str(bob) == PEER_WANTS["refusal"]
    assert isinstance(bob, NotApprovedError)
    assert not bob.waits
    sign(sessions, "carl who knows why")
    assert_runs(sessions)


def test_nobody_decides_about_a_job_that_has_run_or_that_somebody_else_has_refused(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions)
    sign(sessions, "Ann", approved=False)
    before = contents(sessions, "alice")
    for approved in (True, False):
        with pytest.raises(InputError, match="was refused by Ann: it does not run, unless Ann approves it"):
            sign(sessions, "Ben", approved=approved)
    assert contents(sessions, "alice") == before
    sign(sessions, "Ann")
    until(sessions, "bob", CountShares)
    sign(sessions, "Ben", approved=False)  # the control: a run that was cut off may still be refused, and taken back
    sign(sessions, "Ben")
    sessions.run()
    ended = contents(sessions, "alice")
    for name, approved in (("Ann", False), ("Ben", True), ("Late", True), ("Late", False)):
        with pytest.raises(InputError, match=r"has run, by 20.*Z: see what it revealed in `cotally ledger"):
            sign(sessions, name, approved=approved)
    assert contents(sessions, "alice") == ended
    assert "has run, by 20" in text_of(proposed(sessions))
    sessions.run()
    assert len(of_kind(contents(sessions, "alice"), "proposed run")) == 1


def test_a_decision_counts_only_if_our_key_has_signed_this_word_on_this_job(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, more="")
    assert_waits(sessions)
    assert_waits(sessions, with_terms(CASE, max_depth=2).terms)
    (first, second), folder = proposed(sessions), tmp_path / "alice"
    secret, time = sessions.local("alice").secrets.coins, "2026-05-01T00:00:00Z"
    ours, other = read_identity(folder).sign, read_identity(tmp_path / "bob").sign
    good = decision_statement(first.said.proposal, "Ann", time, approved=True)
    refusal = decision_statement(first.said.proposal, "Ann", time, approved=False)
    of_second = decision_statement(second.said.proposal, "Ann", time, approved=True)
    for signature in (bytes(70), other(good), ours(refusal), ours(of_second), ours(good)):
        assert_waits(sessions)  # by what was written so far
        with join_ledger(folder, secret) as ledger:
            said = DecisionEntry("case", first.said.proposal, approved=True, name="Ann", signature=signature)
            PeerEntries(ledger, first.peer, lambda: MAY).write(said)
    assert_runs(sessions)


def test_a_peer_that_asks_much_fills_no_ledger_and_is_heard_again_once_people_have_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "MOST_WAITING", 3)
    sessions = by_hand(tmp_path, more="")
    jobs = [with_terms(CASE, seed=seed).terms for seed in range(5)]
    for job in jobs:
        assert_waits(sessions, job)
    before = contents(sessions, "alice")
    assert len(proposed(sessions)) == 3
    assert_waits(sessions, jobs[-1])
    assert contents(sessions, "alice") == before
    sign(sessions, "Ann", job=0, approved=False)
    assert_waits(sessions, jobs[-1])
    assert len(proposed(sessions)) == 4


def test_a_peer_that_answers_with_table_after_table_fills_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "MOST_WAITING", 2)
    sessions = by_hand(tmp_path, LIKE, more="", who="bob")
    sessions.both_errors()
    sign(sessions, "Bea", who="bob")
    begin_and_stop(sessions, "alice")
    for row in range(4):
        codes = LIKE.codes.copy()
        codes[row, 0] ^= 1
        _, bob = replace(sessions, case=replace(LIKE, codes=codes)).both_errors()
        assert isinstance(bob, NotApprovedError)
    assert len(proposed(sessions, "bob")) == 1 + 2
    assert_runs(sessions)  # the control: with the table that it began with


def test_no_signature_widens_a_bound_and_who_calls_may_decide_by_hand_too(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path, LIKE, more="")
    assert_waits(sessions)
    sign(sessions, "Ann")
    settings = tmp_path / "alice" / "party.toml"
    text = settings.read_text()
    settings.write_text(text.replace("min_leaf = 1\n", "min_leaf = 5\n"))
    alice, _ = sessions.both_errors()
    assert isinstance(alice, DisagreementError)
    assert alice.field == "min_leaf"
    settings.write_text(text.replace('most_runs = "any"', "most_runs = 1"))
    sessions.run()
    other = with_terms(LIKE, max_depth=2).terms
    assert_waits(sessions, other)
    sign(sessions, "Ann")
    alice, _ = sessions.both_errors(other)
    assert isinstance(alice, DisagreementError)
    assert alice.field == "budget"
    settings.write_text(text)
    own = tmp_path / "bob" / "party.toml"
    own.write_text(f'{own.read_text()}approve = "by hand"\n')
    alice, bob = sessions.both_errors()
    assert str(alice) == PEER_WANTS["approval"]
    assert "we propose job" in str(bob)
    assert len(proposed(sessions, "bob")) == 1
    sign(sessions, "Bea", who="bob")
    assert_runs(sessions)


def test_within_bounds_lets_a_bounded_job_run_and_keeps_the_others(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, TREE, 'most_bits = 40\nmost_runs = 2\napprove = "within bounds"\n')
    ends = sessions.both_errors(with_terms(CASE, method="smc", max_depth=2).terms)
    assert all(isinstance(each, NotApprovedError) for each in ends)
    assert_runs(sessions)


ONCE = (" ali nilo ", "AliNilo", "Ali Nilo\ufe0f", "A\u0301li Nilo", "\u00c1li Nilo", "AIi Nilo", "Ali-Nilo.")
OTHER = ("\u0410li Nilo", "Ali\u3164Nilo", "Ali\u2800Nilo", "Ali\u200bNilo", "Al\u0131 Nilo", "\u674e\u660e", "", " \n",
         "-", "Ann\x1b[2J", "A" * 101, "A1i Nilo", "Ali Nil0", "A|i Nilo", "Al! Nilo", "Ali Ni(o", "$ali",
         "\uff21li Nilo", "\U0001d400li Nilo", "Ali Nilo\u02b0")  # fmt: skip


def test_a_name_that_looks_like_one_that_has_signed_is_no_other_person(tmp_path: Path) -> None:
    sessions = by_hand(tmp_path)
    assert_waits(sessions)
    sign(sessions, "Ali Nilo")
    for spelling in ONCE:
        with pytest.raises(InputError, match=r"Ali Nilo has approved job .* already, and counts once"):
            sign(sessions, spelling)
    for name in OTHER:
        with pytest.raises(InputError, match=r"the person who decides must have 1 to 100 .* letters from A to Z"):
            sign(sessions, name)
    assert_waits(sessions)
    with pytest.raises(InputError, match="no job of the name 00 was proposed here"):
        decide(tmp_path / "alice", sessions.local("alice").secrets.coins, "00", "Ann", approved=True)
    Sessions(tmp_path / "new", CASE)
    with pytest.raises(InputError, match="no job of the name 00 was proposed here"):
        decide(tmp_path / "new" / "alice", sessions.local("alice").secrets.coins, "00", "Ann", approved=True)
    assert not has_ledger(tmp_path / "new" / "alice")
    sign(sessions, "Jos\u00e9 O'Neill")  # the control: another person
    assert_runs(sessions)


def test_a_command_that_waits_for_people_asks_again_though_the_peer_is_away_at_times(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train, "APPROVAL_SECONDS", 0.0)
    waiting, away = NotApprovedError("approval", "people decide"), PeerLostError("alice does not answer")

    def meet(*ends: Exception) -> str:
        left = iter(ends)

        def once() -> str:
            for end in left:
                raise end
            return "met"

        return train.until_approved(once)

    assert meet(waiting, away, waiting) == "met"
    assert capsys.readouterr().err.count("people decide") == 1
    for ends in ((away,), (waiting, NotApprovedError("refusal", "refused")), (waiting, InputError("a disk is full"))):
        with pytest.raises(type(ends[-1]), match=str(ends[-1])):
            meet(*ends)
