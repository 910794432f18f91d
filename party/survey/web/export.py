"""Responses as a disguised table, as `disguise` would have written it."""

from collections.abc import Sequence

import numpy as np

from party.settings.survey import Questionnaire
from party.survey.disguise import DisguisedTable
from party.survey.table import answers_given
from protocols.errors import InputError
from protocols.tables.table import Codes


def response_codes(responses: Sequence[bytes], questionnaire: Questionnaire) -> Codes:
    """Return the codes of responses, `records x columns`."""
    return np.frombuffer(b"".join(responses), dtype=np.uint8).reshape(len(responses), len(questionnaire.names))


def disguised_answers(responses: Sequence[bytes], questionnaire: Questionnaire) -> DisguisedTable:
    """Return responses as a table.

    Raises:
        InputError: There are none.
    """
    if not responses:
        raise InputError("nobody has answered yet")
    codes = response_codes(responses, questionnaire)
    cells = tuple(
        [values[code] if code < len(values) else None for code in column.tolist()]
        for values, column in zip(questionnaire.values, codes.T, strict=True)
    )
    return DisguisedTable(questionnaire.names, cells, (), answers_given(codes, questionnaire))
