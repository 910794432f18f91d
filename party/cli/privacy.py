"""Tell what a design discloses: the beliefs that a response leads to, losses, relations that are certain, secret bits.

A short report by default; `--full` tells what every response makes likely, and of every group what its responses do.

The figures depend on what is known beforehand: all values equally likely, or with `--prior` the distribution that
disguised answers suggest (estimated, negative shares set to 0 and the rest rescaled). With `--model`, a tree or naive
Bayes that was mined, what its rules leave of the privacy of the class is told too.
"""

import argparse
import json
from pathlib import Path

from party.cli import baskets
from party.cli.arguments import add_design
from party.models.any_file import read_model
from party.settings.transactions import is_of_baskets
from party.show.privacy import after_mining_lines, report_blocks, shown_names
from party.show.privacy_json import after_mining_json, findings_json
from party.show.screen import columns, lay_out, put
from party.survey import read_design, read_disguised
from party.survey.estimation import estimated_priors, mined_privacy
from protocols.privacy.findings import measure_design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument(
        "--prior", type=Path, metavar="disguised.csv", help="estimate from these answers what is likely beforehand"
    )
    parser.add_argument("--model", type=Path, metavar="model.json", help="mined: tell the privacy after mining too")
    parser.add_argument("--full", action="store_true", help="print everything that was found")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    if is_of_baskets(arguments.design):
        return baskets.run_privacy(arguments)
    questionnaire = read_design(arguments.design)
    codes = None if arguments.prior is None else read_disguised(arguments.prior, questionnaire)
    priors = None if codes is None else estimated_priors(codes, questionnaire)
    model = None if arguments.model is None else read_model(arguments.model)
    mined = None if model is None else mined_privacy(model, questionnaire, codes, priors)
    if arguments.json:
        found = measure_design(
            questionnaire.design, questionnaire.names, questionnaire.values, priors, questionnaire.group_names
        )
        content = findings_json(found) | ({} if mined is None else {"after_mining": after_mining_json(mined)})
        put(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    shown = shown_names(questionnaire)
    found = measure_design(questionnaire.design, shown.columns, shown.values, priors, shown.groups)
    blocks = report_blocks(found, questionnaire, full=arguments.full, width=columns())
    lay_out([*blocks, *([] if mined is None else after_mining_lines(mined, found))], columns())
    return 0
