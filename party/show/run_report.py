"""What a run cost and gave, as the value that programs read; its phases have the words that progress shows."""

from party.node.players import Trained
from party.node.session import Report
from party.records.train_report import TrainReport
from party.show.progress import WORDS
from protocols.noise.accounting import delta_of


def train_report(trained: Trained, report: Report) -> TrainReport:
    """Return what a run of training cost, as `cotally demo` and scripts read it."""
    outcome, terms, traffic = trained.outcome, trained.agreed.terms, report.traffic
    return TrainReport(
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
        exact_counts_disclosed=outcome.exact_counts_disclosed,
        phases={WORDS[phase]: seconds for phase, seconds in report.phases.items()},
        noise=None if terms.noise is None else str(terms.noise),
        delta=None if terms.noise is None else float(delta_of(terms.noise)),
    )
