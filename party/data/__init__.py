"""A party's own data: its file is read, and its columns are treated, before anything leaves the house."""

from party.data.columns import (
    EVERY_OTHER,
    MISSING,
    MISSING_TOKENS,
    OTHER,
    ColumnTreatment,
    TreatedColumn,
    label_of,
    treat,
)
from party.data.reader import Column, Frame, frame_of, name_flaw, read_frame, text_flaw
from party.data.share import DataShare, distinct_ids, read_share
from party.data.writer import BOM, csv_text

__all__ = [
    "BOM",
    "EVERY_OTHER",
    "MISSING",
    "MISSING_TOKENS",
    "OTHER",
    "Column",
    "ColumnTreatment",
    "DataShare",
    "Frame",
    "TreatedColumn",
    "csv_text",
    "distinct_ids",
    "frame_of",
    "label_of",
    "name_flaw",
    "read_frame",
    "read_share",
    "text_flaw",
    "treat",
]
