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
from party.data.reader import Column, Frame, read_frame
from party.data.share import DataShare, distinct_ids, read_share

__all__ = [
    "EVERY_OTHER",
    "MISSING",
    "MISSING_TOKENS",
    "OTHER",
    "Column",
    "ColumnTreatment",
    "DataShare",
    "Frame",
    "TreatedColumn",
    "distinct_ids",
    "label_of",
    "read_frame",
    "read_share",
    "treat",
]
