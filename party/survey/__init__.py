"""Surveys: one collector learns from the disguised answers of many (DESIGN 4 and 8)."""

from party.settings.survey import Questionnaire, read_design
from party.survey.disguise import DisguisedTable, disguise_table
from party.survey.table import load_survey, read_codes, read_disguised

__all__ = [
    "DisguisedTable",
    "Questionnaire",
    "disguise_table",
    "load_survey",
    "read_codes",
    "read_design",
    "read_disguised",
]
