"""A run of two parties in words: who listens, what was agreed, what came of it; and a table of counts of both."""

from collections.abc import Iterator
from dataclasses import asdict
from math import sqrt
from pathlib import Path

import numpy as np

from party.forecast.model import Forecast
from party.names import printable
from party.node.check import assess_agreed
from party.node.players import FoundRules, Tabulated, Trained
from party.node.session import Report
from party.records.run_file import TrainReport
from party.records.tally import Revealed
from party.show.assessment import amount_lines, ended_lines, follows_lines, noise_lines, revealed_lines, seen_json
from party.show.baskets import doubt_lines, numbers_text
from party.show.costs import forecast_text, key_text
from party.show.document import Block, Grid, ScreenColumn, counted
from party.show.privacy_short import own_odds, reading_json, reading_line
from party.show.progress import WORDS
from party.show.quality import OPENED, quality_json, quality_lines, ranking_json, score_grids, worth_json, worth_lines
from party.show.tree import pure_leaves
from protocols.learning.model import commonest_share
from protocols.learning.tree import Tree
from protocols.noise.accounting import delta_of
from protocols.privacy.attack import Disclosure
from protocols.randomized_response.moments import records_to_tell, tells
from protocols.tables import Attribute
from protocols.terms import DEPTH, NOISE, OMEGA, Leaves, MiningTerms, Splits, Terms, TreeTerms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs


def revealed_by(ended: Trained | FoundRules) -> Revealed:
    """Return how many counts a run has revealed: as the ledger has it."""
    if isinstance(ended, FoundRules):
        found = ended.found
        if ended.agreed.terms.hides_counts:
            return Revealed()
        sets = found.own + found.counted if ended.agreed.terms.counts_exactly else 0
        return Revealed(classes=1, sets=sets)
    outcome = ended.outcome
    if not ended.agreed.terms.reveals_counts:
        return Revealed()
    classes, counted = outcome.model.schema.classes, outcome.smc_computations
    return Revealed(counted, classes, outcome.exact_counts_disclosed - counted - classes)


def train_report(ended: Trained | FoundRules, report: Report) -> TrainReport:
    """Return what a run cost, as `cotally demo` and scripts read it; of rules nothing is held out."""
    terms, traffic, revealed = ended.agreed.terms, report.traffic, revealed_by(ended)
    outcome = ended.outcome if isinstance(ended, Trained) else None
    correct, tested = (None, 0) if outcome is None else (outcome.correct, outcome.records_test)
    epsilon, columns = terms.epsilon if outcome else None, len(ended.agreed.learning.schema.attributes)
    return TrainReport(
        run=ended.run,
        method=terms.method,
        omega=terms.omega if outcome and terms.ranks else None,
        accuracy=None if correct is None else correct / tested,
        correct=correct,
        records_test=tested,
        smc_computations=ended.outcome.smc_computations if isinstance(ended, Trained) else ended.found.counted,
        seconds=report.seconds,
        bytes_sent=traffic.bytes_sent,
        bytes_received=traffic.bytes_received,
        round_trips=traffic.round_trips,
        exact_counts_disclosed=revealed.counts,
        counts_of=vars(revealed),
        phases={WORDS[phase]: seconds for phase, seconds in report.phases.items()},
        noise=None if epsilon is None else str(epsilon),
        delta=None if epsilon is None else float(delta_of(epsilon, max(columns, 2) if terms.noises_tree else 1)),
        seen=seen_json(ended.seen),
    )


def report_json(report: TrainReport, model: Path, ended: Trained | FoundRules) -> dict[str, object]:
    more: dict[str, object] = {"read": reading_json(ended.read), "pure_leaves": None, "follows": None}
    if isinstance(ended, Trained):
        pure = pure_leaves(ended.outcome.model, ended.agreed.terms)
        more |= worth_json(ended.outcome.model, ended.outcome.beats_guessing)
        more["pure_leaves"] = pure
        scores, classes = ended.outcome.scores, ended.outcome.model.schema.class_attribute.values
        more["quality"] = None if scores is None else quality_json(scores.table, classes)
        more["ranking"] = None if scores is None else ranking_json(scores.table, classes)
        more["follows"] = ended.follows
    return {"format": "cotally-train/1", "model": model, **asdict(report), **more}


def listening(name: str, address: str, peer: str) -> str:
    return f"{name} listens on {address} for {peer}"


def interrupted(reason: str) -> str:
    return f"cotally: note: {reason}; calling again"


def waits_for_people(reason: str) -> str:
    return f"cotally: note: {reason}; asking again until then (Ctrl-C ends that; the same command later goes on)"


def proposed_line(peer: str, *, waits: bool) -> str:
    if waits:
        return f"{peer} keeps this job for its people to decide about: `cotally train` on these terms waits for them."
    return f"{peer} takes part in this job: `cotally train` runs it."


def agreed_lines(local: PartyInputs, agreed: Agreement, read: Disclosure | None) -> list[str]:
    terms, own = agreed.terms, agreed.own_design
    copy = [*own_odds(local, own), reading_line(read, "our copy")] if own.sizes else []
    schema, people = agreed.learning.schema, len(local.records)
    alone = schema.class_owners == (local.party,)
    run = assess_agreed(agreed.terms, schema.attributes, schema.classes, people, local.party, alone=alone)
    text = _rules_text(agreed, terms) if isinstance(terms, MiningTerms) else _tree_text(agreed)
    return [f"Agreed with {agreed.peer}: {text}", *amount_lines(run), *noise_lines(run), *copy]


def _tree_text(agreed: Agreement) -> str:
    terms = agreed.terms
    window = f", omega {OMEGA.text(terms.omega)}" if terms.ranks else ""
    theta = f", theta {terms.theta}" if terms.disguises else ""
    limits = f", min_leaf {terms.min_leaf}"
    if isinstance(terms, TreeTerms):
        limits = f", max_depth {DEPTH.text(terms.max_depth)}{limits}, {terms.impurity}"
    noise = "" if terms.noise is None else f", noise {NOISE.text(terms.noise)}"
    attributes = f"{len(agreed.schema.attributes)} attributes"
    splits = ", two-way splits" if terms.splits == Splits.TWO_WAY else ""
    leaves = ", leaves in tenths" if terms.leaves == Leaves.TENTHS else ""
    weights = f", weights {printable(' '.join(terms.weights))}" if terms.weights else ""
    hidden = f"{splits}{leaves}{weights}, the tree alone is revealed" if terms.hides_counts else ""
    how = f"{terms.method}{theta}{window}{_counting(terms)}{limits}{noise}{hidden}"
    return f"{terms.learner.replace('naive_bayes', 'naive Bayes')} by {how}, class {terms.class_name!r}, {attributes}"


def _rules_text(agreed: Agreement, terms: MiningTerms) -> str:
    theta = f", theta {terms.theta}" if terms.disguises else ""
    hidden = {"absent"} if terms.rules.min_threshold else {"absent", "metric", "min_threshold"}
    shown = [f"{name} {value}" for name, value in vars(terms.rules).items() if name not in hidden]
    absent = [f"absent {printable(', '.join(terms.rules.absent))}"] if terms.rules.absent else []
    shown += [f"min_leaf {terms.min_leaf}", *absent]
    columns = f"{len(agreed.schema.attributes)} columns"
    return f"association rules, {terms.method}{theta}{_counting(terms)}, {', '.join(shown)}, {columns}"


def _counting(terms: Terms) -> str:
    return f", {terms.counting}" if terms.counts_exactly else ""


def expected(forecast: Forecast) -> list[str]:
    return [f"Expect {forecast_text(forecast)}"]


def result_lines(trained: Trained, path: Path) -> list[Block]:
    outcome, agreed = trained.outcome, trained.agreed
    model = outcome.model
    if isinstance(model, Tree):
        size = f"tree: {counted(model.size, 'node')}, depth {model.depth}"
    else:
        size = f"naive Bayes model: {len(model.schema.attributes)} attributes"
    return [
        f"Both parties hold the same {size}, digest {model.digest().hex()[:16]}",
        *_accuracy(trained),
        *_tables(trained),
        *follows_lines(trained.follows, agreed.peer, holds_class=agreed.peer not in agreed.schema.class_owners),
        *worth_lines(model, outcome.beats_guessing, None if outcome.scores is None else outcome.scores.table),
        *ended_lines(model, agreed.terms, outcome.records_train + outcome.records_test),
        *revealed_lines(agreed.terms, revealed_by(trained)),
        f"Wrote {path}: `cotally show {path}` prints it",
        *([key_text(outcome.key)] if outcome.key else []),
    ]


def _tables(trained: Trained) -> Iterator[Block]:
    """Yield the tables of the people held out, and why they need not add up."""
    if (scores := trained.outcome.scores) is not None:
        yield OPENED
        yield from score_grids(scores.table, trained.outcome.model.schema.class_attribute.values)


def _accuracy(trained: Trained) -> list[str]:
    outcome = trained.outcome
    if outcome.correct is None:
        return ["Only the party that holds the class can estimate how good the tree is"] * (outcome.records_test > 0)
    share = outcome.correct / outcome.records_test
    records = f"on {outcome.records_test} held-out records"
    if outcome.scores is not None:
        tried = f"{outcome.scores.records:,} held-out records"
        return quality_lines(outcome.scores.table, outcome.model.schema.class_attribute.values, tried)
    common = commonest_share(outcome.model)
    guess = [] if common is None else [f"The commonest class has {common:.3f} of the training records"]
    error = outcome.standard_error / outcome.records_test
    if trained.agreed.terms.counts_exactly or not error:  # what is mined may read its miner's own columns alone
        noise = f", with noise of a standard error of {error:.3f}" if error else ""
        return [f"Accuracy {share:.3f} {records}{noise}", *guess]
    if not tells(error):
        few = f"Accuracy: {outcome.records_test} held-out records are too few to estimate it from disguised copies"
        enough = f"about {records_to_tell(outcome.records_test, error):,} would do"
        return [f"{few} (standard error of up to {error:.3f}); {enough}", *guess]
    line = f"Accuracy estimated from the disguised copy, for us alone, as {share:.3f} {records}"
    return [f"{line}, with a standard error of up to {error:.3f}", *guess]


def found_rules_lines(ended: FoundRules, model: Path) -> Iterator[str]:
    found, terms = ended.found, ended.agreed.terms
    digest = found.itemsets.digest().hex()[:16]
    yield f"Both parties hold the same itemsets: {numbers_text(found.itemsets)}, digest {digest}"
    yield from doubt_lines(found.itemsets)
    if terms.counts_exactly:
        yield from revealed_lines(terms, revealed_by(ended))
        if terms.hides_counts:
            rules = "" if found.itemsets.reached is None else ", and rules of them,"
            yield f"{found.counted:,} sets with items of both{rules} were asked about"
        else:
            yield f"Of the sets, {found.own:,} are of one side's items (counts sent), {found.counted:,} of both"
    if found.withheld:
        yield (
            f"{found.withheld:,} frequent sets of our own were not used: they differ from others in fewer than "
            f"min_leaf = {terms.min_leaf} records, about whom they would say too much"
        )
    has_rules = found.itemsets.has_counts or found.itemsets.reached is not None
    listing = f"`cotally rules {model}` lists the rules" if has_rules else f"`cotally show {model}` lists them"
    yield f"Wrote {model}: {listing}"
    if found.key is not None:
        yield key_text(found.key)


def crosstab_lines(ended: Tabulated) -> Iterator[Block]:
    (own, theirs), rows = _ours_first(ended)
    noise, records = ended.agreed.terms.noise, f"of {len(ended.agreed.local.records):,} people"
    names = f"{printable(own.name)!r}, in rows, by {printable(theirs.name)!r} of {ended.agreed.peer}"
    how = f"exact counts {records}"
    if noise is not None:
        about = f"a count is off by about {_error(ended):.0f}, and may be below 0"
        how = f"counts {records} with noise of both sides, epsilon {NOISE.text(noise)} against each; {about}"
    yield f"Our column {names}: {how}"
    heads = [ScreenColumn("", is_text=True), *(ScreenColumn(printable(value)) for value in theirs.values)]
    cells = [[printable(value), *map(str, row)] for value, row in zip(own.values, rows, strict=True)]
    yield Grid(heads, cells, folds=True)


def _error(ended: Tabulated) -> float:
    """Return the standard error of a count: both sides' noise is in it."""
    law = ended.agreed.law
    return 0.0 if law is None else sqrt(2 * law.variance)


def _ours_first(ended: Tabulated) -> tuple[tuple[Attribute, Attribute], list[list[int]]]:
    first, second = ended.agreed.schema.columns
    table = np.reshape(ended.cells, ended.agreed.sizes)
    if first.party == ended.agreed.local.party:
        return (first, second), table.tolist()
    return (second, first), table.T.tolist()


def crosstab_json(ended: Tabulated) -> dict[str, object]:
    agreed = ended.agreed
    (own, theirs), rows = _ours_first(ended)
    return {
        "format": "cotally-crosstab/1",
        "peer": agreed.peer,
        "records": len(agreed.local.records),
        "column": own.name,
        "values": own.values,
        "peer_column": theirs.name,
        "peer_values": theirs.values,
        "counts": rows,
        "noise": agreed.terms.noise,
        "error": _error(ended),
    }
