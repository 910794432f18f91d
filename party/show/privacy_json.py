"""What a design discloses, as plain types for `json.dumps`.

Exact chances are texts, `"11/20"`; an infinite loss is `"infinite"`; attributes and groups go by name.
"""

from math import isinf

from protocols.privacy.findings import AttributeFindings, Findings, GroupFindings
from protocols.survey.inference import AfterMining

Json = dict[str, object]


def findings_json(found: Findings) -> Json:
    """Return all that was found."""
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
    """Return what a model leaves of the privacy of its class."""
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
