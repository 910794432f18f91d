"""The driver of a session opens a job and plays it, whatever kind of job it is."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from party.data import read_frame
from party.errors import ConfigError, IdentityError, PausedError, PeerLostError, RunCancelledError
from party.files import locked_folder
from party.keys.identity import CERTIFICATE_FILE, KEY_FILE, make_identity
from party.models.any_file import write_model
from party.node import session
from party.node.aligning import Offer, Offers, load_offer, offer_of_settings
from party.node.creation import create_party
from party.node.inputs import load_inputs, pinned_peer
from party.node.players import Session
from party.node.runs import SessionRuns
from party.node.session import Report, run_session
from party.records.journal import Journal, cancel_run, open_journal
from party.records.ledger import PeerEntries, PeerName, open_ledger, read_ledger
from party.settings.party import PartyConfig, read_party_config
from party.transport.channel import PagedChannel, Watchers, drive
from protocols.errors import NotApprovedError, PeerError
from protocols.jobs import Job, Predict, PredictionTerms, Receiver, Train
from protocols.learning.model import Model
from protocols.messages import ModelDigest, Verdict
from protocols.randomness import keyed_digest
from protocols.role import Message, Phase, Progress, Role, exchange
from protocols.terms import Method
from protocols.two_party.agreement import Opening
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES
from tests.party.models.test_bayes_file import small_bayes
from tests.support import sessions
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.models import small_model
from tests.support.parties import Case, make_local, make_terms
from tests.support.sessions import ANY_ODDS, NAMES, Sessions, make_acquaintance, with_terms

CASE = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 60),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(method=Method.SMC),
)
JOB = Train(CASE.terms)


def compare_notes(opening: Opening) -> Role[tuple[Job, bytes]]:
    """Play a kind of job that nobody knows: exchange one message."""
    yield Progress(Phase.COPIES, 1, 1)
    theirs = yield from exchange(ModelDigest(keyed_digest(opening.nonces)))
    return opening.job, theirs.digest


def strange_player(opening: Opening, session: Session) -> tuple[Job, bytes]:
    return drive(compare_notes(opening), session.channel, Watchers(session.host.on_progress))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_acquaintance(tmp_path, CASE.terms.key_bits)
    monkeypatch.setattr(session, "play_job", strange_player)
    return tmp_path


def play_both(folder: Path) -> tuple[Future[Report], Future[Report]]:
    """Play a session, and return how it ended for Alice and for Bob, who opens it."""

    def take_part(party: str, channel: PagedChannel, job: Job | None) -> Report:
        config = read_party_config(folder / party / "party.toml", CASE.terms.key_bits)
        with locked_folder(folder / party) as held, channel:
            return run_session(make_local(CASE, party), config, held, channel, job)

    ours, theirs = memory_channels()
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(take_part, "alice", ours, None), pool.submit(take_part, "bob", theirs, JOB)


def test_the_driver_returns_what_the_player_of_the_job_ends_with(folder: Path) -> None:
    first, second = (end.result() for end in play_both(folder))
    ended: Any = first.ended
    assert ended == second.ended
    assert ended[0] == JOB
    assert [set(report.phases) for report in (first, second)] == [{Phase.COPIES}] * 2
    assert first.traffic.bytes_sent == second.traffic.bytes_received > 0


def test_the_end_of_a_ledger_that_another_key_has_signed_is_refused_and_not_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recording(opening: Opening, session: Session) -> tuple[Job, bytes]:
        session.memory.note_peer(opening.job)  # of an empty ledger nothing is signed
        return strange_player(opening, session)

    monkeypatch.setattr(session, "play_job", recording)
    another = make_identity("bob", ["localhost"])
    (folder / "bob" / KEY_FILE).write_bytes(another.key_pem)
    (folder / "bob" / CERTIFICATE_FILE).write_bytes(another.pem)
    alice, _ = play_both(folder)
    with pytest.raises(PeerError, match="bob has not signed the end of its ledger with the key that we trust"):
        alice.result()
    with read_ledger(folder / "alice", make_local(CASE, "alice").secrets.coins) as ledger:
        assert not [entry for entry in ledger.entries() if entry.content.get("signature")]


SECRET = bytes(range(32))
RUNS_JOB = Train(make_terms(omega=1))
CONTENTS, NONCES = b"all that must be the same", bytes(32)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[SessionRuns]:
    """Return the runs of a session in which one has begun."""
    with (
        locked_folder(tmp_path) as held,
        open_ledger(held, SECRET) as ledger,
        open_journal(tmp_path, SECRET) as journal,
    ):
        begun = in_a_session(journal, PeerEntries(ledger, PeerName("bob", "B0B0")))
        begun.enter(RUNS_JOB, CONTENTS, NONCES)
        yield begun


def in_a_session(journal: Journal, pages: PeerEntries) -> SessionRuns:
    return SessionRuns(journal, pages, "visits", asked=RUNS_JOB)


def in_the_next_session(runs: SessionRuns) -> SessionRuns:
    return in_a_session(runs.journal, runs.entries)


def test_a_run_goes_on_with_the_contents_that_it_began_on_alone(runs: SessionRuns) -> None:
    later = in_the_next_session(runs)
    assert later.open_runs(RUNS_JOB).same.hex() == runs.at_work
    assert later.judge(CONTENTS) is None
    objection = later.judge(b"others")
    assert objection is not None
    assert f"run {runs.at_work} with bob began on other data or settings" in objection.reason


def test_a_job_on_other_terms_is_objected_to_by_the_first_term_that_differs(runs: SessionRuns) -> None:
    other = in_the_next_session(runs).open_runs(Train(replace(RUNS_JOB.terms, omega=2))).other
    assert other is not None
    assert f"run {runs.at_work} with bob on other terms (omega) has not ended" in other.reason


def test_a_run_that_is_cancelled_in_the_middle_of_a_phase_stops_there(runs: SessionRuns) -> None:
    runs.follow(Progress(Phase.TREE, 1, 2))
    runs.follow(Progress(Phase.TREE, 1, 2))
    cancel_run(runs.journal, str(runs.at_work), runs.entries.date())
    with pytest.raises(RunCancelledError):
        runs.follow(Progress(Phase.TREE, 2, 2))


def test_a_lost_peer_pauses_a_run_that_has_begun_and_no_other(runs: SessionRuns) -> None:
    lost = PeerLostError("bob is gone")
    with pytest.raises(PausedError, match=f"run {runs.at_work} is paused") as paused, runs.watched():
        raise lost
    assert paused.value.__cause__ is lost
    with pytest.raises(PeerLostError) as before_any, in_the_next_session(runs).watched():
        raise lost
    assert before_any.value is lost
    runs.done()
    runs.settled()
    with pytest.raises(PeerLostError) as after_it, runs.watched():
        raise lost
    assert after_it.value is lost


BITS = 512
SETTINGS = 'name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[agree]\nsmallest_key_bits = 512\n'
ROWS = "id,age,sex\n" + "".join(f"p{row},{20 + row % 2},{'fm'[row % 2]}\n" for row in range(40))


@pytest.fixture(scope="module")
def inputs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "alice"
    create_party(made, "alice", ["localhost"], BITS, {"party.toml": SETTINGS}, floor_bits=BITS)
    (made / "t.csv").write_text(ROWS)
    return made


def load(inputs_folder: Path, disguise: str, settings: str = SETTINGS) -> PartyInputs:
    (inputs_folder / "party.toml").write_text(f"{settings}{disguise}")
    return load_inputs(read_party_config(inputs_folder / "party.toml", BITS), BITS)


def test_each_column_has_a_coin_of_its_own_unless_groups_are_named(inputs_folder: Path) -> None:
    assert load(inputs_folder, "").groups == ((0,), (1,))
    assert load(inputs_folder, '[disguise]\nplain = ["age"]\n').groups == ((1,),)
    assert load(inputs_folder, "[disguise]\ngroups = 1\n").groups == ((0, 1),)


def test_groups_that_name_every_column_once_are_taken_as_they_are(inputs_folder: Path) -> None:
    assert load(inputs_folder, '[disguise]\ngroups = [["sex"], ["age"]]\n').groups == ((1,), (0,))
    assert load(inputs_folder, '[disguise]\ngroups = [["sex"]]\nplain = ["age"]\n').groups == ((1,),)


@pytest.mark.parametrize(
    "disguise",
    ['groups = [["agee", "sex"], ["age"]]', 'groups = [["age", "sex"]]\nplain = ["agee"]', 'plain = ["agee"]'],
)
def test_a_disguise_of_a_column_that_the_data_lack_is_refused(inputs_folder: Path, disguise: str) -> None:
    with pytest.raises(ConfigError, match=r"lists column 'agee', but t\.csv has no such attribute; did you mean"):
        load(inputs_folder, f"[disguise]\n{disguise}\n")


def test_a_column_in_no_group_is_refused_and_not_left_undisguised(inputs_folder: Path) -> None:
    with pytest.raises(ConfigError, match="disguise puts the column 'age' in no group; list it, or as plain"):
        load(inputs_folder, '[disguise]\ngroups = [["sex"]]\n')


def test_a_file_of_data_that_is_not_there_is_named_with_the_setting_that_names_it(inputs_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"party\.toml: \[data\] file: .*gone\.csv does not exist"):
        load(inputs_folder, "", SETTINGS.replace("t.csv", "gone.csv"))


def test_keys_are_made_as_agreed_and_never_over_others(tmp_path: Path) -> None:
    for bits in (2047, 16385):
        with pytest.raises(IdentityError, match="the key must have 2048 to 16384 bits"):
            create_party(tmp_path / "alice", "alice", ["localhost"], bits, {}, floor_bits=2048)
        assert not (tmp_path / "alice").exists()
    (tmp_path / "party.toml").write_text("mine")
    with pytest.raises(IdentityError, match=r"party\.toml exists and is kept"):
        create_party(tmp_path, "alice", ["localhost"], 2048, {"party.toml": ""}, floor_bits=2048)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("party.toml", "mine")]
    path = tmp_path / "party.toml"
    path.write_text('name = "alice"\n[data]\nfile = "t.csv"\nid = "id"\n[node]\npeer = "bob"\n')
    with pytest.raises(ConfigError, match="the certificate of bob is not trusted yet"):
        pinned_peer(read_party_config(path))


def asked(model: Model, *, probabilities: bool = False) -> Predict:
    return Predict(PredictionTerms(model.digest(), next(iter(Receiver)), probabilities))


def offers(inputs_folder: Path, model: Model) -> Offers:
    path = inputs_folder / "rows.csv"
    path.write_text("id,age\n1,30\n")
    rows = SharedRows(model, ("1",), np.zeros((1, len(model.schema.attributes)), np.uint8))
    return Offers(lambda: Offer(read_frame(path), (0,), rows, (), ()))


@pytest.mark.parametrize(
    ("mine", "wanted", "probabilities", "field"),
    [
        (small_model(), small_model(), False, None),
        (small_model(), small_model(), True, None),
        (small_bayes(), small_bayes(), False, None),
        (small_bayes(), small_bayes(), True, "probabilities"),
        (small_model(), small_bayes(), False, "model"),
    ],
)
def test_a_prediction_by_another_model_or_of_shares_that_it_lacks_is_objected_to(
    tmp_path: Path, mine: Model, wanted: Model, probabilities: bool, field: str | None
) -> None:
    objection = offers(tmp_path, mine).judge_job(asked(wanted, probabilities=probabilities))
    assert (None if objection is None else objection.field) == field
    assert field != "probabilities" or (objection is not None and objection.reason == NO_SHARES)


def test_who_offers_no_rows_objects_to_a_prediction() -> None:
    objection = Offers().judge_job(asked(small_model()))
    assert objection is not None
    assert (objection.field, objection.reason) == ("rows", "there are no rows to classify here: name a file with some")


def config(inputs_folder: Path, name: str, data: str = "") -> PartyConfig:
    path = inputs_folder / "party.toml"
    path.write_text(f'name = "{name}"\n[data]\nfile = "rows.csv"\nid = "id"\n{data}[node]\npeer = "bob"\n')
    return read_party_config(path)


def test_settings_that_name_no_rows_offer_none_and_say_where_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"\[predict\] rows: names no file: name one, then start `cotally serve` again"
    ):
        offer_of_settings(config(tmp_path, "alice"))


def test_rows_are_read_by_the_markers_that_the_model_was_trained_with_whatever_the_settings_say_now(
    tmp_path: Path,
) -> None:
    model = tmp_path / "model.json"
    write_model(model, small_model())
    (tmp_path / "rows.csv").write_text("id,alice.age,city\n1,<= 40,n/a\n2,<= 40,Oslo\n3,-,Oslo\n")
    for data in ("", 'missing = ["Oslo"]\n'):
        codes = load_offer(config(tmp_path, "alice", data), model, tmp_path / "rows.csv").shared.codes
        assert codes[:, :2].tolist() == [[0, 2], [0, 1], [2, 1]]


def test_a_model_that_reads_columns_of_a_third_party_is_named_before_the_rows_are_read(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    write_model(model, small_model())
    (tmp_path / "rows.csv").write_text("id,alice.age,city\n1,<= 40,Oslo\n")
    assert load_offer(config(tmp_path, "alice"), model, tmp_path / "rows.csv").shared.people == ("1",)
    with pytest.raises(ConfigError, match=r"model\.json: the model reads columns of others than carol and bob: bring"):
        load_offer(config(tmp_path, "carol"), model, tmp_path / "rows.csv")


@pytest.mark.parametrize("who", NAMES)
def test_what_people_decide_is_heard_where_a_job_is_judged_and_is_the_peers_fault_anywhere_else(
    tmp_path: Path, who: str
) -> None:
    """The steps: job, ledgers, list, columns, table, two on the class, copies, and one that there is not."""
    for word in ("approval", "proposal"):
        steps = range(9) if word == "approval" else (0, 4)
        ends = {step: says(Sessions(tmp_path / f"{word}-{step}", SHALLOW, ANY_ODDS), who, word, step) for step in steps}
        heard = {0, 2, 4} if word != "proposal" else {0} if who == "bob" else set()
        late = f"the peer sends {word!r}, on which people decide, at a step where nobody is asked"
        assert {step for step in steps if isinstance(ends[step], NotApprovedError)} == heard, word
        assert {step for step in steps if str(ends[step]).startswith(late)} == {*steps} - heard - {8}, word
        assert ends.get(8) is None, word


SHALLOW = with_terms(sessions.CASE, max_depth=1)


def says(played: Sessions, who: str, word: str, step: int) -> BaseException | None:
    """Return what the other party's session ends with if one, played honestly otherwise, says a word at a verdict."""
    channels, said = dict(zip(NAMES, memory_channels(), strict=True)), count()
    send = channels[who].send

    def changed(message: Message) -> None:
        send(Verdict(word) if isinstance(message, Verdict) and next(said) == step else message)

    channels[who].send = changed  # type: ignore[method-assign]
    jobs = {"alice": None, "bob": Train(played.case.terms)}
    with ThreadPoolExecutor(2) as pool:
        ends = {name: pool.submit(played._take_part, name, channels[name], jobs[name]) for name in NAMES}
    (other,) = set(NAMES) - {who}
    return ends[other].exception()
