"""A party's folder after a run, all that a page tells of it, and names that a page must not believe."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from party.keys.keystore import SECRET_FILE
from party.keys.secret_file import write_secret
from party.models.any_file import write_model
from party.records.train_report import write_train_report
from party.show.page.run_page import Finished
from party.show.run_report import train_report
from protocols.learning.tree import Tree
from protocols.tables.schema import Attribute, Schema
from tests.party.node.test_what_is_remembered import ANY_ODDS, CASE
from tests.support.sessions import Sessions, trained

HOSTILE = "<script>window.hit=1</script>\"'><img src=x onerror=window.hit=1>&amp;{{7*7}}\x00\x1b[2J" + "W" * 60


def finished_party(folder: Path) -> Path:
    """Return Bob's settings after a run, beside which are the model, the ledger and the costs."""
    sessions = Sessions(folder, CASE, ANY_ODDS)
    _, report = sessions.run()
    bob = folder / "bob"
    write_secret(bob / SECRET_FILE, sessions.local("bob").secrets.coins)
    settings = bob / "party.toml"
    settings.write_text(settings.read_text().replace(f"smallest_key_bits = {CASE.terms.key_bits}", ""))
    write_model(bob / "model.json", trained(report).outcome.tree)
    write_train_report(bob / "report.json", train_report(trained(report), report))
    return settings


def hostile(told: Finished) -> Finished:
    """Return the same with names, values and phases that hold markup."""
    schema = told.tree.schema
    columns = tuple(_renamed(each) for each in schema.attributes)
    target = _renamed(schema.class_attribute)
    tree = Tree(Schema(columns, target, schema.class_owners), told.tree.root, told.tree.growth)
    assert told.run.copy is not None
    assert told.costs is not None
    groups = [[name + HOSTILE for name in group] for group in told.run.copy["groups"]]
    for side in (told.dealings.told, told.dealings.learned):
        side.copies = [_renamed_copy(copy) for copy in side.copies]
    return replace(
        told,
        tree=tree,
        run=replace(told.run, dataset=HOSTILE, copy={**told.run.copy, "groups": groups}),
        dealings=replace(told.dealings, dataset=HOSTILE),
        costs=replace(told.costs, phases={HOSTILE: 1.0}),
    )


def _renamed(attribute: Attribute) -> Attribute:
    values = tuple(value + HOSTILE for value in attribute.values)
    return Attribute(attribute.party, attribute.name + HOSTILE, values)


def _renamed_copy(copy: Any) -> Any:
    return {
        **copy,
        "odds": {name + HOSTILE: odds for name, odds in copy["odds"].items()},
        "relations": [[first + HOSTILE, second + HOSTILE, modulus] for first, second, modulus in copy["relations"]],
    }
