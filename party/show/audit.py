"""What an audit found, in plain words: the verdict first, then what was counted, then where it departs."""

from collections.abc import Sequence
from fractions import Fraction

from party.show.privacy_short import Names, listed, titled
from protocols.association.audit import OperatorAudit, OperatorTest
from protocols.privacy.audit import AuditResult, AuditTest

_TOLD = 10


def audit_lines(result: AuditResult, names: Names | None = None) -> list[str]:
    """Return the finding in sentences."""
    known = names or _numbers(result)
    failures = sorted(result.failures, key=lambda test: test.bound)
    pairs = [listed([known.columns[column] for column in pair]) for pair in result.untested]
    return [
        _verdict(result),
        _counted(result),
        *(_departure(test, known, result.groups) for test in failures[:_TOLD]),
        *([f"And {len(failures) - _TOLD} other counts."] if len(failures) > _TOLD else []),
        *(f"Not counted together, as there are too many combinations: {pair}." for pair in pairs[:_TOLD]),
        *([f"Nor {len(pairs) - _TOLD} other pairs of columns of one group."] if len(pairs) > _TOLD else []),
    ]


def _verdict(result: AuditResult) -> str:
    if result.passed:
        return "OK: the sampler responds as the design declares."
    return f"NOT as declared: {len(result.failures)} of {len(result.tests)} counts are not what the design says."


def _counted(result: AuditResult) -> str:
    goal = result.goal
    return (
        f"Made-up records were disguised {result.records:,} times, and {len(result.tests):,} counts of the responses "
        "were held against their declared chances: a correct sampler fails such a check in at most "
        f"{100 * goal.alarm:g}% of cases, one whose theta is off by {goal.shift} in at least {100 * goal.power:g}%."
    )


def _departure(test: AuditTest, names: Names, groups: Sequence[tuple[int, ...]]) -> str:
    """Return what was counted, how often it came, and how often it should have come."""
    margin, cell = test.margin, test.cell
    columns = [names.columns[column] for column in margin.columns]
    truth = _values(margin.columns, margin.truth, names)
    seen = " and ".join("truth" if code else "no truth" for code in cell)
    if margin.serial:
        what = f"{columns[0]}, a record and the next, true value {truth[0]}: {seen} told"
    elif margin.told:
        what = f"{listed(columns)}, of two groups, true values {listed(truth)}: {seen} told"
    else:
        sent = listed(_values(margin.columns, cell, names))
        what = f"{listed(columns)}{_place(margin.columns, names, groups)}: {sent} sent where {listed(truth)} is true"
    share = f"{test.observed:,} of {test.trials:,} ({_percent(Fraction(test.observed, test.trials))})"
    return f"{what}: {share}, declared {_percent(test.chance)} (chance of this at most {test.bound:.1e})."


def _percent(share: Fraction) -> str:
    """Return a share in percent, one that is never or always without decimals."""
    return f"{100 * int(share)}%" if share in (0, 1) else f"{float(100 * share):.2f}%"


def _place(columns: Sequence[int], names: Names, groups: Sequence[tuple[int, ...]]) -> str:
    place = next((k for k, group in enumerate(groups) if columns[0] in group), None)
    return ", sent in the clear" if place is None else f" ({titled(names.groups[place])})"


def _values(columns: Sequence[int], codes: Sequence[int], names: Names) -> list[str]:
    return [repr(names.values[column][code]) for column, code in zip(columns, codes, strict=True)]


def _numbers(result: AuditResult) -> Names:
    return Names(
        [f"column {number + 1}" for number in range(len(result.sizes))],
        [list(map(str, range(size))) for size in result.sizes],
        [f"group {number + 1}" for number in range(len(result.groups))],
    )


def audits_json(results: Sequence[tuple[str, AuditResult | OperatorAudit]]) -> dict[str, object]:
    """Return for programs what audits found of the designs of these files, and where a sampler is not as declared."""
    passed = all(result.passed for _, result in results)
    return {
        "format": "cotally-audit/1",
        "passed": passed,
        "designs": [{"design": path, **_audit_json(result)} for path, result in results],
    }


def _audit_json(result: AuditResult | OperatorAudit) -> dict[str, object]:
    goal = result.goal
    failures: Sequence[AuditTest | OperatorTest] = result.failures
    return {
        "passed": result.passed,
        "disguised": result.records if isinstance(result, AuditResult) else result.transactions,
        "counts": len(result.tests),
        "alarm": goal.alarm,
        "power": goal.power,
        "shift": str(goal.shift),
        "departures": list(map(_departure_json, sorted(failures, key=lambda test: test.bound))),
    }


def _departure_json(test: AuditTest | OperatorTest) -> dict[str, object]:
    """Return what was counted: columns and codes by their numbers from 0, or the size of baskets; and how often."""
    if isinstance(test, OperatorTest):
        where: dict[str, object] = {"size": test.size, "what": test.what}
    else:
        where = {"columns": list(test.margin.columns), "true": list(test.margin.truth), "seen": list(test.cell)}
    told = {"observed": test.observed, "trials": test.trials, "declared": str(test.chance), "bound": test.bound}
    return where | told
