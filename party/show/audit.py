"""What an audit found, in plain words: the verdict first, then what was counted, then where it departs."""

from collections.abc import Sequence
from fractions import Fraction

from party.show.privacy_short import Names, listed, titled
from protocols.association.audit import OperatorAudit, OperatorTest
from protocols.privacy.audit import AuditResult, AuditTest
from protocols.privacy.chernoff import Counted, Test

_TOLD = 10


def audit_lines(result: AuditResult | OperatorAudit, names: Names | None = None) -> list[str]:
    failures, pairs = len(result.failures), list[str]()
    if isinstance(result, AuditResult):
        known = names or Names(
            [f"column {number + 1}" for number in range(len(result.sizes))],
            [list(map(str, range(size))) for size in result.sizes],
            [f"group {number + 1}" for number in range(len(result.groups))],
        )
        where = [_of_records(test, known, result.groups) + _departure(test) for test in _worst(result.failures)]
        pairs = [listed([known.columns[column] for column in pair]) for pair in result.untested]
        does, what, shifted = "responds", "records", "theta"
    else:
        where = [f"Baskets of {test.size}, {test.what}: {_departure(test)}" for test in _worst(result.failures)]
        does, what, shifted = "randomizes baskets", "baskets", "chance to show an item"
    goal, number = result.goal, len(result.tests)
    return [
        f"OK: the sampler {does} as the design declares."
        if result.passed
        else f"NOT as declared: {failures} of {number} counts are not what the design says.",
        (
            f"Made-up {what} were disguised {result.disguised:,} times, and {number:,} counts held against their "
            f"declared chances: a correct sampler fails such a check in at most {100 * goal.alarm:g}% of cases, one "
            f"whose {shifted} is off by {goal.shift} in at least {100 * goal.power:g}%."
        ),
        *where[:_TOLD],
        *([f"And {failures - _TOLD} other counts."] if failures > _TOLD else []),
        *(f"Not counted together, as there are too many combinations: {pair}." for pair in pairs[:_TOLD]),
        *([f"Nor {len(pairs) - _TOLD} other pairs of columns of one group."] if len(pairs) > _TOLD else []),
    ]


def _worst(failures: Sequence[Test]) -> list[Test]:
    return sorted(failures, key=lambda test: test.bound)


def _departure(test: Counted) -> str:
    share = f"{test.observed:,} of {test.trials:,} ({_percent(Fraction(test.observed, test.trials))})"
    return f"{share}, declared {_percent(test.chance)} (chance of this at most {test.bound:.1e})."


def _of_records(test: AuditTest, names: Names, groups: Sequence[tuple[int, ...]]) -> str:
    margin, cell = test.margin, test.cell
    columns = [names.columns[column] for column in margin.columns]
    truth = _values(margin.columns, margin.truth, names)
    seen = " and ".join("truth" if code else "no truth" for code in cell)
    if margin.serial:
        return f"{columns[0]}, a record and the next, true value {truth[0]}: {seen} sent: "
    if margin.only_truth:
        return f"{listed(columns)}, of two groups, true values {listed(truth)}: {seen} sent: "
    place = next((k for k, group in enumerate(groups) if margin.columns[0] in group), None)
    how = ", sent in the clear" if place is None else f" ({titled(names.groups[place])})"
    sent = listed(_values(margin.columns, cell, names))
    return f"{listed(columns)}{how}: {sent} sent where {listed(truth)} is true: "


def _percent(share: Fraction) -> str:
    return f"{100 * int(share)}%" if share in (0, 1) else f"{float(100 * share):.2f}%"


def _values(columns: Sequence[int], codes: Sequence[int], names: Names) -> list[str]:
    return [repr(names.values[column][code]) for column, code in zip(columns, codes, strict=True)]


def audits_json(results: Sequence[tuple[str, AuditResult | OperatorAudit]]) -> dict[str, object]:
    designs = [
        {
            "design": path,
            "passed": result.passed,
            "disguised": result.disguised,
            "counts": len(result.tests),
            **vars(result.goal),
            "departures": list(map(_departure_json, _worst(result.failures))),
        }
        for path, result in results
    ]
    return {"format": "cotally-audit/1", "passed": all(result.passed for _, result in results), "designs": designs}


def _departure_json(test: Counted) -> dict[str, object]:
    """Return what was counted: columns and codes by their numbers from 0, or the size of baskets; and how often."""
    where: dict[str, object] = {}
    if isinstance(test, OperatorTest):
        where = {"size": test.size, "what": test.what}
    elif isinstance(test, AuditTest):
        where = {"columns": test.margin.columns, "true": test.margin.truth, "seen": test.cell}
    told = {"observed": test.observed, "trials": test.trials, "declared": test.chance, "bound": test.bound}
    return where | told
