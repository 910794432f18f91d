"""`cotally predict PARTY.toml --with PEER rows.csv`: classify rows of which the peer holds the other columns."""

import argparse
import sys
from functools import partial
from pathlib import Path

import numpy as np

from party.cli.arguments.predict import RECEIVERS
from party.cli.classified import Classified, check_written, write_classified
from party.cli.train import announce_match, compute_settings
from party.errors import ConfigError
from party.files import kept_apart, locked_folder
from party.keys.identity import load_identity
from party.node.aligning import load_common
from party.node.inputs import pinned_peer, with_workers
from party.node.line import call_peer
from party.node.offers import Offer, Offers, load_offer, offer_of_settings
from party.node.players import Predicted
from party.node.policy import check_job
from party.node.session import Host, run_session
from party.records.entries import PeerPages
from party.records.ledger import PeerName, read_ledger
from party.records.predictions import PredictionPages
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import PartyConfig, read_party_config
from party.show.notices import tell
from party.show.prediction import joint_json, joint_notes
from party.show.progress import make_progress, waiting
from party.show.screen import put_json, say_all
from protocols.errors import InputError
from protocols.jobs import Predict, PredictionTerms
from protocols.two_party.prediction import Answers
from protocols.two_party.ways import way_of


def _party(named: Path) -> PartyConfig:
    if named.suffix == ".json":
        raise InputError(f"{named} is a model: name your party in its place, and the model by --model")
    return read_party_config(named)


def predict_with(arguments: argparse.Namespace) -> int:
    """Classify the rows together with the peer, and write what we learn."""
    config = _party(arguments.model)
    settings = compute_settings(arguments, config)
    address, peer = str(config.need_address()), pinned_peer(config)
    if arguments.peer != peer.name:
        raise ConfigError(f"{config.path}: [node] peer: is {peer.name!r}: run with --with {peer.name}")
    model = arguments.tree or config.folder / "model.json"
    offer = load_offer(config, model, arguments.rows)
    tell(offer.notices)
    reads = (config.path, config.data.file, model, arguments.rows)
    check_written(arguments, offer.frame, offer.model.schema.class_attribute, reads)
    job = Predict(_terms(arguments, offer))
    with locked_folder(config.folder) as held:
        local = load_common(config, KEY_FLOOR)
        check_job(local, config, job, peer)
        with make_progress(arguments.progress) as progress, with_workers(local, settings) as ready:
            progress.show(waiting(peer.name, address, config.node.patience))
            with call_peer(config, load_identity(config.folder), peer) as channel:
                host = Host(
                    progress.follow,
                    offers=Offers(lambda: offer),
                    on_matched=lambda matched: announce_match(progress, matched),
                )
                report = run_session(ready, config, held, channel, job, host)
    if isinstance(report.ended, Predicted):
        write_predicted(report.ended, arguments.output, arguments.column)
        if arguments.json:
            put_json(joint_json(report.ended.offer, report.ended.answers, arguments.output))
    return 0


def answered_before(arguments: argparse.Namespace) -> int:
    """Write what the peer has answered for these people before, from our ledger; nobody is called."""
    config = _party(arguments.model)
    model, peer = arguments.tree or config.folder / "model.json", pinned_peer(config)
    offer = load_offer(config, model, arguments.rows)
    tell(offer.notices)
    reads = (config.path, config.data.file, model, arguments.rows)
    check_written(arguments, offer.frame, offer.model.schema.class_attribute, reads)
    local, terms = load_common(config, KEY_FLOOR), _terms(arguments, offer)
    with read_ledger(config.folder, local.secrets.coins) as ledger:
        pages = PredictionPages(PeerPages(ledger, PeerName(peer.name, peer.fingerprint)), local, terms)
        known = pages.recall(offer.shared.people).known
    if not known:
        raise InputError(f"{peer.name} has told no class of these people by {model}: ask it (`--with {peer.name}`)")
    rows = np.array([row for row, person in enumerate(offer.shared.people) if person in known], dtype=np.intp)
    offer, positions = offer.only(rows), tuple(known[offer.shared.people[row]] for row in rows)
    outcomes = way_of(offer.model, config.name, probabilities=terms.probabilities).outcomes
    write_predicted(
        Predicted(terms, offer, Answers(outcomes, positions, len(rows))), arguments.output, arguments.column
    )
    if arguments.json:
        put_json(joint_json(offer, Answers(outcomes, positions, len(rows)), arguments.output))
    return 0


def _terms(arguments: argparse.Namespace, offer: Offer) -> PredictionTerms:
    return PredictionTerms(
        model=offer.model.digest(),
        receiver=RECEIVERS[arguments.receiver],
        probabilities=arguments.probabilities,
    )


def served_offers(config: PartyConfig) -> Offers:
    """Return what a node that listens brings to a prediction, read anew for each session."""
    return Offers(partial(offer_of_settings, config), tell)


def write_served(predicted: Predicted, folder: Path) -> None:
    """Write what a node that listens has learned, under a name that no other file has."""
    write_predicted(predicted, kept_apart(folder / "predictions.csv"), "prediction")


def write_predicted(predicted: Predicted, output: Path | None, column: str) -> None:
    """Write what we have learned, if anything, and say what there is to say.

    Raises:
        InputError: It cannot be written.
    """
    offer, answers = predicted.offer, predicted.answers
    notes = list(joint_notes(offer, answers, output))
    if answers is None:
        say_all(notes, sys.stderr)
        return
    write_classified(output, column, _classified(offer, answers, probabilities=predicted.terms.probabilities), notes)


def _classified(offer: Offer, answers: Answers, *, probabilities: bool) -> Classified:
    """Put the answers into the order of the file; a row of a person whom the peer does not list has none."""
    target = offer.model.schema.class_attribute
    labels = [""] * len(offer.frame)
    shares = np.full((len(labels), target.size), np.nan) if probabilities else None
    for row, position in zip(offer.order, answers.positions, strict=True):
        outcome = answers.outcomes[position]
        labels[row] = target.values[outcome.label]
        if shares is not None:
            shares[row] = outcome.shares
    return Classified(offer.frame, target, labels, shares)
