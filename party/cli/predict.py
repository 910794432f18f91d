"""`cotally predict`: classify rows, alone or with the peer, who holds the other columns."""

import argparse
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path

import numpy as np

from party.cli.arguments.models import RECEIVERS
from party.cli.outputs import form, fraction, settle_outputs
from party.cli.train import end_of
from party.data import Frame, check_table_name, name_flaw, read_frame, write_table
from party.data.writer import Cell, table_text
from party.errors import AbsentColumnError, ConfigError, DataError
from party.files import is_there, kept_apart, write_atomically
from party.models.any_file import read_model
from party.models.prediction import Predictions, RankedBy, predict_frame
from party.node.aligning import Offer, Offers, load_common, load_offer, offer_of_settings
from party.node.inputs import pinned_peer
from party.node.players import Ended, Predicted
from party.records.ledger import PeerEntries, PeerName, read_ledger
from party.records.predictions import PredictionEntries
from party.settings.party import PartyConfig, read_party_config
from party.settings.place import CONFIG_FILE
from party.show import prediction
from party.show.document import Block, ReportPart
from party.show.notices import tell
from party.show.page.parts import check_page_name, page_written, written
from party.show.screen import note, note_all, put_json, say, say_all
from protocols.errors import InputError
from protocols.jobs import Predict, PredictionTerms
from protocols.tables import Attribute, Floats
from protocols.terms import KEY_FLOOR
from protocols.two_party.prediction import Answers
from protocols.two_party.ways import way_of


@dataclass(frozen=True, eq=False, repr=False)
class Classified:
    """Rows in the file's order, their classes and shares; a row that was not classified has "" and nan."""

    frame: Frame
    target: Attribute
    labels: Sequence[str]
    shares: Floats | None = None
    ranked: Predictions | None = None

    def table(self, column: str) -> tuple[tuple[str, ...], list[Sequence[Cell]]]:
        shares: list[list[float]] = [] if self.shares is None else self.shares.T.tolist()
        known = [[None if isnan(each) else each for each in column] for column in shares]
        scored = [] if self.ranked is None else [self.ranked.scores.tolist(), self.ranked.ranks]
        has_shares, has_scores = self.shares is not None, self.ranked is not None
        names = new_columns(self.frame, column, self.target, probabilities=has_shares, scores=has_scores)
        return names, [*self.frame.cells, self.labels, *known, *scored]


_SCORES = ("score", "rank")


def new_columns(
    frame: Frame, column: str, target: Attribute, *, probabilities: bool, scores: bool = False
) -> tuple[str, ...]:
    flaw = name_flaw(column)
    if flaw is not None:
        raise InputError(f"--column: the name {flaw}: choose another")
    added = (column, *(f"P({value})" for value in target.values if probabilities), *(_SCORES if scores else ()))
    for name in added:
        if name in frame.columns or added.count(name) > 1:
            cure = "choose another with --column" if name == column else "rename it"
            problem = f"the file has a column of this name already: {cure}"
            raise DataError(problem, path=frame.path, column=name)
    return (*frame.columns, *added)


def check_written(arguments: argparse.Namespace, frame: Frame, target: Attribute, reads: Sequence[Path]) -> None:
    """Make sure, before the work, that the rows can be written where the command's arguments say."""
    new_columns(frame, arguments.column, target, probabilities=arguments.probabilities, scores=arguments.scores)
    outputs, options = (arguments.output, arguments.report), ("-o", "--report")
    settle_outputs(outputs, reads, overwrite=arguments.overwrite, options=options)
    check_page_name("--report", arguments.report)
    check_table_name(arguments.output)


def write_classified(output: Path | None, column: str, classified: Classified, notes: Sequence[Block]) -> None:
    names, cells = classified.table(column)
    notes = [*prediction.formula_notes(classified.target.values), *notes]
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="surrogateescape")  # bytes that are no text are written as they were read
        sys.stdout.write(table_text(names, cells, _text))
        sys.stdout.flush()  # what cannot be written has nothing to be said about
        note_all(notes)
        return
    replaced = is_there(output)
    write_table(output, names, cells, _text)
    note_all(notes)
    say(prediction.classes_written(output, len(classified.frame), replaced=replaced), sys.stderr)


def _text(number: float) -> str:
    return f"{number:.6f}" if isinstance(number, float) else str(number)


def answered_before(config: PartyConfig, offer: Offer, model: Path, terms: PredictionTerms) -> Predicted:
    """Return what the peer has answered for these people before, from our ledger; nobody is called."""
    local, peer = load_common(config, KEY_FLOOR), pinned_peer(config)
    with read_ledger(config.folder, local.secrets.coins) as ledger:
        pages = PredictionEntries(PeerEntries(ledger, PeerName(peer.name, peer.fingerprint)), local, terms)
        known = pages.recall(offer.shared.people).known
    if not known:
        raise InputError(f"{peer.name} has answered for none of these people by {model}: ask it (`--with {peer.name}`)")
    rows = np.array([row for row, person in enumerate(offer.shared.people) if person in known], dtype=np.intp)
    positions = tuple(known[offer.shared.people[row]] for row in rows)
    outcomes = way_of(offer.model, config.name, probabilities=terms.probabilities).outcomes
    return Predicted(terms, offer.only(rows), Answers(outcomes, positions, len(rows)))


def served_offers(config: PartyConfig) -> Offers:
    """Return what a node that listens brings to a prediction, read again for each session."""
    return Offers(partial(offer_of_settings, config), tell)


def write_served(predicted: Predicted, folder: Path) -> None:
    """Write what a node that listens has learned, under a name that no other file has."""
    write_predicted(predicted, kept_apart(folder / "predictions.csv"), "prediction")


def write_predicted(predicted: Predicted, output: Path | None, column: str) -> None:
    offer, answers = predicted.offer, predicted.answers
    notes = list(prediction.joint_notes(offer, answers, output))
    if answers is None:
        say_all(notes, sys.stderr)
        return
    target = offer.model.schema.class_attribute
    labels = [""] * len(offer.frame)
    shares = np.full((len(labels), target.size), np.nan) if predicted.terms.probabilities else None
    for row, position in zip(offer.order, answers.positions, strict=True):
        outcome = answers.outcomes[position]
        labels[row] = target.values[outcome.label]
        if shares is not None:
            shares[row] = outcome.shares
    write_classified(output, column, Classified(offer.frame, target, labels, shares), notes)


def _jointly(arguments: argparse.Namespace, ranking: RankedBy | None) -> int:
    if arguments.peer is not None and arguments.answered:
        raise InputError("--with asks the peer, --answered writes what it has answered before: name one of them")
    if ranking is not None or arguments.report is not None:
        raise InputError(
            "--scores, --threshold, --ranked and --report are for a model without a peer: with one take --probabilities"
        )
    if arguments.model.suffix == ".json":
        raise InputError(f"{arguments.model} is a model: name your party in its place, and the model by --model")
    config = read_party_config(arguments.model)
    if not arguments.answered:
        config.need_address()
        if arguments.peer != (peer := pinned_peer(config).name):
            raise ConfigError(f"{config.path}: [node] peer: is {peer!r}: run with --with {peer}")
    model = arguments.tree or config.folder / "model.json"
    offer = load_offer(config, model, arguments.rows)
    tell(offer.notices)
    reads = (config.path, config.data.file, model, arguments.rows)
    check_written(arguments, offer.frame, offer.model.schema.class_attribute, reads)
    terms = PredictionTerms(offer.model.digest(), RECEIVERS[arguments.receiver], arguments.probabilities)
    if arguments.answered:
        ended: Ended = answered_before(config, offer, model, terms)
    else:
        ended = end_of(Predict(terms), arguments, config, offers=Offers(lambda: offer))
    if isinstance(ended, Predicted):
        write_predicted(ended, arguments.output, arguments.column)
        if arguments.json:
            put_json(prediction.joint_json(ended.offer, ended.answers, arguments.output))
    return 0


def _ranking(arguments: argparse.Namespace) -> RankedBy | None:
    if arguments.threshold is None and arguments.ranked is None and not arguments.scores:
        return None
    threshold = None if arguments.threshold is None else float(fraction("--threshold", arguments.threshold))
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError("--threshold must be from 0 to 1: the share of the ranked class from which a row gets it")
    return RankedBy(arguments.ranked, threshold)


def _write_report(path: Path | None, predictions: Predictions, notes: Sequence[ReportPart]) -> None:
    if path is None:
        return
    if predictions.quality is None:
        raise InputError("--report shows how good classes are, and no row has its own: add the column of the class")
    write_atomically(path, written(prediction.prediction_page(predictions, notes), path))
    note(page_written(path))


_SOME_ROWS = 10  # of fewer, unknown cells may be so by chance


def command_predict(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.output is None:
        raise InputError("--json shows what became of rows that go to a file: name it (-o)")
    ranking = _ranking(arguments)
    if arguments.peer is not None or arguments.answered:
        return _jointly(arguments, ranking)
    if arguments.tree is not None:
        raise InputError("--model: names the model of a joint prediction; without --with give it as the first argument")
    is_party = arguments.model.is_dir() or arguments.model.name == CONFIG_FILE
    if is_party or arguments.model.suffix == ".toml":
        what = "a party: add --with PEER or --answered, or" if is_party else "no model:"
        raise InputError(f"{arguments.model} is {what} give a model, such as model.json")
    model = read_model(arguments.model)
    frame = read_frame(arguments.rows, form(arguments))
    tell(frame.notices)
    check_written(arguments, frame, model.schema.class_attribute, (arguments.model, arguments.rows))
    try:
        predictions = predict_frame(model, frame, ranking)
    except AbsentColumnError as error:
        if error.owner is None:
            raise
        together = f"cotally predict PARTY --with {error.owner} {arguments.rows}"
        raise InputError(f"{error}; if {error.owner} alone has it, classify together: {together}") from None
    schema = model.schema
    read = {schema.base.attributes[column].name for column in schema.base_columns(model.columns)}
    lost = [
        each
        for each in predictions.unknown
        if each.rows >= _SOME_ROWS and 2 * each.cells > each.rows and each.column.rpartition(".")[2] in read
    ]
    if lost:
        line = prediction.unknown_line(lost[0])
        raise InputError(f"{line}: most rows would not be read as those that it was learned from")
    shares = predictions.need_shares() if arguments.probabilities else None
    ranked = predictions if arguments.scores else None
    classified = Classified(frame, model.schema.class_attribute, predictions.labels, shares, ranked)
    notes = list(prediction.prediction_notes(predictions, ranking))
    _write_report(arguments.report, predictions, notes)
    write_classified(arguments.output, arguments.column, classified, notes)
    if arguments.json:
        put_json(prediction.prediction_json(predictions, arguments.output))
    return 0
