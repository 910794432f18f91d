"""An alignment as a party plays it: what it objects to, what it keeps, and whose rows it brings then (DESIGN 13)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path

from party.data import Frame, Notice, read_frame
from party.data.ids import NO_LOOK, REFUSE, IdLook, read_people
from party.data.item_rows import wanted_items
from party.errors import ConfigError
from party.models.any_file import read_model
from party.models.prediction import Unknown, coded_rows, read_notices
from party.node.inputs import Tell, load_inputs
from party.records.alignments import kept_people, note_alignment, past_alignments
from party.records.ledger import PeerEntries, noted
from party.records.ledger_entries import AlignmentEntry, RunEntry
from party.settings.party import AlignmentBounds, PartyConfig
from protocols.errors import DisagreementError, InputError
from protocols.facts import AlignmentFact
from protocols.jobs import Align, Crosstab, Job, Predict, PredictionTerms, Train
from protocols.learning.model import Model
from protocols.role import Fact
from protocols.tables import Index
from protocols.terms import KEY_FLOOR
from protocols.two_party.alignment import Overlap
from protocols.two_party.equality import list_commitment
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.objections import Objection
from protocols.two_party.prediction import SharedRows
from protocols.two_party.ways import NO_SHARES, check_shared, hides_shares


def load_common(config: PartyConfig, key_floor: int, tell: Tell = lambda _: None) -> PartyInputs:
    """Read a party's data and secrets; where an alignment of these ids is kept, of the common people alone."""
    whole = load_inputs(config, key_floor, tell)
    own = list_commitment(whole.secrets.coins, whole.records)
    people = kept_people(config.folder, whole.secrets.coins, whole.dataset, config.node.peer, own)
    return whole if people is None else whole.bringing_people(people)


@dataclass(repr=False)
class OwnRows:
    """Whose rows of its file a party brings: those of all people or, since an alignment, of the common ones."""

    config: PartyConfig
    local: PartyInputs
    tell: Tell

    def whole(self) -> PartyInputs:
        """Read the rows of all people."""
        return replace(load_inputs(self.config, KEY_FLOOR), compute=self.local.compute)

    def reload(self) -> None:
        """Bring what the file and the last alignment give now."""
        self.local = replace(load_common(self.config, KEY_FLOOR, self.tell), compute=self.local.compute)


@dataclass
class ListRules:
    """What we object to in an alignment, by our settings and by the ledger; notes what is learned.

    The lists are of `rows` to be classified, or of the data set's records. `judge_least` objects to answers about as
    many of the rows as must be common, at the least; `judge_tables` to another list than the approved job began with.
    """

    dataset: str
    bounds: AlignmentBounds
    entries: PeerEntries
    rows: bool = False
    look: IdLook = NO_LOOK
    judge_least: Callable[[int], Objection | None] = lambda _: None
    judge_tables: Callable[[str, bytes], Objection | None] = lambda _, __: None

    @property
    def least(self) -> Fraction:
        """The share of the peer's ids that must be ours before we reveal which are."""
        return self.bounds.least_overlap

    def judge_list(self, mine: int, yours: int, lists: tuple[bytes, bytes]) -> Objection | None:
        """Object to too many ids, to one alignment too many, and to other people than those of a run."""
        del mine
        most = self.bounds.most_ids
        if yours > most:
            return Objection("id list", f"the peer brings {yours:,} ids, our [agree] most_ids allows {most:,}")
        past = self._past()
        known = any(each.lists == lists for each in past)
        if not known and not self.rows and any(noted(self.entries.ledger.entries(), RunEntry, self.dataset)):
            return Objection(
                "id list",
                f"data set {self.dataset!r} already has a run over other people; comparing both results could expose "
                f"single people; use the id lists of that run",
            )
        if len(past) >= self.bounds.most_alignments:
            return Objection(
                "id list",
                f"our [agree] most_alignments allows {self.bounds.most_alignments:,} over the life of a data set, of "
                f"the same lists, too: {len(past):,} before and this one make {len(past) + 1:,}; raise "
                "it if the peer may have another guess at our list",
            )
        return self.judge_least(max(1, ceil(self.least * yours))) or self.judge_tables("list", lists[1])

    def judge_few(self, yours: int, least: int, alike: tuple[str, ...]) -> Objection:
        """Say that fewer of the peer's ids than we ask for are ours."""
        cure = "; to ask about few people of a long list, set least_overlap = 0" if self.rows else ""
        return self._few(f"fewer than {least:,} of the peer's {yours:,} ids are ours", alike, cure)

    def judge_people(self, overlap: Overlap, lists: tuple[bytes, bytes], people: bytes) -> Objection | None:
        """Object to nobody, and to others than the same two lists had in common before."""
        if not overlap.both:
            return self._few(f"none of the peer's {overlap.yours:,} ids are ours", overlap.alike)
        before = (each.people for each in self._past() if each.lists == lists)
        if all(each in (b"", people) for each in before):
            return None
        return Objection("id list", "the peer shows another list in the name of an earlier one")

    def _few(self, number: str, alike: tuple[str, ...] = (), cure: str = "") -> Objection:
        asked = f", our [agree] least_overlap asks for {self.least} of them" if self.least else ""
        same = f"; they are the same in another spelling: add to [data] id_alike, on both sides, {', '.join(alike)}"
        return Objection(
            "overlap",
            f"{number}{asked}: which ones is not revealed{same if alike else cure or self._ours()}{self._more_tries()}",
        )

    def explained(self, error: DisagreementError) -> DisagreementError:
        """Add to the peer's refusal of too few common ids what ours look like, and how many alignments are left."""
        if error.field != "overlap" or "most_alignments leaves" in str(error):
            return error
        return DisagreementError(error.field, f"{str(error).partition(': ')[2]}{self._ours()}{self._more_tries()}")

    def _more_tries(self) -> str:
        most = self.bounds.most_alignments
        return f"; our [agree] most_alignments leaves {max(0, most - len(self._past()))} of {most:,}"

    def _ours(self) -> str:
        """Say what our ids look like, where the peer's may be written otherwise."""
        shapes = " or ".join(self.look.shapes)
        ours = f"; ours look like {shapes} (9 for a digit): compare how the peer writes its ids" if shapes else ""
        lost = "; ours have no zeros in front: if these were lost, add zeros to [data] id_alike on both sides"
        return ours + (lost if self.look.unpadded else "")

    def note(self, fact: Fact) -> None:
        """Put on record what is learned."""
        if isinstance(fact, AlignmentFact):
            note_alignment(self.entries, self.dataset, fact, rows=self.rows)

    def _past(self) -> list[AlignmentEntry]:
        return past_alignments(self.entries.ledger.entries(), self.dataset, rows=self.rows)


@dataclass(frozen=True, eq=False, repr=False)
class Offer:
    """Rows of a file, and how the model reads our columns of them.

    `shared` are the rows that are classified, in the order that both sides have, `order` their places in the file;
    `unknown` our columns that have cells of no value that the model knows.
    """

    frame: Frame
    order: tuple[int, ...]
    shared: SharedRows
    unknown: tuple[Unknown, ...]
    notices: tuple[Notice, ...]

    def only(self, rows: Index) -> "Offer":
        """Return the offer of these rows alone, in this order."""
        people = tuple(self.shared.people[row] for row in rows)
        shared = SharedRows(self.model, people, self.shared.codes[rows])
        return replace(self, order=tuple(self.order[row] for row in rows), shared=shared)

    @property
    def model(self) -> Model:
        """The model."""
        return self.shared.model


def load_offer(config: PartyConfig, path: Path, rows: Path) -> Offer:
    """Read a party's rows, by the model in the file `path`, from a file with the ids and our columns of the model."""
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
        base = model.schema.base
        frame = wanted_items(frame, who, beside, [base.attributes[c].name for c in model.schema.base_columns(own)])
    people = read_people(frame, replace(who, repeated=REFUSE))
    coded = coded_rows(model, frame, own)
    people = people.ordered(sorted(people.ids))
    shared = SharedRows(model, tuple(people.ids), coded.codes[people.rows])
    return Offer(frame, tuple(people.rows), shared, coded.unknown, (*frame.notices, *read_notices(coded.read)))


def offer_of_settings(config: PartyConfig) -> Offer:
    """Read the rows that the settings offer."""
    if config.predict.rows is None:
        raise ConfigError(f"{config.path}: [predict] rows: names no file: name one, then start `cotally serve` again")
    return load_offer(config, config.predict.model, config.predict.rows)


@dataclass(frozen=True)
class Offers:
    """Reads an offer once, when a prediction asks for it; without a reader there is none."""

    read: Callable[[], Offer] | None = None
    tell: Callable[[Sequence[Notice]], None] = lambda _: None

    @cached_property
    def offer(self) -> Offer:
        """The offer."""
        if self.read is None:
            raise InputError("there are no rows to classify here: name a file with some")
        offer = self.read()
        self.tell(offer.notices)
        return offer

    def judge_job(self, job: Job) -> Objection | None:
        """Object to a prediction of rows that we lack, by a model that we lack, or of what it does not give."""
        match job:
            case Train() | Align() | Crosstab():
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
            return Objection("probabilities", NO_SHARES) if terms.probabilities and hides_shares(model) else None
        return Objection(
            "model",
            f"ours has the digest {held.hex()[:16]}, the peer's {wanted.hex()[:16]}: both must have the "
            "model of one run (where `serve` runs, [predict] model names it)",
        )
