"""Both sides of a run that is rehearsed here, nobody called: our columns, and what stands for the partner's."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from party.node.aligning import load_common
from party.node.check import Assessment, Supposed, assess_job, sends_copy
from party.node.inputs import Tell, groups_of, load_inputs
from party.settings.party import PartyConfig
from protocols.errors import CotallyError, InputError
from protocols.privacy.attack import Disclosure
from protocols.randomness import keyed_digest
from protocols.simulation.rehearsal import Rehearsed, rehearse
from protocols.tables import Table
from protocols.terms import (
    ALL,
    KEY_FLOOR,
    LEAF_OF_TENTHS,
    Impurity,
    Leaves,
    Method,
    Splits,
    TermError,
    Terms,
    balancing_weights,
    leaf_of_weights,
    whole_weights,
)
from protocols.two_party.inputs import PartyInputs


@dataclass(frozen=True)
class Tried:
    """What one choice of terms gave: by the terms in which it differs from the job, what a run ends with and reveals.

    `plain` is what `smc` ends with on these terms, `read` what the receiver of our copy reads, if it hides anything.
    """

    changes: tuple[str, ...]
    terms: Terms
    found: Rehearsed
    plain: Rehearsed
    sends: bool
    read: Disclosure | None

    @property
    def cost_ratio(self) -> float | None:
        """Its exact counts over those of `smc`; None where no window leaves any out."""
        ranks = self.terms.ranks and self.plain.computations
        return self.found.computations / self.plain.computations if ranks else None


@dataclass(frozen=True)
class Sides:
    """Who is rehearsed: ourselves with our columns, and a partner with those that stand for its own."""

    ours: PartyInputs
    theirs: PartyInputs

    @property
    def holder(self) -> PartyInputs:
        """The side of the class."""
        return self.ours if self.ours.holds_class else self.theirs


def rehearsed_sides(
    config: PartyConfig, class_name: str, partner: Collection[str], pilot: Path | None, tell: Tell = lambda _: None
) -> Sides:
    """Return both sides; `[columns]` of our settings is for the columns of both.

    The class, or a column that stands for it, is among those that the `partner` holds if it is not ours. A `pilot` is a
    table of the columns of both; without it ours is taken, of the common people if they are known.
    """
    data = replace(config.data, class_column=class_name)
    data = data if pilot is None else replace(data, file=pilot, query=None)
    alone = replace(config, data=data, disguise=replace(config.disguise, groups=None, plain=()))
    whole = (load_common if pilot is None else load_inputs)(alone, KEY_FLOOR, tell)
    names = [each.name for each in whole.table.attributes]
    unknown = next((name for name in partner if name not in names), None)
    if unknown is not None:
        raise InputError(f"{data.file} has no column {unknown!r}, or it is left out: see [data] ignore")
    peer = config.node.peer or "partner"
    ours = _holding(whole, config.name, [at for at, name in enumerate(names) if name not in partner])
    theirs = _holding(whole, peer, [at for at, name in enumerate(names) if name in partner])
    if not ours.attributes and not theirs.attributes:
        raise InputError("no column is left to split on: name another class")
    secrets = replace(theirs.secrets, coins=keyed_digest(whole.secrets.coins, b"rehearsed partner"))
    return Sides(replace(ours, groups=groups_of(config, ours.table.attributes)), replace(theirs, secrets=secrets))


def own_run(config: PartyConfig, terms: Terms, partner_columns: int) -> Assessment | None:
    """Return what a run over our own table would reveal, and why we would refuse it; None where that cannot be read."""
    try:
        own = load_common(config, KEY_FLOOR)
    except InputError:
        return None
    terms = replace(terms, class_name=config.data.class_column or terms.class_name)
    return assess_job(own, config, terms, Supposed(max(1, partner_columns)))


def _holding(whole: PartyInputs, party: str, columns: Sequence[int]) -> PartyInputs:
    """Return a side that holds these columns, each with a coin of its own."""
    held = tuple(replace(whole.table.attributes[at], party=party) for at in columns)
    table = Table(held, whole.table.codes[:, list(columns)])
    groups = tuple((at,) for at in range(len(columns)))
    holds = len(whole.attributes) in columns
    return replace(whole, party=party, table=table, holds_class=holds, groups=groups)


def rehearsed(sides: Sides, terms: Terms, show: Callable[[int, int], None]) -> list[Tried]:
    """Return what the job gives, which is refused if no run could be on its terms, and then choices around it."""
    choices: list[tuple[tuple[str, ...], Terms]] = [((), terms), *_around(sides, terms)]
    found: list[Tried] = []
    play = cache(lambda each: rehearse(sides.ours, sides.theirs, each))
    read = cache(lambda theta: sides.ours.disclosed(sides.ours.design(theta, class_is_shared=False)))
    for number, (changes, each) in enumerate(choices):
        show(number, len(choices))
        sends = sends_copy(sides.ours, each) and bool(sides.ours.table.attributes)
        try:
            tried = play(each)
            plain = play(replace(each, method=Method.SMC)) if each.ranks else tried
            found.append(Tried(changes, each, tried, plain, sends, read(each.theta) if sends else None))
        except CotallyError as error:
            if not changes:
                whose = "the peer's columns are here those that stand for it, and treated as our [columns] says"
                raise InputError(f"a run would be refused: {error} ({whose})") from None
    show(len(choices), len(choices))
    return found


def _around(sides: Sides, terms: Terms) -> Iterator[tuple[tuple[str, ...], Terms]]:
    """Yield terms that differ from these in one choice, where the method has it, with the names of what differs."""
    for change in (*_changes(terms), *_changes_by_data(sides, terms)):
        with suppress(TermError):
            other = replace(terms, **change)
            names = tuple(name for name, value in change.items() if value != getattr(terms, name))
            if names:
                yield names, other


def _changes(terms: Terms) -> Iterator[Mapping[str, Any]]:
    depth, leaf, exact = terms.max_depth, terms.min_leaf, not terms.noises_tree
    if terms.disguises:
        yield from ({"theta": Fraction(theta)} for theta in ("11/20", "3/5", "2/3", "3/4", "9/10"))
    if terms.ranks:
        yield from ({"omega": omega} for omega in (1, 2, 3, 5, ALL))
        yield {"method": Method.SMC}
    if depth is not None:
        yield from ({"max_depth": each} for each in range(max(1, depth - 2), depth + 3))
    if exact:
        yield from ({"min_leaf": each} for each in sorted({max(1, leaf // 4), max(1, leaf // 2), 2 * leaf, 4 * leaf}))
    yield from ({"splits": each} for each in Splits)
    yield {"leaves": Leaves.LABEL}
    yield {"leaves": Leaves.TENTHS, "min_leaf": max(leaf, LEAF_OF_TENTHS) if exact else leaf}
    if terms.counts_exactly:
        tree = {"impurity": Impurity.GINI, "min_leaf": 1, "most_bits": None} if terms.hides_counts else {}
        yield from ({"noise": Fraction(noise), **tree} for noise in ("1/2", "1", "2", "4"))


def _changes_by_data(sides: Sides, terms: Terms) -> Iterator[Mapping[str, Any]]:
    """Yield choices that follow from how many people there are, and of which class."""
    most = terms.bits_at_most(len(sides.ours.records))
    if most is not None:
        yield from ({"most_bits": int(most) * times} for times in (2, 4))
    counts = sides.holder.classes_listed
    if weights := balancing_weights(counts):
        leaf = max(terms.min_leaf, leaf_of_weights(whole_weights(weights, list(counts))))
        yield {"weights": weights, **({} if leaf == terms.min_leaf else {"min_leaf": leaf})}
