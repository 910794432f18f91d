"""What really crosses: every frame of real sessions over mutual TLS, read back byte for byte."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest

from party.errors import DataError
from party.files import locked_folder
from party.keys.identity import load_identity, load_peers
from party.node.inputs import load_inputs
from party.node.session import Report, run_session
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel, Recording
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.wire.codec import decode
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CiphertextPage,
    ClassCounts,
    CodePage,
    CommonRows,
    CorrectionPage,
    CountShares,
    DisguisedPage,
    ExactCounts,
    Greeting,
    HiddenContents,
    HintPage,
    HolderKey,
    IdList,
    JointDigests,
    KeptParts,
    LostAnswers,
    MaskedPage,
    MemoryHeads,
    ModelDigest,
    OpenedPage,
    PackedCounts,
    PeopleOffer,
    RowsAsked,
    RowShares,
    RowsShare,
    SeedHints,
    SentTree,
    SetCounts,
    Share,
    SignedHead,
    TableCommitment,
    ValuesPage,
    Verdict,
)
from protocols.role import Joinable, Message
from tests.support.examples import few
from tests.support.processes import BITS, Pair, make_pair
from tests.support.sessions import trained

CANARY = "CANARY-7f3a91"
AGREEMENT: set[type[Message]] = {
    Greeting, MemoryHeads, KeptParts, LostAnswers, PeopleOffer, HiddenContents, JointDigests, Share, TableCommitment,
    Verdict, ClassCounts, ModelDigest, SignedHead,
}  # fmt: skip
OF_OTHER_JOBS: set[type[Message]] = {
    IdList, CodePage, HintPage, MaskedPage, OpenedPage, ValuesPage, CommonRows,
    RowsShare, RowsAsked, RowShares, SetCounts,
}  # fmt: skip
BASE: set[type[Message]] = {BaseOffer, BasePoints, SeedHints}
WAYS: dict[str, tuple[set[type[Message]], set[type[Message]]]] = {
    # how exact counts are made: what who chooses or holds the key may send, what the other may send
    "oblivious_transfer": (BASE | {ChoicePage, ExactCounts}, BASE | {CorrectionPage, CountShares}),
    "paillier": ({HolderKey, CiphertextPage, ExactCounts}, {PackedCounts}),
}
METHODS: dict[str, set[type[Message]]] = {
    "hybrid": BASE | {DisguisedPage, ChoicePage, CorrectionPage, MaskedPage, OpenedPage},
    "smc": set(), "randomized": {DisguisedPage},
}  # fmt: skip
TESTED: set[type[Message]] = {ChoicePage, CorrectionPage, MaskedPage}
"""Classes are compared by gates on shared bits."""


@dataclass
class Crossed:
    """Both sides' reports and frames of one session."""

    reports: dict[str, Report] = field(default_factory=dict)
    recordings: dict[str, Recording] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)


def play_session(pair: Pair, **changes: object) -> Crossed:
    crossed = Crossed()
    job = read_job(pair.write_job(**changes), BITS)
    configs = {name: read_party_config(pair.folder / name / "party.toml", BITS) for name in ("alice", "bob")}
    identities = {name: load_identity(pair.folder / name) for name in configs}
    peers = {name: load_peers(pair.folder / name) for name in configs}

    def take_part(name: str, open_channel: Callable[[], PagedChannel]) -> None:
        try:
            local = load_inputs(configs[name], BITS)
            with locked_folder(configs[name].folder) as held, open_channel() as channel:
                channel.recording = crossed.recordings[name] = Recording()
                own = job if name == "bob" else None
                crossed.reports[name] = run_session(local, configs[name], held, channel, own)
        except BaseException as error:  # noqa: BLE001  # for the test to look at
            crossed.errors.append(error)

    with NodeServer.listen(identities["alice"], [peers["alice"]["bob"]], "127.0.0.1:0") as server:
        threads = [
            threading.Thread(target=take_part, args=("alice", server.accept)),
            threading.Thread(
                target=take_part,
                args=("bob", lambda: connect(identities["bob"], peers["bob"]["alice"], server.address)),
            ),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert not crossed.errors, crossed.errors
    return crossed


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    """Return parties whose ids, and a column that is ignored, hold a canary."""
    rows = [["xyz"[i % 3], "uvw"[i // 3 % 3], "yn"[i * i % 5 % 2], CANARY + str(i)] for i in range(160)]
    other = [["rst"[i % 7 % 3], "pq"[i // 2 % 2], CANARY + str(i)] for i in range(160)]
    pair = make_pair(
        trusting, tmp_path / "parties", (["a", "b", "class", "secret"], rows), (["c", "d", "private"], other)
    )
    for party, column in (("alice", "secret"), ("bob", "private")):
        pair.edit(party, "# ignore = []", f'ignore = ["{column}"]')
        path = pair.folder / party / "data.csv"
        path.write_text(path.read_text().replace("\np", f"\n{CANARY}-id-"))
    return pair


def first_side(crossed: Crossed) -> str:
    """Return who holds the key, or chooses: bob, who lacks the class."""
    key = trained(crossed.reports["alice"]).outcome.key
    return "bob" if key is None else key.holder


@pytest.mark.parametrize(("counting", "method"), few(list(product(WAYS, METHODS)), 2))
def test_a_run_sends_only_the_kinds_of_its_method_and_no_private_cell_or_id(
    pair: Pair, method: str, counting: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    crossed = play_session(pair, method=method, counting=counting, omega=2)
    for name, recording in crossed.recordings.items():
        counts = WAYS[counting][0 if name == first_side(crossed) else 1] if method != "randomized" else {SentTree}
        allowed = AGREEMENT | METHODS[method] | counts
        assert {type(decode(frame, Message)) for frame in recording.sent} <= allowed
        for frame in (*recording.sent, *recording.received):
            assert CANARY.encode() not in frame
    assert crossed.recordings["alice"].sent == crossed.recordings["bob"].received
    assert crossed.recordings["bob"].sent == crossed.recordings["alice"].received
    assert CANARY not in caplog.text
    assert trained(crossed.reports["alice"]).outcome.model == trained(crossed.reports["bob"]).outcome.model


def test_naive_bayes_sends_what_counts_alone_and_no_private_cell_or_id(pair: Pair) -> None:
    crossed = play_session(pair, method="smc", learner="naive_bayes")
    outcome = trained(crossed.reports["alice"]).outcome
    assert isinstance(outcome.model, NaiveBayes)
    assert outcome.correct == trained(crossed.reports["bob"]).outcome.correct is not None
    for name, recording in crossed.recordings.items():
        counts = WAYS["oblivious_transfer"][name == "alice"] | TESTED
        assert {type(decode(frame, Message)) for frame in recording.sent} <= AGREEMENT | METHODS["smc"] | counts
        assert not any(CANARY.encode() in frame for frame in (*recording.sent, *recording.received))


@pytest.mark.parametrize(
    ("counting", "kind"), few([("oblivious_transfer", ChoicePage), ("paillier", CiphertextPage)], 2)
)
def test_a_second_run_releases_the_same_disguised_copy_and_all_else_is_fresh(
    pair: Pair, counting: str, kind: type[Message]
) -> None:
    first, second = (play_session(pair, omega=1, counting=counting) for _ in range(2))
    for name in ("alice", "bob"):
        copies = [_of_kind(crossed.recordings[name], DisguisedPage) for crossed in (first, second)]
        assert copies[0] == copies[1] != []
    pages = [set(_of_kind(crossed.recordings[first_side(first)], kind)) for crossed in (first, second)]
    assert pages[0]
    assert not pages[0] & pages[1]


def test_the_frames_cannot_hide_a_kind_that_this_table_leaves_out() -> None:
    listed = {kind for both in WAYS.values() for kinds in both for kind in kinds} | AGREEMENT | {SentTree}
    listed |= {kind for kinds in METHODS.values() for kind in kinds}
    assert listed | TESTED | OF_OTHER_JOBS == {*Message.__subclasses__(), *Joinable.__subclasses__()} - {Joinable}


E_MAIL = "person{}@mail.example"


def directory(trusting: Path, tmp_path: Path, mails: list[str]) -> Pair:
    """Return parties of which Alice, by the README's settings, holds a column of e-mail addresses."""
    rows = [[mails[i], "xyz"[i % 3], "yn"[i % 2]] for i in range(300)]
    other = [["rst"[i % 7 % 3]] for i in range(300)]
    pair = make_pair(trusting, tmp_path / "parties", (["mail", "a", "class"], rows), (["c"], other))
    pair.edit("alice", '# "*" = { max_values = 16 }', '"*" = { max_values = 4 }')
    return pair


def test_a_column_of_e_mail_addresses_is_refused_before_anybody_is_called(trusting: Path, tmp_path: Path) -> None:
    pair = directory(trusting, tmp_path, [E_MAIL.format(i) for i in range(300)])
    config = read_party_config(pair.alice / "party.toml", BITS)
    with pytest.raises(DataError, match=r"column 'mail': list it under ignore: 300 of its 300 cells differ"):
        load_inputs(config, BITS)


def test_of_e_mail_addresses_none_that_few_records_hold_reaches_the_peer(trusting: Path, tmp_path: Path) -> None:
    """One person in three shares an address of the house; the others have one that occurs up to seven times."""
    mails = [E_MAIL.format("al") if i % 3 == 0 else E_MAIL.format(i % 48) for i in range(300)]
    pair = directory(trusting, tmp_path, mails)
    crossed = play_session(pair, omega=1)
    (share,) = [decode(f, Share) for f in crossed.recordings["bob"].received if isinstance(decode(f, Message), Share)]
    assert isinstance(share, Share)
    assert [column.values for column in share.attributes] == [(E_MAIL.format("al"), "other"), ("x", "y", "z")]
    for frame in crossed.recordings["bob"].received:
        assert not [i for i in range(48) if E_MAIL.format(i).encode() in frame]


def _of_kind(recording: Recording, kind: type[Message]) -> list[bytes]:
    return [frame for frame in recording.sent if isinstance(decode(frame, Message), kind)]


def test_the_canary_is_where_it_was_planted(pair: Pair) -> None:
    for party in (pair.alice, pair.bob):
        assert CANARY in Path(party / "data.csv").read_text()
