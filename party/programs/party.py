"""For Python programs: one side of runs, as `cotally serve` and `train` are, and models, as `predict` has them.

The rules are the commands': settings in `party.toml`, certificates that both pinned, a ledger of what the peer learns.
Heavy arithmetic is done in the calling process, unless `workers` says otherwise.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, assert_never

import numpy as np
from numpy.typing import NDArray

from party.compute import ComputeSettings
from party.files import FolderLock, kept_apart, locked_folder
from party.keys.identity import load_identity, trust
from party.keys.keystore import load_secret
from party.models.any_file import KeptModel, KeptResult, read_model
from party.models.prediction import Predictions, predict_frame
from party.names import DEFAULT_HOSTS
from party.node.aligning import OwnRows, load_common
from party.node.creation import create_party
from party.node.inputs import pinned_peer, with_workers
from party.node.line import call_peer, listen_for_peer
from party.node.players import FoundRules, Host, Matched, OnProgress, Predicted, Tabulated, Trained
from party.node.policy import check_job
from party.node.session import run_session
from party.records.ledger import read_ledger
from party.records.run_file import TrainReport
from party.records.tally import dealings
from party.settings.job import read_job
from party.settings.party import PartyConfig, read_party_config
from party.settings.place import CONFIG_FILE
from party.settings.template import party_files
from party.show.document import rendered
from party.show.ledger import dealings_lines
from party.show.page.drawings import shown
from party.show.prediction import unknown_line
from party.show.training import train_report
from party.survey.table import TableSource, as_frame
from party.transport.channel import PagedChannel
from party.transport.grpc.server import NodeServer
from protocols.errors import InputError
from protocols.jobs import Job
from protocols.learning.model import Model
from protocols.terms import KEY_FLOOR, USUAL_KEY_BITS

Place = Path | str


@dataclass(frozen=True)
class PartyRun:
    """What a run ended with: the model or itemsets, where its file is, and what it cost and yielded."""

    model: KeptResult
    path: Path
    report: TrainReport


@dataclass(frozen=True, repr=False)
class Party:
    """A party's folder, and what can be done with it; what cannot be used of ours raises InputError, which says why.

    Args:
        path: The folder, or its `party.toml`.
        workers: Processes of this machine for heavy arithmetic, 1 for the calling one alone; None for what `[compute]`
            says.
        on_progress: Hears how far each phase of a run is.
    """

    path: Place
    workers: int | None = 1
    on_progress: OnProgress = lambda _: None
    config: PartyConfig = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "config", read_party_config(Path(self.path), KEY_FLOOR))

    def __repr__(self) -> str:
        return f"<Party {self.name}>"

    @classmethod
    def create(
        cls,
        folder: Place,
        name: str,
        hosts: Sequence[str] = DEFAULT_HOSTS,
        *,
        settings: str | None = None,
        key_bits: int = USUAL_KEY_BITS,
    ) -> Self:
        """Make a party's folder, as `cotally init` does.

        Args:
            folder: Where; made if it is not there.
            name: The party's.
            hosts: DNS names and addresses at which the other party reaches it.
            settings: The content of its `party.toml`; templates to fill in, of jobs too, unless given.
            key_bits: Length of the Paillier key.
        """
        content = party_files(name, key_bits) if settings is None else {CONFIG_FILE: settings}
        create_party(Path(folder), name, hosts, key_bits, content)
        return cls(folder)

    @property
    def name(self) -> str:
        """Its name."""
        return self.config.name

    @property
    def fingerprint(self) -> str:
        """That of its certificate, to compare by telephone."""
        return load_identity(self.config.folder).fingerprint

    def trust(self, certificate: Place) -> str:
        """Pin the peer's certificate, and return its fingerprint."""
        return trust(self.config.folder, Path(certificate)).fingerprint

    @contextmanager
    def listening(self) -> Iterator["Listening"]:
        """Listen for the peer, where the settings say, as long as the context lasts."""
        identity, peer = load_identity(self.config.folder), pinned_peer(self.config)
        with self._rows() as rows, listen_for_peer(self.config, identity, peer) as server:
            yield Listening(self, rows, server)

    def check(self, job: Place) -> None:
        """Refuse a job, or data, with which we could not run, before anybody is called; return nothing if we could."""
        local = load_common(self.config, KEY_FLOOR)
        terms = read_job(Path(job), people=local.listed, classes=local.classes_listed)
        check_job(local, self.config, terms, pinned_peer(self.config))

    def train(self, job: Place, model: Place | None = None) -> PartyRun:
        """Call the peer, and learn a model together.

        Args:
            job: The file of the terms.
            model: Where the model goes; `model.json` in the folder, or beside it where that is there already.

        Raises:
            PeerError: The peer's fault; `DisagreementError` where both differ, `NotApprovedError` where people, here or
                there, have not approved the job: call again later.
            PausedError: The run goes on when both start it again.
        """
        peer = pinned_peer(self.config)
        with locked_folder(self.config.folder) as held, self._rows() as rows:
            terms = read_job(Path(job), people=rows.local.listed, classes=rows.local.classes_listed)
            check_job(rows.local, self.config, terms, peer)
            with call_peer(self.config, load_identity(self.config.folder), peer) as channel:
                return self._take_part(rows, held, channel, terms, model)

    @contextmanager
    def _rows(self) -> Iterator[OwnRows]:
        compute = self.config.compute if self.workers is None else ComputeSettings(self.workers)
        with with_workers(load_common(self.config, KEY_FLOOR), compute) as local:
            yield OwnRows(self.config, local, lambda _: None)

    def _take_part(
        self, rows: OwnRows, held: FolderLock, channel: PagedChannel, job: Job | None, model: Place | None
    ) -> PartyRun:
        place = kept_apart(self.config.folder / "model.json") if model is None else Path(model)
        kept = KeptModel(lambda _: place)
        report = run_session(rows.local, self.config, held, channel, job, Host(self.on_progress, kept=kept, rows=rows))
        match report.ended:
            case Trained() as ended:
                return PartyRun(ended.outcome.model, kept.path, train_report(ended, report))
            case FoundRules() as found:
                return PartyRun(found.found.itemsets, kept.path, train_report(found, report))
            case Predicted() | Matched() | Tabulated():
                raise InputError("the peer has opened another job than training: `cotally serve` takes part in those")
            case _:
                assert_never(report.ended)

    def disclosures(self) -> list[str]:
        """Say what the peer has learned from us so far and we from it, as `cotally ledger show` does."""
        folder = self.config.folder
        with read_ledger(folder, load_secret(folder)) as ledger:
            return [line for told in dealings(ledger.entries()) for line in dealings_lines(told, full=False)]


@dataclass(frozen=True, repr=False)
class Listening:
    """A party that listens."""

    party: Party
    rows: OwnRows
    server: NodeServer

    @property
    def address(self) -> str:
        """Where, as `host:port`."""
        return self.server.address

    def answer(self, model: Place | None = None) -> PartyRun:
        """Take part in the next run that the peer opens, whose model goes where `Party.train` would write it.

        Raises:
            InputError: Something of ours cannot be used, or the peer opens another job than training.
            PeerError: The peer's fault.
        """
        party = self.party
        with locked_folder(party.config.folder) as held, self.server.accept() as channel:
            return party._take_part(self.rows, held, channel, None, model)  # noqa: SLF001  # of one module


@dataclass(frozen=True, repr=False)
class LoadedModel:
    """A finished model, of two parties or of a survey.

    Tables are DataFrames, or paths of CSV and Parquet files, with the columns of both parties that the model reads, by
    name, or by `party.name` where both have one of that name. Numbers fall into the model's bins. What cannot be read,
    or lacks a column, raises InputError; so do shares of a model that has classes alone.
    """

    model: Model

    def __repr__(self) -> str:
        return f"<LoadedModel of {self.model.schema.class_attribute.name!r}>"

    @property
    def classes(self) -> tuple[str, ...]:
        """The values of the class, in the order of `predict_proba`."""
        return self.model.schema.class_attribute.values

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, as `party.name`."""
        schema = self.model.schema
        read = map(schema.base.attributes.__getitem__, sorted(schema.base_columns(self.model.columns)))
        return tuple(f"{each.party}.{each.name}" for each in read)

    def predict(self, table: TableSource) -> list[str]:
        """Return the class of each row."""
        return self._predicted(table).labels

    def predict_proba(self, table: TableSource) -> NDArray[np.float64]:
        """Return the shares of the classes (`rows x classes`): of training records in a leaf, or by naive Bayes."""
        return self._predicted(table).need_shares()

    def _predicted(self, table: TableSource) -> Predictions:
        found = predict_frame(self.model, as_frame(table))
        for column in found.unknown:
            warnings.warn(unknown_line(column), stacklevel=3)
        return found

    def text(self) -> str:
        """Return the model as `cotally show` prints it."""
        return rendered(shown(self.model).blocks(self.model, None, ()), None)


def load_model(path: Path | str) -> LoadedModel:
    """Read a model's file; one that is no model in every detail is refused."""
    return LoadedModel(read_model(Path(path)))
