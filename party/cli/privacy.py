"""`cotally privacy`: tell what a design discloses."""

import argparse

from party.cli import baskets
from party.models.any_file import read_model
from party.settings.transactions import is_of_baskets
from party.show.privacy import after_mining_lines, report_blocks, shown_names
from party.show.privacy_json import after_mining_json, findings_json
from party.show.screen import columns, lay_out, put_json
from party.survey import read_design, read_disguised
from party.survey.estimation import estimated_priors, mined_privacy
from protocols.privacy.findings import measure_design

PRIVACY_FORMAT = "cotally-privacy/1"


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
        content = (
            {"format": PRIVACY_FORMAT}
            | findings_json(found)
            | ({} if mined is None else {"after_mining": after_mining_json(mined)})
        )
        put_json(content)
        return 0
    shown = shown_names(questionnaire)
    found = measure_design(questionnaire.design, shown.columns, shown.values, priors, shown.groups)
    blocks = report_blocks(found, questionnaire, full=arguments.full, width=columns())
    lay_out([*blocks, *([] if mined is None else after_mining_lines(mined, found))], columns())
    return 0
