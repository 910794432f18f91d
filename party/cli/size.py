"""`cotally size`: tell how many respondents a survey needs."""

import argparse

from party.cli import baskets
from party.cli.values import fraction
from party.settings.transactions import is_of_baskets
from party.show.estimates import enough_for, enough_for_model, enough_for_shares, enough_json
from party.show.screen import put_json, say_all
from party.survey import read_design
from party.survey.estimation import parse_expression
from protocols.randomized_response.sample_size import (
    naive_bayes_sample_size,
    sample_size,
    shares_sample_size,
    tree_sample_size,
)

SIZE_FORMAT = "cotally-sample-size/1"


def run(arguments: argparse.Namespace) -> int:
    """Compute and print."""
    width = fraction("--half-width", arguments.half_width)
    if is_of_baskets(arguments.design):
        return baskets.run_size(arguments, width)
    questionnaire = read_design(arguments.design)
    share = None if arguments.share is None else fraction("--share", arguments.share)
    if arguments.expression:
        asked = [parse_expression(text, questionnaire) for text in arguments.expression]
        sizes = [sample_size(questionnaire.design, e, width, arguments.confidence, share) for e in asked]
        if arguments.json:
            told = [enough_json(found, text) for found, text in zip(sizes, arguments.expression, strict=True)]
            put_json({"format": SIZE_FORMAT, "enough": told})
        else:
            say_all([enough_for(found, e, questionnaire) for e, found in zip(asked, sizes, strict=True)])
        return 0
    if questionnaire.class_name is None:
        found = shares_sample_size(questionnaire.design, width, arguments.confidence)
        if arguments.json:
            put_json({"format": SIZE_FORMAT, "enough": [enough_json(found, "any answer")]})
        else:
            say_all(enough_for_shares(found))
        return 0
    label, depth = len(questionnaire.names) - 1, arguments.depth
    bayes = naive_bayes_sample_size(questionnaire.design, label, width, arguments.confidence)
    tree = tree_sample_size(questionnaire.design, label, depth, width, arguments.confidence)
    if arguments.json:
        told = [enough_json(bayes, "naive Bayes"), enough_json(tree, "tree")]
        put_json({"format": SIZE_FORMAT, "depth": depth, "enough": told})
    else:
        say_all([enough_for_model(bayes, None), enough_for_model(tree, depth)])
    return 0
