"""What a party brings to a joint prediction: its rows, read by the model that both hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from party.data import Frame, Notice, read_frame
from party.data.ids import REFUSE, read_people
from party.data.item_rows import wanted_items
from party.errors import ConfigError
from party.models.any_file import read_model
from party.models.prediction import Unknown, coded_rows, read_notices
from party.settings.party import PartyConfig
from protocols.errors import InputError
from protocols.jobs import Align, Job, Predict, PredictionTerms, Train
from protocols.learning.models import Model
from protocols.learning.tree import Tree
from protocols.tables.arrays import Index
from protocols.two_party.agreement import Objection
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES, check_shared


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """Rows of a file, and how the model reads our columns of them.

    Args:
        frame: The file.
        order: Those of its rows that are classified, in the order that both sides have.
        shared: The rows in that order.
        unknown: Our columns that have cells of no value that the model knows.
        notices: How cells were read.
    """

    frame: Frame
    order: tuple[int, ...]
    shared: SharedRows
    unknown: tuple[Unknown, ...]
    notices: tuple[Notice, ...]

    def only(self, rows: Index) -> "Offer":
        """Return the offer of these rows alone, in this order.

        Raises:
            InputError: There are none.
        """
        people = tuple(self.shared.people[row] for row in rows)
        shared = SharedRows(self.model, people, self.shared.codes[rows])
        return replace(self, order=tuple(self.order[row] for row in rows), shared=shared)

    @property
    def model(self) -> Model:
        """The model."""
        return self.shared.model


def load_offer(config: PartyConfig, path: Path, rows: Path) -> Offer:
    """Read a party's rows.

    Args:
        config: The party's settings: who it and its peer are, and how its files are written.
        path: The model's file.
        rows: The file of the rows, with the ids and our columns of the model.

    Raises:
        InputError: A file cannot be used; the text says which and why.
    """
    model = read_model(path)
    try:
        check_shared(model, (config.name, config.need_peer()))
    except InputError as error:
        raise ConfigError(f"{path}: {error}: bring a model of both") from None
    own = [column for column in model.columns if model.schema.attributes[column].party == config.name]
    form = replace(config.data.form, missing=None)  # the model has the markers of its columns
    frame, who = read_frame(rows, form), config.data.ids
    if who.items is not None:
        beside = [name for name in config.data.ignore if name in frame.columns]
        frame = wanted_items(frame, who, beside, [model.schema.attributes[column].name for column in own])
    people = read_people(frame, replace(who, repeated=REFUSE))
    coded = coded_rows(model, frame, own)
    people = people.ordered(sorted(people.ids))
    shared = SharedRows(model, tuple(people.ids), coded.codes[people.rows])
    return Offer(frame, tuple(people.rows), shared, coded.unknown, (*frame.notices, *read_notices(coded.read)))


def offer_of_settings(config: PartyConfig) -> Offer:
    """Read the rows that the settings offer.

    Raises:
        InputError: They offer none, or a file cannot be used.
    """
    if config.predict.rows is None:
        raise ConfigError(f"{config.path}: [predict] rows: names no file: name one, then start `cotally serve` anew")
    return load_offer(config, config.predict.model, config.predict.rows)


@dataclass(frozen=True)
class Offers:
    """Reads an offer once, when a prediction asks for it; without a reader there is none.

    Args:
        read: Reads it.
        tell: Gets what the owner should know of it.
    """

    read: Callable[[], Offer] | None = None
    tell: Callable[[Sequence[Notice]], None] = lambda _: None

    @cached_property
    def offer(self) -> Offer:
        """The offer.

        Raises:
            InputError: There is none, or it cannot be read.
        """
        if self.read is None:
            raise InputError("there are no rows to classify here")
        offer = self.read()
        self.tell(offer.notices)
        return offer

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a prediction of rows that we lack, by a model that we lack, or of what it does not tell."""
        match job:
            case Train() | Align():
                return None
            case Predict(terms):
                return self._judge_terms(terms)

    def _judge_terms(self, terms: PredictionTerms) -> Objection | None:
        try:
            model = self.offer.model
        except InputError as error:
            return Objection("rows", str(error))
        held, wanted = model.digest(), terms.model
        if held == wanted:
            untold = terms.probabilities and not isinstance(model, Tree)
            return Objection("probabilities", NO_SHARES) if untold else None
        return Objection(
            "model",
            f"ours has the digest {held.hex()[:16]}, the peer's {wanted.hex()[:16]}: both must have the "
            "model of one run (where `serve` runs, [predict] model names it)",
        )
