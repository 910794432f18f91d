"""Two folders whose sessions classify rows together: ledgers, settings and rows are files, the line is not."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from party.files import locked_folder
from party.models.any_file import write_model
from party.node.aligning import Offers, load_offer
from party.node.players import Host, Predicted
from party.node.session import run_session
from party.records.json_codec import to_json
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.records.ledger_entries import ModelEntry, NamedClass, NamedColumn, RunEntry
from party.records.tally import Dealings, dealings
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from protocols.errors import DisagreementError
from protocols.facts import Way
from protocols.jobs import Job, Predict, PredictionTerms, Receiver
from protocols.learning.model import Model
from protocols.learning.naive_bayes import bayes_of_counts
from protocols.learning.tree import Leaf, Split, Tree
from protocols.role import Message
from protocols.tables import Attribute, Schema
from protocols.terms import Terms
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.parties import TEST_BITS, Case, make_terms
from tests.support.sessions import Sessions


class Killed(BaseException):
    """The process ends."""


CASE = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("alice",),
    classes=2,
    codes=correlated((2, 2, 2), 20),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(),
)
SCHEMA = Schema(
    (Attribute("alice", "age", ("old", "young")), Attribute("bob", "city", ("Oslo", "Rome", "missing"))),
    Attribute("", "outcome", ("no", "yes")),
    (),
)
TREE = Tree(
    SCHEMA, Split((9, 6), 1, (Split((5, 3), 0, (Leaf((4, 0), 0), Leaf((1, 3), 1))), Leaf((0, 3), 1), Leaf((4, 0), 0)))
)
BAYES = bayes_of_counts(SCHEMA, (9, 6), (np.array([[7, 2], [2, 4]]), np.array([[2, 3], [3, 2], [4, 1]])))
_COLUMNS = tuple(NamedColumn(f"{each.party}.{each.name}", each.values) for each in SCHEMA.attributes)
_CLASS = NamedClass(SCHEMA.class_attribute.values, SCHEMA.class_owners)
AGES = {"p1": "old", "p2": "young", "p3": "old", "p4": "young"}
CITIES = {"p4": "Oslo", "p3": "Rome", "p2": "Oslo", "p1": ""}
EXPECTED = {"p1": "no", "p2": "yes", "p3": "yes", "p4": "yes"}


@dataclass
class Offering:
    """Bob opens and, unless told otherwise, learns; `killed` ends before it sends its message number `at`."""

    folder: Path
    agree: str = ""
    ages: dict[str, str] = field(default_factory=lambda: dict(AGES))
    cities: dict[str, str] = field(default_factory=lambda: dict(CITIES))
    models: dict[str, Model] = field(default_factory=lambda: {"alice": TREE, "bob": TREE})
    killed: str = ""
    at: int = -1
    made_by: Terms = CASE.terms
    sent: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bound = "" if "most_predictions" in self.agree else '\nmost_predictions = "any"'
        self.sessions = Sessions(self.folder, CASE, self.agree + bound)
        for party, peer in (("alice", "bob"), ("bob", "alice")):
            path = self.folder / party / "party.toml"
            path.write_text(path.read_text() + f'\n[node]\npeer = "{peer}"\n')
            self.note_run(party, PeerName(peer, ""))

    def note_run(self, party: str, peer: PeerName) -> None:
        """Put on record a run of a party's table that has made its model."""
        local, model = self.sessions.local(party), self.models[party].digest()
        of, tables = (local.dataset, "made"), (local.digest(b"contents"), b"")
        with locked_folder(self.folder / party) as held, open_ledger(held, local.secrets.coins) as ledger:
            pages = PeerEntries(ledger, peer)
            pages.write(RunEntry(*of, to_json(self.made_by), 4, tables, _CLASS, _COLUMNS))
            pages.write(ModelEntry(*of, Way.BOTH, model))

    def terms(self, **changes: object) -> PredictionTerms:
        usual = PredictionTerms(self.models["bob"].digest(), Receiver.INITIATOR, False)
        return replace(usual, **changes)  # type: ignore[arg-type]

    def play(self, **changes: object) -> list[Predicted | BaseException]:
        """Classify the rows as they are now; return what each side ends with, Alice first."""
        for party, column, rows in (("alice", "age", self.ages), ("bob", "city", self.cities)):
            text = "".join(f"{person},{value}\n" for person, value in rows.items())
            (self.folder / party / "new.csv").write_text(f"id,{column}\n{text}")
            write_model(self.folder / party / "model.json", self.models[party])
        ours, theirs = memory_channels()
        with ThreadPoolExecutor(2) as pool:
            alice = pool.submit(self._take_part, "alice", ours, None)
            bob = pool.submit(self._take_part, "bob", theirs, Predict(self.terms(**changes)))
            return [end.exception() or end.result() for end in (alice, bob)]

    def _take_part(self, party: str, channel: PagedChannel, job: Job | None) -> Predicted:
        folder, send = self.folder / party, channel.send
        self.sent[party] = 0

        def counted(message: Message) -> None:
            if party == self.killed and self.sent[party] == self.at:
                raise Killed
            self.sent[party] += 1
            send(message)

        channel.send = counted  # type: ignore[method-assign]
        config = read_party_config(folder / "party.toml", TEST_BITS)
        offers = Offers(lambda: load_offer(config, folder / "model.json", folder / "new.csv"))
        with locked_folder(folder) as held, channel:
            report = run_session(self.sessions.local(party), config, held, channel, job, Host(offers=offers))
        assert isinstance(report.ended, Predicted)
        return report.ended

    def learned(self, **changes: object) -> dict[str, str]:
        """Return the classes that Bob learns."""
        _, bob = self.play(**changes)
        return classes(bob)

    def dealings(self, party: str) -> Dealings:
        with self.sessions.ledger(party) as ledger:
            (found,) = dealings(ledger.entries())
        return found


def classes(ended: Predicted | BaseException) -> dict[str, str]:
    if isinstance(ended, BaseException):
        raise ended
    assert ended.answers is not None
    labels = [SCHEMA.class_attribute.values[ended.answers.outcomes[p].label] for p in ended.answers.positions]
    return dict(zip(ended.offer.shared.people, labels, strict=True))


def assert_not_answered(ends: list[Predicted | BaseException], field_: str) -> None:
    for end in ends:
        assert isinstance(end, DisagreementError), end
        assert end.field == field_
        assert len(str(end).splitlines()) == 1
