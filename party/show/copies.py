"""A disguised copy in words: what was made of which table, what it shows, and what its owner has to keep."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from party.names import printable
from party.settings.survey import Questionnaire
from party.show.estimates import given_lines
from party.show.reading import reading_line
from party.survey.disguise import DisguisedTable


def copy_lines(table: DisguisedTable, questionnaire: Questionnaire, output: Path, made: Path | None) -> Iterator[str]:
    """Yield what a copy in that file is, and that a secret file was made, if one was."""
    yield f"Disguised {len(table)} records by {questionnaire.path}: {output}"
    yield from given_lines(table.answers, len(table))
    if table.answers:
        yield "Whoever gave no answer is seen to have given none: the copy shows that in the clear."
    if table.left_out:
        yield f"Left out, since the design does not name them: {printable(', '.join(table.left_out))}."
    if made is not None:
        yield f"Made {made}: keep it secret, keep a backup, and give it to nobody."
        yield "A second copy of these data under another secret would weaken this one: use this secret again."
    yield reading_line(table.read)
    yield f"More on what the design discloses: cotally privacy {questionnaire.path}"


def example_lines(data: Path, design: Path) -> list[str]:
    """Say where an example is, and what to do with it."""
    return [
        f"Wrote {data} and {design}. Next:",
        f"  cotally disguise {data} {design} -o disguised.csv --secret survey.key",
    ]


def copy_json(records: int, output: Path, left_out: Sequence[str], made: Path | None) -> dict[str, object]:
    """Return for programs what was disguised, and which secret file was made for it, if one was."""
    secret = None if made is None else str(made)
    head = {"format": "cotally-copy/1", "records": records, "output": str(output)}
    return {**head, "left_out": list(left_out), "secret_made": secret}
