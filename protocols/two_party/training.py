"""One run of two parties, from agreement to equal models (DESIGN 6 and 7), as a role.

    class counts      from who holds the class (none with reveal = "tree", or `randomized`)
    disguised copies  both ways (not for `smc`; of `randomized` to who mines); each side says whether it knows the other
                      by another one
    transfers         both ways: a session of them; where counts are encrypted, the key holder's public key
                      (neither for `randomized`)
    the model         a tree level by level, or by `randomized` sent by who mined it; naive Bayes by one batch of counts
    accuracy          one number; with reveal = "tree" a table of the held-out records, with noise (of `randomized`
                      the miner's own estimate, which does not cross)
    model digests     both ways, and they must be equal

Both sides run the same code; which of them chooses, or holds the key, follows from what both know.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from protocols.counting.checks import Checks, KeptCounts, Plausibility
from protocols.counting.estimated import Estimator
from protocols.counts import Correct, CountEngine, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.merit import Ranking
from protocols.learning.model import Model, beats_commonest, beats_when_tested
from protocols.learning.naive_bayes import bayes_of_counts
from protocols.learning.tree import Tree
from protocols.noise.both import EXACT, BothNoises, Noises, RefinedCounts
from protocols.noise.geometric import most_variance
from protocols.role import Kept, Phase, Role, in_phase, nothing
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.held_out import Scores
from protocols.secret_tree.window import SecretRanking
from protocols.tables import ROOT
from protocols.terms import ALL, Learner
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import (
    ClassTally,
    Copies,
    CopyJudge,
    Leaving,
    PutOnRecord,
    confirm_same_model,
    exchange_copies,
    judge_class,
    share_class_counts,
)
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import Resumed, resume
from protocols.two_party.mined import estimated_correct, mine, receive_mined
from protocols.two_party.noise import noises_of
from protocols.two_party.secret import grow_secretly, parts_of
from protocols.two_party.secure import SecureCounting, SharedKey


@dataclass(frozen=True)
class Outcome:
    """What both parties end with.

    `correct` is the number of test records classified correctly: exact, with noise, or of `randomized` the miner's own
    estimate, with a standard error of at most `standard_error`; None where it is not known. `exact_counts_disclosed`
    are the computations, one count per class, and the accuracy where it is exact.
    """

    model: Model
    records_train: int
    records_test: int
    correct: float | None
    standard_error: float
    smc_computations: int
    exact_counts_disclosed: int
    key: SharedKey | None = None
    scores: Scores | None = None

    @property
    def beats_guessing(self) -> bool | None:
        """Whether it did better on records held out than the commonest class; None where it was not tested."""
        if self.correct is None or not self.records_test:
            return None
        if self.scores is not None:
            return beats_commonest(self.scores.commonest_share, self.correct, self.records_test, self.standard_error)
        return beats_when_tested(self.model, self.correct, self.records_test, self.standard_error)

    @property
    def tree(self) -> Tree:
        """The model of a run that has built a tree."""
        if not isinstance(self.model, Tree):
            raise InputError("the run has built no tree")
        return self.model


Keep = Callable[[Model], None]


def training_role(
    local: PartyInputs,
    agreed: Agreement,
    judge: CopyJudge = nothing,
    keep: Keep = nothing,
    record: PutOnRecord = nothing,
    kept: Kept | None = None,
) -> Role[Outcome]:
    """Play one party's part of a run.

    `judge` sees a digest of the peer's disguised copy, keyed by our secret, before anything that depends on the copy
    leaves; `keep` puts the model where nothing can lose it, before the peer hears that we hold it; `record` puts on
    record what leaves next: at the latest when both have accepted the class. `kept` is of a run that goes on.

    Discloses: to the peer, whether a class is too rare, if we hold it; our disguised copy (unless `smc`, or of
    `randomized` if we mine), the windows (`hybrid`) or the tree that we mined (`randomized`); unless `randomized`, our
    training class counts if we hold the class, the exact counts of the windows, and the number of correctly classified
    test records; with `reveal = "tree"` in place of all counts the tree, and the table of held-out records with our
    noise. The peer's model is the same as ours.
    """
    resumed = yield from resume(kept, agreed.nonces, opens_once=agreed.terms.hides_counts)
    return (yield from _Run(local, agreed, judge, keep, resumed).play(record))


@dataclass(frozen=True)
class _Grown:
    """The model, how good it is, how many counts it took and how many class counts were sent, and the key used."""

    model: Model
    correct: Correct | None
    computations: int = 0
    class_counts: int = 0
    key: SharedKey | None = None
    scores: Scores | None = None


class _Run:
    """One run, so that each step reads like a line of the module's table; what a step gives the next one takes."""

    def __init__(self, local: PartyInputs, agreed: Agreement, judge: CopyJudge, keep: Keep, resumed: Resumed) -> None:
        self._local, self._agreed, self._learning, self._terms = local, agreed, agreed.learning, agreed.terms
        self._judge, self._keep, self._resumed = judge, keep, resumed
        self._draws = bool(agreed.terms.hides_counts and agreed.terms.test)
        self._train, self._test = self._parts = parts_of(local, agreed)
        self._noises: Noises = noises_of(local, self._learning) or EXACT

    def play(self, record: PutOnRecord) -> Role[Outcome]:
        """Go through the steps."""
        grown = yield from (self._by_counts if self._terms.reveals_counts else self._without_counts)(record)
        self._keep(grown.model)
        yield from confirm_same_model(grown.model.digest())
        return self._outcome(grown)

    def _without_counts(self, record: PutOnRecord) -> Role[_Grown]:
        """Open a tree, or mine it at one side: no count is revealed."""
        if self._draws:
            record(Leaving.REST)  # both tables: over many splits the word on the class would show single classes
        yield from judge_class(self._local, self._terms, self._train, record)
        copies = yield from self._copies()
        if self._terms.mines:
            return (yield from self._mine(copies))
        tree, scores = yield from grow_secretly(self._local, self._learning, copies, self._parts, self._resumed.answers)
        correct = None if scores is None else Correct(float(scores.correct), scores.correct_error)
        return _Grown(tree, correct, scores=scores)

    def _by_counts(self, record: PutOnRecord) -> Role[_Grown]:
        """Learn from counts that are revealed."""
        class_counts = yield from share_class_counts(
            self._local, self._learning, self._train, self._noises, self._resumed.answers, record
        )
        copies = yield from self._copies()
        return (yield from self._learn(copies, class_counts))

    def _copies(self) -> Role[Copies]:
        return exchange_copies(self._local, self._agreed, self._judge, self._resumed.copy)

    def _mine(self, copies: Copies) -> Role[_Grown]:
        """Let the class holder mine; of two, the first name."""
        schema, terms = self._learning.schema, self._terms
        allowance = Allowance.of(schema, terms, len(self._local.records))
        if schema.class_attribute.party != self._local.party:
            return _Grown((yield from receive_mined(schema, len(self._train), terms.growth, allowance)), None)
        train, test = (copies.view.rows(part) for part in self._parts)
        tree = yield from mine(train, self._local.class_counts(self._train), terms.growth, allowance)
        return _Grown(tree, estimated_correct(tree, test))

    def _learn(self, copies: Copies, class_counts: ClassTally) -> Role[_Grown]:
        schema, terms, train = self._learning.schema, self._terms, copies.view.rows(self._train)
        estimator = Estimator(train) if terms.disguises else None
        plausibility = None if estimator is None else Plausibility(train, estimator, self._noises)
        checks = Checks(schema, len(train), plausibility, self._noises.cells.both)
        counting = SecureCounting(self._local, self._learning, copies, self._parts, checks, self._noises)
        engine, key = yield from counting.engine()
        kept = KeptCounts(engine, checks, self._resumed.answers)
        yield from kept.set_up()
        ranking: Ranking | None = None
        if estimator is not None and terms.window is not ALL:
            gates = yield from counting.gates(engine)
            ranking = SecretRanking(estimator, schema.classes, terms.growth, gates, self._resumed.answers)
        refined, counts = self._refined(kept), tuple(max(0, count) for count in class_counts)
        model: Model
        match terms.learner:
            case Learner.TREE:
                grown = yield from HybridId3(schema, counts, terms.window, refined, ranking, terms.growth).build()
                model, computations = grown.tree, grown.computations
            case Learner.NAIVE_BAYES:
                query = Query(ROOT, tuple(range(len(schema.attributes))), counts)
                (answer,) = yield from refined.count([query])
                model, computations = bayes_of_counts(schema, counts, answer.tables), sum(query.cells(schema))
            case Learner.RULES:
                raise InputError("rules have a run of their own")
            case unknown:
                assert_never(unknown)
        correct = yield from in_phase(kept.count_correct(model), Phase.HELD_OUT)
        return _Grown(model, correct, computations, len(class_counts), key)

    def _refined(self, engine: CountEngine) -> CountEngine:
        """Return the engine as the learner sees it; class counts have the noise of who holds the class alone."""
        noises, owners = self._noises, self._learning.schema.class_owners
        if not isinstance(noises, BothNoises):
            return engine
        law = noises.own.spending.cells if owners == (self._local.party,) else noises.theirs.cells
        class_variance = most_variance(law) if len(owners) == 1 else 0.0
        return RefinedCounts(engine, self._learning.schema, noises.variance, class_variance)

    def _outcome(self, grown: _Grown) -> Outcome:
        tested = len(self._test) > 0
        return Outcome(
            model=grown.model,
            records_train=len(self._train),
            records_test=len(self._test),
            correct=grown.correct.count if grown.correct is not None and tested else None,
            standard_error=0.0 if grown.correct is None else grown.correct.error,
            smc_computations=grown.computations,
            exact_counts_disclosed=grown.class_counts + (grown.computations + tested) * self._terms.reveals_counts,
            key=grown.key,
            scores=grown.scores,
        )
