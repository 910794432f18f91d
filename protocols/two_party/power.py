"""What the plausibility check would see (DESIGN 6.3): how wrong a count of the root must be, in records."""

from protocols.counting.told_sums import alarm_of
from protocols.randomized_response.moments import error_bound
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables.schema import Schema

ROOT_TERMS = 2
"""A count of the root is of one value and one class."""


def least_seen(design: RelatedDesign, schema: Schema, records: int, groups: int) -> float | None:
    """Return by how many records a count of the root must be wrong to be seen but for one run in 10^6.

    Twice the bound of a count: the estimate may be as far from the truth as chance allows, towards what is told. The
    groups that show most are taken. None where there are not so many groups, or where no count can be that wrong.

    Args:
        design: Of the peer's copy, from which we estimate.
        schema: The joint schema.
        records: Trained on.
        groups: How many groups of the peer's the count touches, 1 or 2.
    """
    hiding = [k for k in range(len(design.groups)) if design.orders[k] > 1]
    if len(hiding) < groups:
        return None
    alarm = alarm_of(ROOT_TERMS, sum(column.size for column in schema.columns))
    bounds = {k: error_bound(design, (k,), records, alarm) for k in hiding}
    chosen = sorted(hiding, key=lambda k: (bounds[k], k))[:groups]
    least = 2 * error_bound(design, chosen, records, alarm)
    return least if least < records else None
