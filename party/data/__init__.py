"""A party's own data: its file is read, and its columns are treated, before anything leaves."""

from party.data.bins import ColumnTreatment
from party.data.columns import EVERY_OTHER, MISSING, OTHER, TreatedColumn, label_of, treat
from party.data.form import USUAL, Form
from party.data.frame import Column, Frame, frame_of, name_flaw, spelt_notices, taken_notices, text_flaw
from party.data.ids import distinct_ids
from party.data.notices import Notice
from party.data.query import TableQuery
from party.data.reader import read_frame
from party.data.share import DataShare, read_share
from party.data.texts import MISSING_MARKERS, value_of
from party.data.writer import BOM, check_table_name, csv_text, write_table

__all__ = [
    "BOM",
    "EVERY_OTHER",
    "MISSING",
    "MISSING_MARKERS",
    "OTHER",
    "USUAL",
    "Column",
    "ColumnTreatment",
    "DataShare",
    "Form",
    "Frame",
    "Notice",
    "TableQuery",
    "TreatedColumn",
    "check_table_name",
    "csv_text",
    "distinct_ids",
    "frame_of",
    "label_of",
    "name_flaw",
    "read_frame",
    "read_share",
    "spelt_notices",
    "taken_notices",
    "text_flaw",
    "treat",
    "value_of",
    "write_table",
]
