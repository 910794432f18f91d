"""A model mined from disguised answers, in words: the model, which splits may be chance, how good it is."""

import json
from collections.abc import Iterator, Sequence
from math import isinf
from pathlib import Path

from party.models.any_file import model_json
from party.names import printable
from party.settings.survey import Questionnaire
from party.show.estimates import given_lines
from party.show.joint_rules import worth_json, worth_lines
from party.show.reading import reading_line
from party.show.tree import MARK
from party.survey.disguise import DisguisedTable
from party.survey.mining import CONFIDENCE, MinedModel, Parts
from party.survey.table import answers_given
from protocols.randomized_response.moments import tells
from protocols.survey.mining import Accuracy


def mined_lines(mined: MinedModel, parts: Parts, questionnaire: Questionnaire, output: Path | None) -> Iterator[str]:
    if mined.splits:
        tally = f"{len(mined.doubtful)} of {mined.splits} splits"
        yield f"{MARK} chance may bring the split, or its lead over the runner-up (at {100 * CONFIDENCE:g}%): {tally}"
        yield (
            "Counts are estimates, fitted node by node to the total above: class counts of branches may not add up to "
            "their parent's."
        )
    yield f"Learned from {len(parts.train)} disguised records{_held_out(parts)}."
    for line in given_lines(answers_given(parts.train.codes, questionnaire), len(parts.train)):
        yield f"  {line}"
    if mined.accuracy is not None and mined.guess is not None:
        yield _accuracy_text(mined.accuracy, len(parts.test or ()))
        if tells(mined.guess.standard_error):
            yield f"Always guessing the commonest class would have {mined.guess.share:.4f}."
    yield from worth_lines(mined.model, mined.beats_guessing)
    if output is not None:
        yield f"Wrote {output}: `cotally show` and `cotally predict` take it{_unmarked(mined)}."
        yield f"What its rules leave of privacy: cotally privacy {questionnaire.path} --model {output}"


def _unmarked(mined: MinedModel) -> str:
    return f"; the marks {MARK} are shown here alone" if mined.doubtful else ""


def _held_out(parts: Parts) -> str:
    held = {"to prune by": parts.pruning, "to test on": parts.test}
    told = [f"{len(part)} {use}" for use, part in held.items() if part is not None]
    return f"; held out: {' and '.join(told)}" if told else ""


def _accuracy_text(accuracy: Accuracy, held_out: int) -> str:
    lacking = held_out - accuracy.records
    rest = f"; {lacking} more lack an answer that is needed" if lacking else ""
    error = "unknown, of one record" if isinf(accuracy.standard_error) else f"{accuracy.standard_error:.4f}"
    if not tells(accuracy.standard_error):
        return f"Accuracy: {accuracy.records} held-out records are too few for it (standard error {error}){rest}."
    return (
        f"Accuracy {accuracy.share:.4f}, standard error {error}: "
        f"estimated from {accuracy.records} disguised records that were held out{rest}; it may leave 0 .. 1."
    )


def mined_json(mined: MinedModel, parts: Parts, output: Path | None) -> dict[str, object]:
    return {
        "format": "cotally-mined/1",
        "records": len(parts.train),
        "pruned_by": len(parts.pruning or ()),
        "tested_on": len(parts.test or ()),
        "accuracy": mined.accuracy,
        "commonest_class": mined.guess,
        **worth_json(mined.model, mined.beats_guessing),
        "splits": mined.splits,
        "doubtful": len(mined.doubtful),
        "output": output,
        "model": json.loads(model_json(mined.model)),
    }


def copy_lines(table: DisguisedTable, questionnaire: Questionnaire, output: Path, made: Path | None) -> Iterator[str]:
    yield f"Disguised {len(table)} records by {questionnaire.path}: {output}"
    yield from given_lines(table.answers, len(table))
    if table.answers:
        yield "The copy shows in the clear who gave no answer."
    if table.left_out:
        yield f"Left out, since the design does not name them: {printable(', '.join(table.left_out))}."
    if made is not None:
        yield f"Made {made}: keep it secret, keep a backup, and give it to nobody."
        yield "A second copy of these data under another secret would weaken this one: use this secret again."
    yield reading_line(table.read)
    yield f"More on what the design discloses: cotally privacy {questionnaire.path}"


def example_lines(data: Path, design: Path) -> list[str]:
    return [
        f"Wrote {data} and {design}. Next:",
        f"  cotally disguise {data} {design} -o disguised.csv --secret survey.key",
    ]


def copy_json(records: int, output: Path, left_out: Sequence[str], made: Path | None) -> dict[str, object]:
    head = {"format": "cotally-copy/1", "records": records, "output": output}
    return {**head, "left_out": left_out, "secret_made": made}
