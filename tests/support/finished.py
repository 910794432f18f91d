"""A party's folder after a run, all that a page tells of it, and names that a page must not believe."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from party.cli.report import gathered
from party.keys.keystore import SECRET_FILE
from party.keys.passphrase import write_secret
from party.models.any_file import KeptResult, model_json, write_model
from party.node.players import FoundRules
from party.records.ledger import LedgerEntry
from party.records.ledger_entries import AlignmentEntry, CopyEntry
from party.records.run_file import read_train_report, write_train_report
from party.records.tally import ListsAligned
from party.show.page.run_page import Finished
from party.show.training import train_report
from protocols.association.joint import JointItemsets
from protocols.learning.tree import Tree
from protocols.tables import Attribute, Schema
from protocols.terms import Learner, Method, RuleTerms, Terms
from protocols.two_party.inputs import PartyInputs
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.parties import learned
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, trained

HOSTILE = "<script>window.hit=1</script>\"'><img src=x onerror=window.hit=1>&amp;{{7*7}}\x00\x1b[2J" + "W" * 60


KINDS = ("tree", "naive Bayes", "rules")


class RuleSessions(Sessions):
    """Two parties that look for rules."""

    rules = RuleCase(
        sizes={"alice": (2, 3), "bob": (2, 2)},
        codes=np.ascontiguousarray(CASE.codes[:, :4]),
        terms=rule_terms(RuleTerms(Fraction(1, 5), 3, 12), theta=Fraction(19, 20)),
    )

    def local(self, party: str) -> PartyInputs:
        """Return what a party brings."""
        return self.rules.local(party)


def finished_party(folder: Path, kind: str = "tree") -> Path:
    """Return Bob's settings after a run, beside which are the model, the ledger and the costs."""
    if kind == "rules":
        return finished_parties(RuleSessions(folder, CASE, ANY_ODDS), RuleSessions.rules.terms)["bob"]
    bayes = learned(CASE.terms, Learner.NAIVE_BAYES, method=Method.SMC)
    return finished_parties(Sessions(folder, CASE, ANY_ODDS), bayes if kind == "naive Bayes" else CASE.terms)["bob"]


def finished_parties(sessions: Sessions, terms: Terms) -> dict[str, Path]:
    """Return the settings of both sides after a run, beside which are the model, the ledger and the costs."""
    settings = {}
    for party, report in zip(NAMES, sessions.run(terms), strict=True):
        ended, own = report.ended, sessions.folder / party
        if not (own / SECRET_FILE).exists():
            write_secret(own / SECRET_FILE, sessions.local(party).secrets.coins)
        settings[party] = own / "party.toml"
        text = settings[party].read_text()
        settings[party].write_text(text.replace(f"smallest_key_bits = {CASE.terms.key_bits}", ""))
        if isinstance(ended, FoundRules):
            (own / "model.json").write_text(model_json(ended.found.itemsets))
        else:
            ended = trained(report)
            write_model(own / "model.json", ended.outcome.model)
        write_train_report(own / "report.json", train_report(ended, report))
    return settings


def page_facts(settings: Path) -> Finished:
    """Return what a page tells of the run, its costs among it."""
    folder = settings.parent
    return replace(gathered(settings, folder / "model.json"), costs=read_train_report(folder / "report.json"))


def _hostile_model(model: KeptResult) -> KeptResult:
    if isinstance(model, JointItemsets):
        return replace(model, attributes=tuple(map(_renamed, model.attributes)))
    columns, target = tuple(map(_renamed, model.schema.attributes)), _renamed(model.schema.class_attribute)
    schema = Schema(columns, target, model.schema.class_owners)
    return Tree(schema, model.root, model.growth) if isinstance(model, Tree) else replace(model, schema=schema)


def on_terms(told: Finished, **changes: object) -> Finished:
    """Return the same of a run on other terms, as JSON has them."""
    begun = replace(told.run.begun, terms={**told.run.begun.terms, **changes})
    return replace(told, run=replace(told.run, begun=begun))


def aligned(mine: int, yours: int, tries: int, times: int) -> dict[tuple[bytes, bytes], ListsAligned]:
    """Return what is known of two lists, of which 80 are common."""
    lists = (b"ours", b"theirs")
    said = AlignmentEntry("case", lists=lists, mine=mine, yours=yours, tries=tries, both=80, named=True, rows=False)
    return {lists: ListsAligned(LedgerEntry(1, {}, b""), said, times)}


def hostile(told: Finished) -> Finished:
    """Return the same with names, values and phases that hold markup."""
    assert told.costs is not None
    copy = told.run.copy
    if copy is not None:
        copy = replace(copy, groups=tuple(tuple(name + HOSTILE for name in group) for group in copy.groups))
    for side in (told.dealings.told, told.dealings.learned):
        side.copies = [_renamed_copy(copy) for copy in side.copies]
    return replace(
        told,
        model=_hostile_model(told.model),
        run=replace(told.run, begun=replace(told.run.begun, dataset=HOSTILE), itemsets=frozenset(), copy=copy),
        dealings=replace(told.dealings, dataset=HOSTILE),
        costs=replace(told.costs, phases={HOSTILE: 1.0}),
    )


def _renamed(attribute: Attribute) -> Attribute:
    values = tuple(value + HOSTILE for value in attribute.values)
    return Attribute(attribute.party, attribute.name + HOSTILE, values)


def _renamed_copy(copy: CopyEntry) -> CopyEntry:
    return replace(
        copy,
        odds={name + HOSTILE: odds for name, odds in copy.odds.items()},
        relations=tuple((first + HOSTILE, second + HOSTILE, modulus) for first, second, modulus in copy.relations),
    )
