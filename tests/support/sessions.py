"""Two parties with real folders, whose sessions run in one process: ledgers and records are files, the line is not."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from party.errors import PeerStoppedError
from party.files import locked_folder
from party.node.players import Host, Trained
from party.node.session import Report, run_session
from party.records.ledger import Calendar, Ledger, now, read_ledger
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from protocols.jobs import Job, Train
from protocols.kinds import values_of
from protocols.terms import Terms
from protocols.two_party.inputs import PartyInputs
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.parties import Case, make_local, make_terms, terms_of
from tests.support.rpc import make_parties

NAMES = ("alice", "bob")
CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 80, seed=1, flips=0.5),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(7, 10), omega=1),
)
UNBOUNDED = {"most_bits": 'most_bits = "any"\n', "most_runs": 'most_runs = "any"\n'}
ANY_ODDS = 'odds = "any"\n'


def make_acquaintance(folder: Path, key_bits: int, agree: str = "") -> None:
    """Make two folders with certificates, each trusting the other, and settings that allow small keys."""
    make_parties(folder)
    for party in NAMES:
        agreed = f"[agree]\nsmallest_key_bits = {key_bits}\nmin_leaf = 1\nexact_counts = true\n"
        agreed += "".join(line for key, line in UNBOUNDED.items() if key not in agree) + agree
        settings = f'name = "{party}"\n[data]\nfile = "data.csv"\nid = "id"\n{agreed}'
        (folder / party / "party.toml").write_text(settings)


@dataclass
class Sessions:
    """Two parties of a case; Bob opens each session."""

    folder: Path
    case: Case
    agree: str = ""
    clocks: dict[str, Calendar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.folder / "alice").exists():
            bounded = self.case.terms.noises_tree and "epsilon" not in self.agree
            agree = self.agree + ('epsilon = "1000"\n' if bounded else "")
            make_acquaintance(self.folder, self.case.terms.key_bits, agree)

    def local(self, party: str) -> PartyInputs:
        """Return what a party brings."""
        return make_local(self.case, party)

    def ledger(self, party: str) -> Ledger:
        """Read a party's ledger."""
        return read_ledger(self.folder / party, self.local(party).secrets.coins)

    def run(self, asked: Terms | Job | None = None) -> tuple[Report, Report]:
        """Play a session and return both reports; the first error that is not about the other's end is raised."""
        ours, theirs = memory_channels()
        with ThreadPoolExecutor(1) as pool:
            bob = pool.submit(self._take_part, "bob", theirs, self._job(asked))
            try:
                alice = self._take_part("alice", ours, None)
            except PeerStoppedError:
                bob.result()
                raise
            return alice, bob.result()

    def _job(self, asked: Terms | Job | None) -> Job:
        return Train(asked or self.case.terms) if isinstance(asked, Terms | None) else asked

    def _take_part(self, party: str, channel: PagedChannel, job: Job | None) -> Report:
        folder = self.folder / party
        config = read_party_config(folder / "party.toml", self.case.terms.key_bits)
        with locked_folder(folder) as held, channel:
            return run_session(self.local(party), config, held, channel, job, Host(clock=self.clocks.get(party, now)))

    def both_errors(self, asked: Terms | Job | None = None) -> list[BaseException | None]:
        """Play a session and return what each side raised, Alice first."""
        ours, theirs = memory_channels()
        with ThreadPoolExecutor(2) as pool:
            alice = pool.submit(self._take_part, "alice", ours, None)
            bob = pool.submit(self._take_part, "bob", theirs, self._job(asked))
            return [alice.exception(), bob.exception()]


def trained(report: Report) -> Trained:
    """Return what a run that trained ended with."""
    assert isinstance(report.ended, Trained)
    return report.ended


def with_terms(case: Case, **changes: object) -> Case:
    """Return a case with other terms."""
    return replace(case, terms=terms_of(values_of(case.terms) | changes))


def contents(sessions: Sessions, party: str) -> list[dict[str, Any]]:
    """Return what a party's ledger holds."""
    with sessions.ledger(party) as ledger:
        return [dict(entry.content) for entry in ledger.entries()]


def of_kind(entries: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the entries of a kind."""
    return [entry for entry in entries if entry["kind"] == kind]
