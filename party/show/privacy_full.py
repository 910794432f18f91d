"""The full report of a design, attributes of the same figures once; for programs an infinite loss is `"infinite"`."""

from collections.abc import Sequence
from fractions import Fraction
from math import isinf

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.document import Pairs, ReportPart
from party.show.privacy_short import (
    Names,
    assumption_lines,
    epsilon,
    figures,
    legend_rows,
    listed,
    percent,
    summary_lines,
    titled,
)
from protocols.privacy.findings import AttributeFindings, Findings, GroupFindings
from protocols.privacy.loss import Relation
from protocols.randomized_response.design import Kind
from protocols.survey.inference import AfterMining

Attributes = tuple[AttributeFindings, ...]

_INDENT = "  "


def privacy_parts(found: Findings, *, full: bool = False) -> list[ReportPart]:
    text: list[ReportPart] = [*summary_lines(found)]
    if not full:
        return [*text, *figures(found)]
    for alike in _alike(found.attributes):
        text += ["", *attribute_lines(alike)]
    for group in found.groups:
        text += ["", *group_lines(group, found)]
    if any(own.hides for own in found.attributes):
        text += ["", Pairs(legend_rows(found)), "", *assumption_lines(found)]
    if found.groups:
        text.append(
            f"All coins of a record hold {found.coin_bits:.3f} bits. They must be made once: asking again then teaches "
            "nothing, while fresh coins would let the receiver average them away."
        )
    return text


def _alike(attributes: Attributes) -> list[list[AttributeFindings]]:
    """Return the disguised attributes, those of equal prior and figures together."""
    found: dict[object, list[AttributeFindings]] = {}
    for own in attributes:
        if own.hides:
            found.setdefault((own.prior, own.responses, own.posteriors, own.loss), []).append(own)
        elif own.group is not None:
            found.setdefault(None, []).append(own)
    return list(found.values())


def attribute_lines(alike: Sequence[AttributeFindings]) -> list[str]:
    found, *others = alike
    names = listed([own.name for own in alike])
    if not found.hides:
        return [f"{names}: one value, nothing to disclose."]
    labels = [own.name for own in others if own.values != found.values]
    head = f"{names}, by the own response alone"
    if labels:
        head += f" (with the values of {found.name}; {listed(labels)} likewise, value by value as declared)"
    lines = []
    for label, chance, posterior in zip(found.values, found.responses, found.posteriors, strict=True):
        if posterior is None:
            lines.append(f"{label!r} is never sent.")
            continue
        order = sorted(range(len(posterior)), key=lambda value: -posterior[value])
        shown = [f"{found.values[v]!r} {percent(posterior[v])} (was {percent(found.prior[v])})" for v in order[:3]]
        more = ", and others" if len(order) > 3 else ""
        lines.append(f"{label!r} is sent by {percent(chance)}; then the truth is {', '.join(shown)}{more}.")
    return [f"{head}:", *_indented([*lines, *_measure_lines(found)])]


def _measure_lines(found: AttributeFindings) -> list[str]:
    own, rise = found.own, found.own.rise
    response, value = (found.values[code] for code in own.breach.where[0])
    raised = f"{found.values[rise.value]!r} from {percent(rise.before)} to {percent(rise.after)}"
    doubled = "" if isinf(found.loss) or not found.loss else f" and epsilon to {2 * found.loss:.3f}"
    again = f"{percent(own.twice)}{doubled}"
    impossible = ": some response rules a value out" if isinf(found.loss) else ""
    return [
        f"Strongest belief (breach level): {percent(own.breach.level)} for {value!r}, when {response!r} is sent.",
        f"Largest rise of a belief: {raised}, when {found.values[rise.response]!r} is sent.",
        f"Single-entry privacy (before mining): {percent(own.single_entry)}.",
        f"Bits: {found.bits_before:.3f} before the response, {own.bits_left:.3f} after it.",
        f"Epsilon: {epsilon(found.loss)}{impossible}.",
        f"The same response again, with fresh coins, would bring the strongest belief to {again}.",
    ]


def group_lines(group: GroupFindings, found: Findings) -> list[str]:
    title = titled(group.name)
    names = ", ".join(found.names(group.columns))
    lies = group.kind in (Kind.RELATED, Kind.CROSSWISE)
    worth = "the most that its attributes keep secret together" if lies else "of whether it is the truth"
    infinite = ": some response rules combinations of values out" if isinf(group.loss) else ""
    known = ""
    if group.loss_if_known not in (None, group.loss):
        share = group.given_away
        sure = "" if share is None else f", to whom the truth of {percent(share)} is then certain"
        known = f"; infinite against someone who knows a personal answer of the respondent{sure}"
    alike: dict[tuple[int, int], list[Relation]] = {}
    for relation in group.relations:
        sizes = len(found.attributes[relation.first].values), len(found.attributes[relation.second].values)
        ordered = relation if sizes[0] <= sizes[1] else relation.turned()
        alike.setdefault((min(sizes), max(sizes)), []).append(ordered)
    text = [
        f"Its coin: {group.coin_bits:.3f} bits, {worth}.",
        f"Smallest single-entry privacy of its attributes, each by its own response: {percent(group.single_entry)}.",
        f"Epsilon of all its attributes together: {epsilon(group.loss)}{infinite}{known}.",
        *[_relation_line(sizes, pairs, found) for sizes, pairs in sorted(alike.items())],
    ]
    return [f"{title[0].upper()}{title[1:]} ({names}):", *_indented(text)]


def _relation_line(sizes: tuple[int, int], pairs: Sequence[Relation], found: Findings) -> str:
    columns = [sorted(set(side)) for side in ([r.first for r in pairs], [r.second for r in pairs])]
    if sizes[0] == sizes[1]:
        names = listed(found.names(sorted({*columns[0], *columns[1]})))
        how = "their XOR" if sizes[0] == 2 else f"of their values' places, modulo {sizes[0]}"
        return (
            f"Disclosed with certainty: how {names} differ in a record ({how}). "
            "Anybody who knows one of them from elsewhere knows all of them."
        )
    fewer, more = (listed(found.names(side)) for side in columns)
    return (
        f"Disclosed with certainty: the difference between the places of the values of {fewer} and of {more}, modulo "
        f"{pairs[0].modulus}. Anybody who knows one of the former is left with {pairs[0].left_of_second} of {sizes[1]} "
        f"values of the latter; anybody who knows one of the latter, with {pairs[0].left_of_first} of {sizes[0]} of "
        "the former."
    )


def _indented(sentences: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{sentence}" for sentence in sentences]


def report_parts(found: Findings, questionnaire: Questionnaire, *, full: bool) -> list[ReportPart]:
    parts = privacy_parts(found, full=full)
    if any(domain.may_be_missing for domain in questionnaire.domains):
        parts.append('A missing answer is seen as missing; missing = "value" hides it.')
    if not full:
        parts.append("See also --full (all that was found), --prior (what answers suggest) and --pilot (true records).")
    return parts


def shown_names(questionnaire: Questionnaire) -> Names:
    """Return the names of a design as a terminal may show them, escapes and all."""
    return Names(
        [printable(name) for name in questionnaire.names],
        [[printable(value) for value in values] for values in questionnaire.values],
        [printable(name) for name in questionnaire.group_names],
    )


def after_mining_lines(mined: AfterMining, found: Findings) -> list[str]:
    own = found.attributes[-1]
    told = (
        f"After mining: anybody who knows what the model reads about a person learns {own.name} rightly by its "
        f"{mined.rules} rules with a chance of {percent(mined.right)}; the commonest value has "
        f"{percent(mined.commonest)}."
    )
    left = (
        f"Single-entry privacy of {own.name}: {_signed(mined.before)} before mining, {_signed(mined.known)} after it. "
        "The paper takes one chance from the other: below 0 the rules reveal more than the response hides."
    )
    lines = [told, left]
    if own.group is not None:
        group = found.groups[own.group]
        smallest = min(group.single_entry, mined.known)
        lines.append(f"The smallest of {titled(group.name)} is then {_signed(smallest)}.")
    if mined.unknown is None:
        return [*lines, "To measure what an outsider learns, pass the responses with --prior."]
    unknown = (
        f"For an outsider, who does not know what the model reads, {_signed(mined.unknown)} by the paper's formula, in "
        "which every rule counts alike, however rare: compare it between designs, not with 0."
    )
    return [*lines, unknown]


def _signed(value: Fraction) -> str:
    return f"{100 * float(value):.1f}%"


Json = dict[str, object]


def findings_json(found: Findings) -> Json:
    names = tuple(own.name for own in found.attributes)
    groups = tuple(group.name for group in found.groups)
    return {
        "theta": found.theta,
        "sent_as_they_are": [own.name for own in found.attributes if own.group is None],
        "disclosed_in_full": found.names(found.disclosed),
        "attributes": [_attribute(own, groups) for own in found.attributes],
        "groups": [_group(group, names) for group in found.groups],
        "record": {"epsilon": _finite(found.loss), "coin_bits": found.coin_bits},
    }


def after_mining_json(mined: AfterMining) -> Json:
    return {
        "rules": mined.rules,
        "single_entry_before_mining": float(mined.before),
        "rules_name_the_class": float(mined.right),
        "commonest_class": float(mined.commonest),
        "single_entry_known": float(mined.known),
        "single_entry_unknown": None if mined.unknown is None else float(mined.unknown),
    }


def _attribute(found: AttributeFindings, groups: tuple[str, ...]) -> Json:
    rise = found.own.rise
    return {
        "name": found.name,
        "values": found.values,
        "group": found.group,
        "group_name": None if found.group is None else groups[found.group],
        "sent_as_it_is": found.group is None,
        "prior": found.prior,
        "prior_is_assumed": found.assumed,
        "responses": found.responses,
        "posteriors": found.posteriors,
        "breach_level": found.own.breach.level,
        "breaches": [{"response": found.values[r], "value": found.values[v]} for r, v in found.own.breach.where],
        "largest_rise": {
            "response": found.values[rise.response],
            "value": found.values[rise.value],
            "before": rise.before,
            "after": rise.after,
        },
        "breach_level_if_asked_twice": found.own.twice,
        "single_entry_before_mining": found.own.single_entry,
        "epsilon": _finite(found.loss),
        "odds": [found.odds.truth, found.odds.other],
        "bits_before": found.bits_before,
        "bits_left": found.own.bits_left,
    }


def _group(group: GroupFindings, names: tuple[str, ...]) -> Json:
    return {
        "name": group.name,
        "attributes": [names[column] for column in group.columns],
        "kind": group.kind.value,
        "theta": group.truth,
        "single_entry_before_mining": group.single_entry,
        "epsilon": _finite(group.loss),
        "epsilon_if_a_personal_answer_is_known": None if group.loss_if_known is None else _finite(group.loss_if_known),
        "given_away_if_a_personal_answer_is_known": group.given_away,
        "coin_bits": group.coin_bits,
        "relations": [
            {
                "attributes": [names[found.first], names[found.second]],
                "difference_modulo": found.modulus,
                "values_left": [found.left_of_first, found.left_of_second],
            }
            for found in group.relations
        ],
    }


def _finite(loss: float) -> float | str:
    return "infinite" if isinf(loss) else loss
