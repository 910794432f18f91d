"""`cotally privacy`: tell what a design discloses."""

import argparse

from party.cli import baskets
from party.models.any_file import read_model
from party.settings.transactions import is_of_baskets
from party.show.privacy import after_mining_lines, report_blocks, shown_names
from party.show.privacy_json import after_mining_json, findings_json
from party.show.reading import LIKE_THE_PILOT, LIKE_THESE, reading_json, reading_line
from party.show.screen import columns, lay_out, put_json
from party.survey import read_codes, read_design, read_disguised
from party.survey.estimation import estimated_priors, likely_reading, mined_privacy, pilot_reading
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
    pilot = None if arguments.pilot is None else read_codes(arguments.pilot, questionnaire)
    if pilot is not None:
        read = pilot_reading(pilot, questionnaire)
    else:
        read = None if codes is None else likely_reading(codes, questionnaire)
    mined = None if model is None else mined_privacy(model, questionnaire, codes, priors)
    looked = pilot is not None or codes is not None
    if arguments.json:
        found = measure_design(
            questionnaire.design, questionnaire.names, questionnaire.values, priors, questionnaire.group_names
        )
        content = (
            {"format": PRIVACY_FORMAT}
            | findings_json(found)
            | ({"read": reading_json(read)} if looked else {})
            | ({} if mined is None else {"after_mining": after_mining_json(mined)})
        )
        put_json(content)
        return 0
    shown = shown_names(questionnaire)
    found = measure_design(questionnaire.design, shown.columns, shown.values, priors, shown.groups)
    blocks = report_blocks(found, questionnaire, full=arguments.full, width=columns())
    head = [reading_line(read, LIKE_THESE if pilot is None else LIKE_THE_PILOT)] if looked else []
    lay_out([*head, *blocks, *([] if mined is None else after_mining_lines(mined, found))], columns())
    return 0
