"""Two parties grow a tree of which nothing else is revealed, and test it on records that both hold out (DESIGN 16).

Who is held out follows from both sides' commitments to their tables, each a digest under its side's secret: neither
knows it before it has fixed its own table, and the same tables have the same split in every run, so nobody is held out
in one and trained on in another. Our noise in the table of scores follows from the tables and the tree, too.

*Deviations*: a side that stops when it has seen the other's commitment may try tables until the split suits it, once.

Where a run goes on, transfers and shares are made again; the levels that both remember are not opened again.
"""

import hashlib
from collections.abc import Mapping

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.estimated import estimates_over
from protocols.counting.oblivious import sides_of
from protocols.learning.tree import Tree
from protocols.oblivious.extension import TREE_DEPTH, Transfers, set_up
from protocols.oblivious.gates import Gates, Triples
from protocols.randomness import canonical
from protocols.role import Phase, Role, in_phase
from protocols.secret_tree.bits import Allowance, Follows, what_follows
from protocols.secret_tree.growth import SecretTree
from protocols.secret_tree.held_out import Scores, noise_of_table, open_scores, room_for_table, said_rows
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.window import SecretRanking
from protocols.tables import Codes, Index
from protocols.terms import ALL, EPSILON_OF_SCORES
from protocols.two_party.agreement import Agreement
from protocols.two_party.copies import Copies
from protocols.two_party.inputs import PartyInputs, split_records
from protocols.two_party.noise import noise_of_model, tree_noise_of
from protocols.two_party.secure import RecordParts, first_side


def split_of(local: PartyInputs, agreed: Agreement) -> int:
    """Return what decides which records are held out."""
    return drawn_split({local.party: local.digest(b"commitment"), agreed.peer: agreed.commitment})


def drawn_split(commitments: Mapping[str, bytes]) -> int:
    """Return what decides which records are held out, of each party's commitment to its table by the party's name."""
    parts = (commitments[party] for party in sorted(commitments))
    return int.from_bytes(hashlib.sha256(canonical(b"cotally split", *parts)).digest(), "big")


def parts_of(local: PartyInputs, agreed: Agreement) -> tuple[Index, Index]:
    """Return the training records and those held out: by the seed of the terms, or where no count is shown as drawn."""
    draws = agreed.terms.hides_counts and agreed.terms.test
    seed = split_of(local, agreed) if draws else agreed.terms.seed
    return split_records(seed, len(local.records), agreed.terms.test)


def score(
    local: PartyInputs, agreed: Agreement, tree: Tree, held_out: Codes, transfers: Transfers, answers: KeptAnswers
) -> Role[Scores]:
    """Open how good a tree is on those held out, by joint codes with our own columns filled in.

    Discloses: as `open_scores`.
    """
    law, first = noise_of_table(EPSILON_OF_SCORES), first_side(local.party, agreed)
    classes, rows = tree.schema.classes, said_rows(tree)
    noise = noise_of_model(local, agreed).of_model(law, len(rows) * classes, b"scores", tree.parts())
    counts = SharedCounts(
        sides_of(tree.schema, first), held_out, transfers, is_chooser=first == local.party, room=room_for_table(law)
    )
    opening = open_scores(tree, counts, law, noise)
    said = [[each.tenth, each.label] for each in rows]

    def fits(numbers: AnswerNumbers) -> bool:
        return len(numbers) == len(rows) * (classes + 2) and (
            np.array(numbers).reshape(len(rows), -1)[:, :2].tolist() == said
        )

    numbers = yield from answers.ask(opening, fits)
    return Scores.read([*map(int, numbers)], classes, len(held_out), law)


def share_counts(
    local: PartyInputs, agreed: Agreement, codes: Codes, room: int = 0
) -> Role[tuple[SharedCounts, Gates]]:
    """Begin a session of transfers; return what counts these records with it, and what computes on the counts.

    `codes` are joint, with our own columns filled in; what is computed may be larger than their number by `room`.

    Discloses: nothing; what crosses is masked.
    """
    chooser, randomness = first_side(local.party, agreed), local.secrets.randomness
    first, sides = chooser == local.party, sides_of(agreed.schema, chooser)
    transfers = yield from set_up(TREE_DEPTH, randomness, local.computing.places)
    counts = SharedCounts(sides, np.asfortranarray(codes), transfers, is_chooser=first, room=room)
    return counts, Gates(first, transfers, Triples(transfers, randomness))


def grow_secretly(
    local: PartyInputs, agreed: Agreement, copies: Copies, parts: RecordParts, answers: KeptAnswers
) -> Role[tuple[Tree, Scores | None]]:
    """Grow the tree of the training records, and open how good it is on those held out, if any are.

    Discloses: the windows, if there are some; which attribute splits which node, and the class of each leaf, chosen
    with our noise if the terms have any; with our noise in it, how many held-out records have which label, by class.
    """
    codes, held_out = (agreed.schema.recode(copies.view.rows(part).codes) for part in parts)
    counts, gates = yield from share_counts(local, agreed, codes)
    terms, ranking = agreed.terms, None
    if terms.window is not ALL:
        estimates = estimates_over(agreed.schema, copies.view.rows(parts[0]))
        ranking = SecretRanking(estimates, agreed.schema.classes, terms.growth, gates, answers)
    allowance, noise = Allowance.of(agreed.schema, terms, len(local.records)), tree_noise_of(local, agreed, len(codes))
    tree = yield from SecretTree(allowance, terms.growth, counts, gates, answers, noise, ranking).build()
    if not len(held_out):
        return tree, None
    scoring = score(local, agreed, tree, held_out, gates.transfers, answers)
    return tree, (yield from in_phase(scoring, Phase.HELD_OUT))


def deduced(local: PartyInputs, agreed: Agreement, tree: Tree) -> Follows:
    """Return what follows for certain of our training records from such a tree alone."""
    schema, records, terms = agreed.learning.schema, len(local.records), agreed.terms
    codes = np.zeros((records, len(schema.base.columns)), np.uint8)
    places = {(each.party, each.name): place for place, each in enumerate(schema.base.attributes)}
    held = [places.get((each.party, each.name), schema.base.class_index) for each in local.table.attributes]
    codes[:, held] = local.table.codes  # NB: the schema of a model's file has no owners of the class
    train, _ = parts_of(local, agreed)
    alone = schema.class_owners == (local.party,)
    return what_follows(
        tree,
        {*schema.held_by(local.party), *([schema.class_index] if local.holds_class else [])},
        schema.recode(codes)[train],
        Allowance.of(schema, terms, records),
        alone=alone,
    )
