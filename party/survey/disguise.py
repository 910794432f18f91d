"""Disguise a table of true answers, once and for all (DESIGN 4; FAULTS B1, B2, B5).

Every respondent's coins are a keyed function of the secret, the data set and the record's id: whole numbers, no
generator with a state. The order of the records does not matter to them, and asking again gives the same copy.

Discloses: what `cotally privacy` says of the design.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from party.data import Frame, distinct_ids, write_table
from party.errors import ConfigError, DataError
from party.keys.coin_secret import noted_secret
from party.settings.survey import Questionnaire, need_groups
from party.survey.table import TableSource, answer_cells, answers_given, as_frame, read_codes
from protocols.privacy.attack import Disclosure, disclosure, read_rows
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import compared_draw, keyed_draw
from protocols.randomness import canonical, keyed_digest
from protocols.tables import Codes


@dataclass(frozen=True, repr=False)
class DisguisedTable:
    """A disguised table as text: column names, and the cells of each, None where no answer was given."""

    columns: tuple[str, ...]
    cells: tuple[Sequence[str | None], ...]
    left_out: tuple[str, ...]
    answers: tuple[tuple[str, int], ...]
    read: Disclosure | None = None

    def __len__(self) -> int:
        return len(self.cells[0])

    def __repr__(self) -> str:
        return f"<DisguisedTable {len(self)} x {len(self.columns)}>"

    def write(self, path: Path) -> None:
        """Write it as a table, in the form that the file's name asks for: the same table gives the same bytes."""
        write_table(path, self.columns, self.cells)

    def to_dict(self) -> dict[str, Sequence[str | None]]:
        """Return the columns by name: what `pandas.DataFrame` takes."""
        return dict(zip(self.columns, self.cells, strict=True))


def disguise_table(
    source: TableSource,
    questionnaire: Questionnaire,
    secret: Path | str,
    dataset: str | None = None,
    personal: TableSource | None = None,
    watch: Callable[[Draw], Draw] = lambda draw: draw,
) -> DisguisedTable:
    """Return the disguised copy of a table; the same whenever asked.

    The owner's secret file is made on first use, and notes the name of the data set: the file's name unless given. Of
    the unrelated question, respondents' personal answers have the same ids; they are drawn if not given. A secret that
    was used before for another disguise or other data is refused. `watch` puts itself between the disguise and its
    draws: to show progress.
    """
    need_groups(questionnaire)
    frame = as_frame(source)
    ids = _ids(frame, questionnaire)
    codes = read_codes(frame, questionnaire)
    answers = None if personal is None else _answers(as_frame(personal), questionnaire, ids)
    noted = noted_secret(
        Path(secret), dataset, frame.path.stem, lambda key: _release(key, questionnaire, ids, codes, answers)
    )
    responses = questionnaire.design.randomize(codes, watch(keyed_draw(noted.key, noted.dataset, ids)), answers)
    looked = read_rows(len(codes))
    chance = compared_draw(noted.key, noted.dataset, len(looked))
    read = disclosure(codes[looked], responses[looked], questionnaire.design, chance)
    cells = answer_cells(responses, questionnaire)
    sent = (ids, *cells) if len(questionnaire.sent) > len(cells) else cells
    left_out = tuple(name for name in frame.columns if name not in (*questionnaire.names, questionnaire.id_column))
    return DisguisedTable(questionnaire.sent, sent, left_out, answers_given(responses, questionnaire), read)


def _ids(frame: Frame, questionnaire: Questionnaire) -> list[str]:
    if questionnaire.id_column is None:
        raise ConfigError(f"{questionnaire.path}: id: is missing: name the column that says which record is whose")
    return distinct_ids(frame.ids(questionnaire.id_column))


def _answers(frame: Frame, questionnaire: Questionnaire, ids: Sequence[str]) -> Codes:
    """Return the personal answers in the order of the true records; plain columns are 0."""
    design = questionnaire.design
    if not any(design.part(group).asks_personally for group in range(len(design.groups))):
        raise ConfigError(f"{questionnaire.path}: kind: these questions have no personal answers: give none")
    row_of = {record: row for row, record in enumerate(_ids(frame, questionnaire))}
    if row_of.keys() != set(ids):
        raise DataError(
            f"{len(row_of)} ids here, {len(ids)} among the true records, not the same: bring an answer of each",
            path=frame.path,
        )
    codes = np.zeros((len(ids), len(questionnaire.names)), dtype=np.uint8)
    for column, (name, domain) in enumerate(zip(questionnaire.names, questionnaire.domains, strict=True)):
        if questionnaire.design.group_of(column) is not None:
            codes[:, column] = replace(domain, complete=True).codes(frame.column(name, domain.values))
    return codes[[row_of[record] for record in ids]]


def _release(
    key: bytes, questionnaire: Questionnaire, ids: Sequence[str], codes: Codes, answers: Codes | None
) -> Mapping[str, object]:
    """Return what leaves, field by field, in no order; contents as digests that need the key to be checked."""
    order = sorted(range(len(ids)), key=ids.__getitem__)
    records = [canonical(ids[row].encode(), codes[row].tobytes()) for row in order]
    told = None if answers is None else keyed_digest(key, b"answers", *(answers[row].tobytes() for row in order)).hex()
    return {
        "columns": [
            [name, list(values)] for name, values in zip(questionnaire.names, questionnaire.values, strict=True)
        ],
        **questionnaire.design.declaration(),
        "records": keyed_digest(key, b"contents", *records).hex(),
        "answers": told,
    }
