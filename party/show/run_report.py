"""What a run cost and gave, as the value that programs read; its phases have the words that progress shows."""

from dataclasses import asdict
from pathlib import Path

from party.node.players import FoundRules, Trained
from party.node.session import Report
from party.records.run_file import TrainReport
from party.records.tally import Revealed
from party.show.assessment import seen_json
from party.show.progress import WORDS
from party.show.reading import reading_json
from party.show.tree import pure_leaves
from party.show.worth import worth_json
from protocols.noise.accounting import delta_of


def revealed_by(ended: Trained | FoundRules) -> Revealed:
    """Return how many counts a run has revealed: as the ledger has it."""
    if isinstance(ended, FoundRules):
        found = ended.found
        if ended.agreed.terms.hides_counts:
            return Revealed()
        sets = found.told + found.counted if ended.agreed.terms.counts_exactly else 0
        return Revealed(classes=1, sets=sets)
    outcome, terms = ended.outcome, ended.agreed.terms
    if terms.hides_counts or terms.mines:
        return Revealed()
    classes, counted = outcome.model.schema.classes, outcome.smc_computations
    return Revealed(counted, classes, outcome.exact_counts_disclosed - counted - classes)


def rules_report(ended: FoundRules, report: Report) -> TrainReport:
    """Return what looking for rules cost; nothing is held out, so there is no accuracy."""
    found, terms, traffic, revealed = ended.found, ended.agreed.terms, report.traffic, revealed_by(ended)
    return TrainReport(
        run=ended.run,
        method=terms.method,
        omega=None,
        accuracy=None,
        correct=None,
        records_test=0,
        smc_computations=found.counted,
        seconds=report.seconds,
        bytes_sent=traffic.bytes_sent,
        bytes_received=traffic.bytes_received,
        round_trips=traffic.round_trips,
        exact_counts_disclosed=revealed.counts,
        counts_of=vars(revealed),
        phases=_phases(report),
        seen=seen_json(ended.seen),
    )


def report_json(report: TrainReport, model: Path, ended: Trained | FoundRules) -> dict[str, object]:
    """Return for programs what a run cost and gave, where its model is, its worth, what it and our copy give away."""
    told: dict[str, object] = {"read": reading_json(ended.read), "pure_leaves": None, "follows": None}
    if isinstance(ended, Trained):
        pure = pure_leaves(ended.outcome.model, ended.agreed.terms)
        told |= worth_json(ended.outcome.model, ended.outcome.beats_guessing)
        told["pure_leaves"] = None if pure is None else asdict(pure)
        told["follows"] = None if ended.follows is None else asdict(ended.follows)
    return {"format": "cotally-train/1", "model": str(model), **asdict(report), **told}


def _phases(report: Report) -> dict[str, float]:
    return {WORDS[phase]: seconds for phase, seconds in report.phases.items()}


def _delta(trained: Trained) -> float | None:
    terms, columns = trained.agreed.terms, len(trained.agreed.schema.attributes)
    if terms.epsilon is None:
        return None
    return float(delta_of(terms.epsilon, max(columns, 2) if terms.noises_tree else 1))


def train_report(trained: Trained, report: Report) -> TrainReport:
    """Return what a run of training cost, as `cotally demo` and scripts read it."""
    outcome, terms, traffic, revealed = trained.outcome, trained.agreed.terms, report.traffic, revealed_by(trained)
    return TrainReport(
        run=trained.run,
        method=terms.method,
        omega=terms.omega if terms.ranks else None,
        accuracy=outcome.correct / outcome.records_test if outcome.correct is not None else None,
        correct=outcome.correct,
        records_test=outcome.records_test,
        smc_computations=outcome.smc_computations,
        seconds=report.seconds,
        bytes_sent=traffic.bytes_sent,
        bytes_received=traffic.bytes_received,
        round_trips=traffic.round_trips,
        exact_counts_disclosed=revealed.counts,
        counts_of=vars(revealed),
        phases=_phases(report),
        noise=None if terms.epsilon is None else str(terms.epsilon),
        delta=_delta(trained),
        seen=seen_json(trained.seen),
    )
