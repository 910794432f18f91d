"""A run of two parties in words: who listens, what was agreed, what came of it."""

from pathlib import Path

from party.forecast.model import Forecast, most_counts
from party.names import printable
from party.node.check import Assessment, spendings
from party.node.players import Trained
from party.settings.depth import depth_text
from party.settings.noise import noise_text
from party.settings.toml import window_text
from party.show.assessment import amount_lines, follows_lines, noise_lines
from party.show.costs import forecast_text, key_text
from party.show.model import telling_lines
from party.show.privacy_short import own_odds
from party.show.reading import reading_line
from party.show.run_report import revealed_by
from party.show.worth import worth_lines
from protocols.learning.naive_bayes import Model, commonest_share
from protocols.learning.tree import Tree
from protocols.noise.accounting import Spending, TreeSpending
from protocols.privacy.attack import Disclosure
from protocols.randomized_response.moments import records_to_tell, tells
from protocols.terms import Learner, Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.split import training_records

_LEARNERS = {Learner.TREE: "tree", Learner.NAIVE_BAYES: "naive Bayes"}


def listening(name: str, address: str, peer: str) -> str:
    """Say that a party is ready for its peer."""
    return f"{name} listens on {address} for {peer}"


def interrupted(reason: str) -> str:
    """Say that a run was interrupted, and that it goes on when the peer is met again."""
    return f"cotally: note: {reason}; calling again"


def agreed_lines(local: PartyInputs, agreed: Agreement, read: Disclosure | None) -> list[str]:
    """Say what was agreed and, if a copy of ours leaves, what its receiver reads."""
    terms = agreed.terms
    own = agreed.own_design
    copy = [*own_odds(local, own), reading_line(read, "our copy")] if own.sizes else []
    if terms.rules is not None:
        told = f"Agreed with {agreed.peer}: {_rules_text(agreed)}"
        return [told, *copy]
    window = f", omega {window_text(terms.omega)}" if terms.ranks else ""
    theta = f", theta {terms.theta}" if terms.disguises else ""
    depth = f", max_depth {depth_text(terms.max_depth)}" if terms.learner is Learner.TREE else ""
    limits = f"{depth}, min_leaf {terms.min_leaf}, {terms.impurity}"
    noise = "" if terms.noise is None else f", noise {noise_text(terms.noise)}"
    attributes = f"{len(agreed.schema.attributes)} attributes"
    hidden = ", the tree alone is revealed" if terms.hides_counts else ""
    how = f"{terms.method}{theta}{window}{_counting(terms)}{limits}{noise}{hidden}"
    told = f"{_LEARNERS[terms.learner]} by {how}, class {terms.class_name!r}, {attributes}"
    return [
        f"Agreed with {agreed.peer}: {told}",
        *noise_lines(terms, _spent(local, agreed)),
        *copy,
    ]


def _spent(local: PartyInputs, agreed: Agreement) -> tuple[Spending, Spending] | TreeSpending | None:
    """Return what both sides spend on noise."""
    schema, train = agreed.schema, training_records(len(local.records), agreed.terms)
    own = sum(attribute.party == local.party for attribute in schema.attributes)
    alone = schema.class_owners == (local.party,)
    return spendings(agreed.terms, own, len(schema.attributes) - own, train, alone=alone)


def _rules_text(agreed: Agreement) -> str:
    terms = agreed.terms
    theta = f", theta {terms.theta}" if terms.disguises else ""
    columns = f"{len(agreed.schema.attributes)} columns"
    return f"association rules, {terms.method}{theta}{_counting(terms)}, {_looked_for(terms)}, {columns}"


def _counting(terms: Terms) -> str:
    return f", {terms.counting}" if terms.counts_exactly else ""


def _looked_for(terms: Terms) -> str:
    hidden = {"absent"} if terms.rules and terms.rules.min_threshold else {"absent", "metric", "min_threshold"}
    told = [f"{name} {value}" for name, value in vars(terms.rules).items() if name not in hidden]
    absent = terms.rules.absent if terms.rules else ()
    none = [f"absent {printable(', '.join(absent))}"] if absent else []
    return ", ".join([*told, f"min_leaf {terms.min_leaf}", *none])


def expected(forecast: Forecast, terms: Terms) -> list[str]:
    """Say what a run on which both agreed will cost and reveal."""
    revealed = amount_lines(Assessment(terms, forecast.counts, forecast.likely_counts, bits=forecast.bits))
    return [f"Expect {forecast_text(forecast)}", *revealed]


def result_lines(trained: Trained, model: Path) -> list[str]:
    """Say what came of a run whose model was written there, and that both sides end with the same model."""
    outcome = trained.outcome
    return [
        f"Both parties hold the same {_model_text(outcome.model)}, digest {outcome.model.digest().hex()[:16]}",
        *_accuracy(trained),
        *telling_lines(outcome.model),
        *follows_lines(trained.follows),
        *worth_lines(outcome.model, outcome.beats_guessing),
        *_counts(trained),
        f"Wrote {model}: `cotally show {model}` prints it",
        *([key_text(outcome.key)] if outcome.key else []),
    ]


def _model_text(model: Model) -> str:
    if isinstance(model, Tree):
        return f"tree: {model.size} nodes, depth {model.depth}"
    return f"naive Bayes model: {len(model.schema.attributes)} attributes"


def _accuracy(trained: Trained) -> list[str]:
    outcome = trained.outcome
    if outcome.correct is None:
        return [] if not outcome.records_test else ["How good the tree is, only who holds the class can estimate"]
    share = outcome.correct / outcome.records_test
    records = f"on {outcome.records_test} held-out records"
    share_of_commonest = commonest_share(outcome.model)
    commonest = ""
    if share_of_commonest is not None:
        commonest = f"The commonest class has {share_of_commonest:.3f} of the training records"
    elif outcome.scores is not None:
        commonest = f"The commonest class has about {outcome.scores.commonest_share:.3f} of them"
    guess = [commonest] if commonest else []
    error = outcome.standard_error / outcome.records_test
    if trained.agreed.terms.counts_exactly or not error:  # what is mined may read its miner's own columns alone
        noise = f", with noise of a standard error of {error:.3f}" if error else ""
        return [f"Accuracy {share:.3f} {records}{noise}", *guess]
    if not tells(error):
        few = f"Accuracy: {outcome.records_test} held-out records are too few to tell it from disguised copies"
        enough = f"about {records_to_tell(outcome.records_test, error):,} would do"
        return [f"{few} (standard error of up to {error:.3f}); {enough}", *guess]
    told = f"Accuracy estimated from the disguised copy, for us alone, as {share:.3f} {records}"
    return [f"{told}, with a standard error of up to {error:.3f}", *guess]


def _counts(trained: Trained) -> list[str]:
    """Say how many counts the run revealed, and how many it did without."""
    agreed, outcome = trained.agreed, trained.outcome
    sizes = [attribute.size for attribute in agreed.schema.attributes], agreed.schema.classes, outcome.records_train
    forecast = Assessment(agreed.terms, most_counts(*sizes, agreed.terms), likely=None)
    return list(amount_lines(forecast, revealed_by(trained)))
