"""What the plausibility check would see (DESIGN 6.2): how wrong a count of the root must be, in records."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt

import numpy as np

from protocols.counting.chi_square import Misfit, alarm_of, alarm_of_windows, misfit
from protocols.counting.estimated import Estimator
from protocols.counting.rows import make_view, peer_columns
from protocols.counts import Answer, CountTable, Query
from protocols.randomized_response.moments import error_bound
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import ROOT, Attribute, Codes, Schema, joint_schema
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs, training_records

ROOT_TERMS = 2
"""A count of the root is of one value and one class."""

_SAMPLE = 1024
_MOST_CELLS = 256


@dataclass(frozen=True)
class SeenTogether:
    """What the chi-square over the root would see: all counts of this many columns, each wrong by this many records."""

    columns: int
    wrong: float


@dataclass(frozen=True)
class Seen:
    """By how many records a count of the root must be wrong to be seen: in one group of the peer's, two, or all."""

    one: float | None = None
    two: float | None = None
    together: SeenTogether | None = None


def seen_as_agreed(local: PartyInputs, agreed: Agreement) -> Seen | None:
    """Return how wrong a count must be for us to see it; None in a run without exact counts."""
    return _seen(agreed.peer_design, agreed.schema, local, agreed.terms, len(local.records))


def seen_of_alike(local: PartyInputs, terms: Terms, records: int) -> Seen | None:
    """Return how wrong a count of a peer must be for us to see it, if it has columns like ours, and not the class."""
    theirs = f"{local.party} alike"
    label = local.class_attribute or Attribute(local.party, terms.class_name, ("0", "1"))
    alike = [replace(attribute, party=theirs) for attribute in local.attributes]
    schema = joint_schema([*local.attributes, *alike], label, (local.party,))
    theta = terms.theta if terms.disguises else Fraction(1)  # a job without a copy may name any
    return _seen(local.design(theta, class_is_shared=True), schema, local, terms, records)


def _seen(design: RelatedDesign, schema: Schema, local: PartyInputs, terms: Terms, records: int) -> Seen | None:
    """Return what the checks see; all counts together are judged of a model's that have no noise."""
    if not terms.counts_exactly or terms.hides_counts:
        return None
    if not terms.disguises:
        return Seen()
    train = training_records(records, terms)
    one, two = (least_seen(design, schema, train, groups) for groups in (1, 2))
    if terms.noise is not None or terms.rules is not None:
        return Seen(one, two)
    attributes = len(schema.attributes)
    window = min(terms.omega or attributes, attributes)
    return Seen(one, two, least_seen_together(design, schema, local.party, train, window))


def least_seen(design: RelatedDesign, schema: Schema, records: int, groups: int) -> float | None:
    """Return by how many records a count of the root in `groups` groups of the peer's must be wrong to be seen.

    Twice the bound of a count, which fails once in 10^6 runs: the estimate may be as far from the truth as chance
    allows, towards what is sent. The groups that show most are taken. None where there are fewer, or no count can be
    that wrong.
    """
    hiding = [k for k in range(len(design.groups)) if design.orders[k] > 1]
    if len(hiding) < groups:
        return None
    alarm = alarm_of(ROOT_TERMS, sum(column.size for column in schema.columns))
    bounds = {k: error_bound(design, (k,), records, alarm) for k in hiding}
    chosen = sorted(hiding, key=lambda k: (bounds[k], k))[:groups]
    least = 2 * error_bound(design, chosen, records, alarm)
    return least if least < records else None


def least_seen_together(
    design: RelatedDesign, schema: Schema, party: str, records: int, window: int
) -> SeenTogether | None:
    """Return by how much all counts of `window` columns at the root must be wrong at once to be seen.

    The lie is one that single bounds see last: records moved from every second value to the one before it, and back in
    every second class, so that all sums stay. It is seen where its own misfit is twice the bound, which fails once in
    10^6 runs. Values are taken to be equally frequent and columns independent. None where no counts could be that
    wrong.
    """
    columns: list[int] = []
    cells = 0
    for column in peer_columns(schema, party):
        cells += schema.columns[column].size * schema.classes
        if column != schema.class_index and cells <= _MOST_CELLS and len(columns) < window:
            columns.append(column)
    if not columns:
        return None
    unit = _unit_lie(design, schema, party, columns)
    scale = records / _SAMPLE
    large = Misfit(unit.square / scale, unit.rank, unit.largest / sqrt(scale))
    if large.square <= 0:
        return None
    wrong = 2 * large.bound(alarm_of_windows(schema, len(columns))) / sqrt(large.square)
    largest = max(schema.columns[column].size for column in columns) * schema.classes
    return SeenTogether(len(columns), wrong) if wrong < records / largest else None


def _unit_lie(design: RelatedDesign, schema: Schema, party: str, columns: list[int]) -> Misfit:
    """Return the misfit of counts that are each wrong by one record, over a sample of records of every kind."""
    codes = _spread_evenly(schema)
    theirs = peer_columns(schema, party)
    own = np.ascontiguousarray(codes[:, list(schema.held_by(party))])
    view = make_view(schema, party, own, np.ascontiguousarray(codes[:, list(theirs)]), design)
    estimator = Estimator(view)
    estimator.advance([ROOT])
    tables = [estimator.spread(ROOT, column).counts + _lie(schema, column) for column in columns]
    return misfit(view, Query(ROOT, tuple(columns), None), Answer(tuple(tables)))


def _spread_evenly(schema: Schema) -> Codes:
    """Return records whose columns are even and independent as far as a sample can be: multiples of square roots."""
    numbers = range(2, 9 * len(schema.columns) + 40)
    primes = [number for number in numbers if all(number % other for other in range(2, isqrt(number) + 1))]
    steps = np.sqrt(np.array(primes, dtype=np.float64))
    places = np.arange(1, _SAMPLE + 1)[:, None] * steps[: len(schema.columns)] % 1
    return (places * [column.size for column in schema.columns]).astype(np.uint8)


def _lie(schema: Schema, column: int) -> CountTable:
    size = schema.columns[column].size // 2 * 2
    signs = np.zeros((schema.columns[column].size, schema.classes))
    signs[:size] = 1 - 2 * (np.add.outer(np.arange(size), np.arange(schema.classes)) % 2)
    return signs
