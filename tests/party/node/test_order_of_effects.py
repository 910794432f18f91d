"""The order of effects, in every kind of job: on the disk before it leaves, and kept before it is confirmed.

Real sessions over real ledgers and journals are played with a recorder. Tables say what precedes a message that reveals
something, and what is done after one before the next leaves. A kind of message that no table names fails; so does every
log in which two neighbours are swapped.

No mask of a transfer serves twice: in whole runs of each kind, and over all sessions of runs that are killed.

Who goes on makes new transfers under new names, even where a machine that is put back draws as it did before.
`tests/integration/test_simulation.py` looks in the same way at whatever it lets happen.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from party.files import locked_folder
from party.models.any_file import KeptModel
from party.node import players
from party.node.players import Host
from party.node.session import run_session
from party.records.journal import Journal, RunRecord
from party.records.ledger import Ledger
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from protocols.jobs import Align, Crosstab, CrosstabTerms, Job, Receiver, Train
from protocols.role import Joinable, Message, Part
from protocols.terms import Counting, Impurity, Learner, Method, Reveal, RuleTerms
from protocols.two_party.inputs import PartyInputs
from tests.party.node.test_going_on import CASES, Killed, Meeting
from tests.protocols.ciphers.paillier.chance import Chance
from tests.support import offering, sessions
from tests.support.channels import memory_channels
from tests.support.examples import few
from tests.support.joint_itemsets import rule_terms
from tests.support.mask_recorder import ALONE, ONCE, MaskRecorder
from tests.support.offering import Offering
from tests.support.parties import Case, make_local
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, with_terms

ENTRY, SAVED, STATE, MODEL, PEOPLE = "entry", "saved", "state", "model", "people"
SENT, RECEIVED = "sent", "received"


@dataclass(frozen=True)
class Effect:
    """Something that a party has done: `what`, of which `kind`, and what else tells it from others of its kind."""

    what: str
    kind: str = ""
    content: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.what} {self.kind} {self.content.get('way', '')}".strip()


Log = dict[str, list[Effect]]


@contextmanager
def recorded() -> Iterator[Log]:
    """Note the effects of each party, by its name: what is kept once it is on the disk, what leaves before it does."""
    log: Log = {}

    def note(party: str, effect: Effect) -> None:
        log.setdefault(party, []).append(effect)

    with (
        _after(Ledger, "append", lambda it, content: note(_owner(it), Effect(ENTRY, content["kind"], content))),
        _after(Journal, "keep", lambda it, _run, part, *_: note(_owner(it), Effect(SAVED, Part(part).name))),
        _after(Journal, "begin", lambda it, record: note(_owner(it), _state(record))),
        _after(Journal, "change", lambda it, run, *_, **__: note(_owner(it), _state(it.find(run)))),
        _after(KeptModel, "keep", lambda it, _: note(it.path.parent.name, Effect(MODEL, "kept"))),
        _after(KeptModel, "publish", lambda it: note(it.path.parent.name, Effect(MODEL, "published"))),
        _after(players, "keep_alignment", lambda folder, *_: note(folder.name, Effect(PEOPLE))),
        _before(PagedChannel, "send", lambda it, message: note(it._own, Effect(SENT, type(message).__name__))),
        _after(PagedChannel, "receive", lambda it, kind: note(it._own, Effect(RECEIVED, kind.__name__))),
    ):
        yield log


def _owner(records: Ledger | Journal) -> str:
    return records.path.parent.name


def _state(record: RunRecord | None) -> Effect:
    assert record is not None
    return Effect(STATE, "SETTLED" if record.settled else record.state.name)


@contextmanager
def _after(owner: Any, name: str, note: Callable[..., None]) -> Iterator[None]:
    original = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        note(*arguments, **named)
        return result

    with patch.object(owner, name, noted):
        yield


@contextmanager
def _before(owner: Any, name: str, note: Callable[..., None]) -> Iterator[None]:
    original = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        note(*arguments, **named)
        return original(*arguments, **named)

    with patch.object(owner, name, noted):
        yield


COUNTED = {"counts", "accuracy", "itemsets"}
EACH: Mapping[str, set[str]] = {
    "ClassCounts": {"class counts"}, "SentTree": {"mined tree"}, "ExactCounts": COUNTED,
    "PackedCounts": COUNTED, "CountShares": COUNTED | {"opened", "crosstab"}, "SetCounts": {"itemsets"},
    "RowShares": {"prediction"}, "ModelDigest": {"model"}, "DisguisedPage": {"copy"},
}  # fmt: skip
"""Before each of these messages an entry of its own is written, that the peer is told it or that both are."""
ORDER_ONCE: Mapping[str, set[str]] = {
    "Share": {"columns"}, "TableCommitment": {"columns"}, "HiddenContents": {"comparison"},
    "JointDigests": {"comparison"},
    "HintPage": {"alignment"}, "OpenedPage": {"alignment", "opened", "windows"}, "ValuesPage": {"alignment"},
    "CommonRows": {"alignment"}, "HolderKey": {"run", "release"}, "CiphertextPage": {"run", "release"},
    "RowsAsked": {"release"}, "KeptParts": {"run", "release"}, "LostAnswers": {"run"},
}  # fmt: skip
"""Before the first of these messages an entry is written."""
NOTHING = {
    "Greeting": "terms and names", "MemoryHeads": "ends of ledgers", "SignedHead": "an end of a ledger",
    "Verdict": "a field's name", "PeopleOffer": "how many records", "IdList": "how many ids, and a commitment",
    "RowsShare": "how many rows", "BaseOffer": "fresh bytes and a point", "BasePoints": "fresh points",
    "SeedHints": "seeds", "ChoicePage": "hidden choices", "CorrectionPage": "masked numbers", "CodePage": "hidden ids",
    "MaskedPage": "masked bits",
}  # fmt: skip

WORD = {"party", "class", "seed", "test"}
RELEASED: Mapping[str, set[str]] = {
    "ClassCounts": WORD | {"records", "class values"},
    "DisguisedPage": WORD | {"records", "columns", "theta", "groups"},
    "ExactCounts": {"peer columns", "peer data"}, "PackedCounts": {"peer columns", "peer data"},
    "CountShares": {"peer columns", "peer data"},
    "SentTree": {"peer copy"}, "RowsAsked": {"party"}, "RowShares": {"party"},
}  # fmt: skip
"""What is on record as released, or as brought by the peer, before these messages leave."""

LEARNED = {"entry counts learned", "entry accuracy learned", "entry itemsets learned"}
AFTER: Mapping[str, tuple[set[str], ...]] = {
    "received SentTree": ({"entry mined tree learned"},),
    "received ExactCounts": (LEARNED,),
    "received SetCounts": ({"entry itemsets learned"},),
    "received DisguisedPage": ({"entry copy learned"}, {"entry release"}),
    "received RowShares": ({"entry prediction learned"},),
    "received ModelDigest": ({"model published"}, {"state DONE"}),
    "received SignedHead": ({"entry head"},),
}
"""What is done after these before anything more leaves: of each set one."""
ANSWERED = (
    "received ClassCounts", "sent ClassCounts", "received ExactCounts", "sent ExactCounts", "received SetCounts",
)  # fmt: skip
LATER: Mapping[str, tuple[str, set[str]]] = {
    **dict.fromkeys(ANSWERED, ("saved ANSWERS", {"sent Verdict"})),
    "received DisguisedPage": ("saved COPY", {"sent Verdict", "sent DisguisedPage"}),
    **dict.fromkeys(
        ("received CommonRows", "sent CommonRows"),
        ("people", {"sent Verdict", "sent HiddenContents", "sent JointDigests"}),
    ),
}
"""What is kept after these before anything leaves but what judges it."""


def faults(log: list[Effect]) -> list[str]:
    """Return what stands in the wrong order."""
    return [fault for at, effect in enumerate(log) for fault in _faults(effect, log[:at], log[at + 1 :])]


def _faults(effect: Effect, before: list[Effect], after: list[Effect]) -> Iterator[str]:
    if effect.what == SENT:
        yield from _unrecorded(effect.kind, before)
    for wanted in AFTER.get(str(effect), ()):
        if not wanted & _until(after, set()):
            yield f"{effect}, and something leaves before any of {wanted}"
    kept, passes = LATER.get(str(effect), ("", set()))
    if kept and kept not in _until(after, passes):
        yield f"{effect}, and something leaves before {kept}"
    yield from _misused(effect, before, after)
    known = {str(each) for each in before} | _until(after, set())
    if str(effect) == "received CiphertextPage" and "saved COINS" in known - _until(after, set()):
        yield "ciphertexts are answered before they are kept"
    if str(effect) == "received ClassCounts" and not any(each.startswith("entry class counts") for each in known):
        yield "the peer's counts are judged before they are on record"
    if str(effect) == "sent SignedHead" and "entry run" in {str(each) for each in after}:
        yield "the end of a ledger is shown that does not hold the run"


def _misused(effect: Effect, before: list[Effect], after: list[Effect]) -> Iterator[str]:
    opened, pages = _openings(before)
    crossed = any(str(each) == "entry crosstab" for each in before)
    if str(effect) == "received CountShares" and crossed and "entry crosstab" not in _until(after, set()):
        yield f"{effect}, and something leaves before the table is on record"
    if not opened or effect.what != "received" or effect.kind not in pages:
        return
    if f"entry {opened[-1].kind} both" not in _until(after, set()):
        yield f"{effect}, and something leaves before what was opened is on record"
    if opened[-1].kind == "windows" and "saved ANSWERS" not in _until(after, set()):
        yield "windows are used before they are kept"
    if opened[-1].kind == "windows" and "peer copy" not in _released(before):
        yield "windows are opened before the copy that they follow from is on record"


def _openings(before: list[Effect]) -> tuple[list[Effect], set[str]]:
    """Return the entries of what was opened, of each one before and one after, and the messages that open it."""
    opened = [each for each in before if each.what == ENTRY and each.kind in ("opened", "windows")]
    return opened, {"OpenedPage", *(["CountShares"] if any(each.kind == "opened" for each in opened) else [])}


def _until(after: list[Effect], passes: set[str]) -> set[str]:
    """Return what is done before the next message leaves, or the session ends."""
    done: set[str] = set()
    for effect in after:
        if effect.what == SENT and str(effect) not in passes:
            break
        done.add(str(effect))
    return done


def _unrecorded(kind: str, before: list[Effect]) -> Iterator[str]:
    entries = [each for each in before if each.what == ENTRY]
    kinds = EACH.get(kind, set())
    told = [each for each in entries if each.kind in kinds and each.content.get("way") != "learned"]
    if kinds and len(told) <= sum(each.what == SENT and bool(EACH.get(each.kind, set()) & kinds) for each in before):
        yield f"{kind} leaves and is not on record"
    opened, pages = _openings(before)
    shown = sum(each.what == SENT and each.kind in pages for each in before)
    if opened and kind in pages and len(opened) != 2 * shown + 1:
        yield f"{kind} leaves, and that it opens something is not on record"
    if kind in ORDER_ONCE and not any(each.kind in ORDER_ONCE[kind] for each in entries):
        yield f"{kind} leaves before any of {ORDER_ONCE[kind]} is on record"
    needed = {"party"} if any(each.kind == "crosstab" for each in entries) else RELEASED.get(kind, set())
    if not needed <= _released(before):
        yield f"{kind} leaves before {needed - _released(before)} is on record as released"
    sent = [str(each) for each in before]
    if kind == "ClassCounts" and not _released(before[: len(sent) - 1 - sent[::-1].index("sent Verdict")]) >= WORD:
        yield "the word on a class leaves before its split is on record"
    guessed = [each for each in entries if each.kind == "comparison" and not each.content["same"]]
    if kind == "HiddenContents" and "received Share" in sent and sent.count("sent HiddenContents") >= len(guessed):
        yield "a comparison begins that is not on record"
    if kind == "ModelDigest" and not any(str(each) == "model kept" for each in before):
        yield "the model is confirmed and not kept"
    yield from _unaligned(kind, sent, [each.content for each in entries if each.kind == "alignment"])


def _unaligned(kind: str, sent: list[str], aligned: Sequence[Mapping[str, object]]) -> Iterator[str]:
    if kind == "ValuesPage" and not any(each["named"] for each in aligned):
        yield "who is common is revealed, which is not on record"
    named = {"received ValuesPage", "received CommonRows"} & set(sent)
    if kind in ("Verdict", "CommonRows") and named and not any(each["people"] for each in aligned):
        yield "it is judged who is common, which is not on record"
    counted = "received OpenedPage" in sent and {"sent CodePage", "received CodePage"} & set(sent)
    if kind == "SignedHead" and counted and not any(each["both"] is not None for each in aligned):
        yield "it ends with a number that is not on record"
    if kind == "ChoicePage" and {"sent CodePage", "received CodePage"} & set(sent) and not aligned:
        yield "what counts whom both list begins, and is not on record"


def _released(before: list[Effect]) -> set[str]:
    return {name for each in before if str(each) == "entry release" for name in each.content["fields"]}


# Jobs


def session_of(case: Case, job: Job, bring: Callable[[Case, str], PartyInputs] = make_local) -> dict[str, list[Effect]]:
    """Play one session and return what each side did."""
    with tempfile.TemporaryDirectory() as place, recorded() as log:
        sessions, channels = Sessions(Path(place), case, ANY_ODDS), memory_channels()

        def part(party: str, channel: PagedChannel, own: Job | None) -> None:
            folder = sessions.folder / party
            config = read_party_config(folder / "party.toml", case.terms.key_bits)
            host = Host(kept=KeptModel(lambda _: folder / "model.json"))
            with locked_folder(folder) as held, channel:
                run_session(bring(case, party), config, held, channel, own, host)

        with ThreadPoolExecutor(2) as pool:
            ends = [pool.submit(part, "alice", channels[0], None), pool.submit(part, "bob", channels[1], job)]
        for end in ends:
            end.result()
    return log


def training(**terms: object) -> dict[str, list[Effect]]:
    case = with_terms(CASE, **terms)
    return session_of(case, Train(case.terms))


def of_other_people(case: Case, party: str) -> PartyInputs:
    local = make_local(case, party)
    return replace(local, records=(*local.records[:-1], f"of {party} alone"))


def of_rules(least: Fraction | None = None, **changes: object) -> dict[str, list[Effect]]:
    usual = {"method": Method.HYBRID, "theta": Fraction(7, 10)}
    terms = rule_terms(RuleTerms(Fraction(1, 10), 3, 1000, min_threshold=least), **usual | changes)
    return session_of(replace(CASE, terms=terms), Train(terms))


def predicting(receiver: Receiver) -> dict[str, list[Effect]]:
    with tempfile.TemporaryDirectory() as place:
        offering = Offering(Path(place))
        with recorded() as log:
            ends = offering.play(receiver=receiver)
    assert not any(isinstance(end, BaseException) for end in ends)
    return log


JOBS: Mapping[str, Callable[[], dict[str, list[Effect]]]] = {
    "hybrid": lambda: training(omega=1, max_depth=2, test=Fraction(1, 5)),
    "hybrid by dot products": lambda: training(omega=1, counting=Counting.PAILLIER, max_depth=1, test=Fraction(1, 5)),
    "hybrid of all": lambda: training(omega=None, max_depth=1),
    "smc": lambda: training(method=Method.SMC, max_depth=1),
    "a tree alone": lambda: training(method=Method.SMC, reveal=Reveal.TREE, max_depth=2, test=Fraction(1, 5)),
    "a tree alone in windows": lambda: training(omega=1, reveal=Reveal.TREE, max_depth=2, test=Fraction(1, 5)),
    "a noisy tree": lambda: training(
        method=Method.SMC, reveal=Reveal.TREE, max_depth=2, noise=Fraction(1), impurity=Impurity.GINI
    ),
    "randomized": lambda: training(method=Method.RANDOMIZED),
    "a mined tree alone": lambda: training(method=Method.RANDOMIZED, reveal=Reveal.TREE, max_depth=2),
    "naive Bayes": lambda: training(method=Method.SMC, learner=Learner.NAIVE_BAYES, test=Fraction(1, 5)),
    "rules": of_rules,
    "sets alone": lambda: of_rules(Fraction(1, 2), method=Method.SMC, reveal=Reveal.SETS),
    "an alignment": lambda: session_of(CASE, Align(), of_other_people),
    "a count of common people": lambda: session_of(CASE, Align(count_only=True), of_other_people),
    "a table": lambda: session_of(CASE, Crosstab(CrosstabTerms("b0", "a0", None))),
    "a prediction for both": lambda: predicting(Receiver.BOTH),
    "a prediction for one": lambda: predicting(Receiver.RESPONDER),
}


HARMLESS = {
    *(("entry comparison", f"sent {kind}") for kind in ("Verdict", "RowsShare", "SignedHead", "HintPage")),
    ("entry release", "sent PeopleOffer"),
    *(("entry release", f"sent {kind}") for kind in ("Verdict", "BaseOffer")),
    *(("entry answers", f"sent {kind}") for kind in ("ChoicePage", "CorrectionPage", "MaskedPage")),
    ("saved COPY", "sent Verdict"),
}
"""That both were found to hold the same is written when it is known, and that lists differed when an alignment is on
record; with whom we predict, before anything is asked; an offer of points holds no record, and
a word on how many sets we have of our own items follows from no copy. What was not kept of a tree
is opened again, and is the same, noise included; what a word on its class is said of, `test_releases_of_trees` holds.
"""


def unseen_swaps(log: list[Effect]) -> set[tuple[str, str]]:
    """Return the records that may stand after the message that they precede; of such that look the same, the last."""
    swaps = {(str(first), str(second)): at for at, (first, second) in enumerate(pairwise(log)) if second.what == SENT}
    return {
        words
        for words, at in swaps.items()
        if log[at].what not in (SENT, RECEIVED)
        and words[0] != "state OPEN"
        and not _has_fault([*log[:at], log[at + 1], log[at], *log[at + 2 :]], at)
    }


def _has_fault(log: list[Effect], near: int) -> bool:
    places = (*range(near, len(log)), *range(near))
    return any(fault for at in places for fault in _faults(log[at], log[:at], log[at + 1 :]))


def test_what_is_revealed_is_on_record_before_it_leaves_a_swap_is_seen_and_no_mask_serves_twice() -> None:
    tables = [set(EACH), set(ORDER_ONCE), set(NOTHING)]
    kinds = {each.__name__ for each in {*Message.__subclasses__(), *Joinable.__subclasses__()} - {Joinable}}
    assert set.union(*tables) == kinds
    assert sum(map(len, tables)) == len(kinds)
    sent = set()
    hiding = [name for name in JOBS if "dot products" not in name and not {"randomized", "mined"} & {*name.split()}]
    looked_at = few(hiding, 4)
    for job, play in JOBS.items():
        with pytest.MonkeyPatch.context() as patched:
            recorder = MaskRecorder(patched) if job in looked_at else None
            logs = play()
        if recorder is not None:
            assert 1 <= recorder.offsets <= 2, job  # one for each direction that is used
            assert recorder.times() == ONCE, job
        for log in logs.values():
            assert faults(log) == [], job
            assert unseen_swaps(log) <= HARMLESS, job
            sent |= {effect.kind for effect in log if effect.what == SENT}
    assert sent == kinds - {"LostAnswers"}  # which a run that goes on sends (test_going_on)


Killing = Callable[[str, int], list[int]]
"""Plays a session in which a party is killed before its n-th message; returns how many messages each has sent."""


def meeting(own: Sessions, job: Job) -> Killing:
    def play(killed: str, at: int) -> list[int]:
        one = Meeting(own, killed, at, job=job)
        ends = one.play()
        assert not killed or isinstance(ends[killed], Killed)
        return [len(one.sent[name]) for name in NAMES]

    return play


def masks_predicting(folder: Path) -> Killing:
    pair = Offering(folder)

    def play(killed: str, at: int) -> list[int]:
        pair.killed, pair.at = killed, at
        ends = dict(zip(NAMES, pair.play(), strict=True))
        assert not killed or isinstance(ends[killed], offering.Killed)
        return [pair.sent[name] for name in NAMES]

    return play


def masks_training(folder: Path, way: str) -> Killing:
    case = with_terms(CASE, **CASES[way])
    return meeting(Sessions(folder, case, ANY_ODDS), Train(case.terms))


class OfOtherPeople(Sessions):
    """Each lists a person whom the other does not."""

    def local(self, party: str) -> PartyInputs:
        return replace(super().local(party), records=of_other_people(self.case, party).records)


RUNS: dict[str, Callable[[Path], Killing]] = {
    "hybrid": lambda folder: masks_training(folder, "windows"),
    "smc": lambda folder: masks_training(folder, "smc"),
    "naive Bayes": lambda folder: masks_training(folder, "naive Bayes"),
    "an alignment": lambda folder: meeting(OfOtherPeople(folder, CASE, 'least_overlap = "1/2"\n'), Align()),
    "a table": lambda folder: meeting(
        Sessions(folder, CASE, 'epsilon = "1"\n'), Crosstab(CrosstabTerms("b0", "a0", Fraction(1)))
    ),
    "a prediction": masks_predicting,
}


def draw_as_before(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these parties' chance be the same in each session, as that of machines that are put back."""
    bring = make_local

    def brought(case: Case, party: str) -> PartyInputs:
        local = bring(case, party)
        if party not in names:
            return local
        return replace(local, secrets=replace(local.secrets, randomness=Chance(NAMES.index(party))))

    monkeypatch.setattr(sessions, "make_local", brought)


def kill_twice_and_go_on(folder: Path, run: str) -> None:
    for name in ("rehearsal", "run"):
        (folder / name).mkdir()
    alice, bob = RUNS[run](folder / "rehearsal")("", -1)
    play = RUNS[run](folder / "run")
    play("alice", alice * 2 // 3)
    play("bob", bob * 2 // 3)
    play("", -1)


@pytest.mark.parametrize("run", few([*RUNS], 4))
def test_no_mask_serves_twice_where_a_run_is_killed_and_goes_on_from_a_machine_that_was_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    recorder = MaskRecorder(monkeypatch)
    draw_as_before(monkeypatch, "alice")
    kill_twice_and_go_on(tmp_path, run)
    assert recorder.offsets >= 2
    assert recorder.times() <= ONCE | ALONE


@pytest.mark.parametrize("run", few([*RUNS], 6))
def test_were_both_put_back_masks_would_serve_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    """The control, with names of sessions that come again; one party alone cannot bring it about."""
    recorder = MaskRecorder(monkeypatch)
    draw_as_before(monkeypatch, *NAMES)
    kill_twice_and_go_on(tmp_path, run)
    assert not recorder.times() <= ONCE | ALONE
