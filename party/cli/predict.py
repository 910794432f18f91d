"""`cotally predict`: classify the rows of a file."""

import argparse

from party.cli.classified import Classified, check_written, write_classified
from party.cli.predict_with import answered_before, predict_with
from party.cli.values import form
from party.data import read_frame
from party.errors import AbsentColumnError
from party.models.any_file import read_model
from party.models.prediction import predict_frame
from party.show.notices import tell
from party.show.prediction import prediction_json, prediction_notes, unknown_lines
from party.show.screen import put_json
from protocols.errors import InputError

_SOME_ROWS = 10  # of fewer, unknown cells may be so by chance


def run(arguments: argparse.Namespace) -> int:
    """Classify and write."""
    if arguments.json and arguments.output is None:
        raise InputError("--json tells what became of rows that go to a file: name it (-o)")
    if arguments.peer is not None and arguments.answered:
        raise InputError("--with asks the peer, --answered writes what it has answered before: name one of them")
    if arguments.peer is not None or arguments.answered:
        return answered_before(arguments) if arguments.answered else predict_with(arguments)
    if arguments.tree is not None:
        raise InputError("--model: names the model of a joint prediction; without --with give it as the first argument")
    if arguments.model.suffix == ".toml" or arguments.model.is_dir():
        raise InputError(
            f"{arguments.model} is a party: add --with PEER or --answered, or give a model, such as model.json"
        )
    model = read_model(arguments.model)
    frame = read_frame(arguments.rows, form(arguments))
    tell(frame.notices)
    check_written(arguments, frame, model.schema.class_attribute, (arguments.model, arguments.rows))
    try:
        predictions = predict_frame(model, frame, probabilities=arguments.probabilities)
    except AbsentColumnError as error:
        if error.owner is None:
            raise
        together = f"cotally predict PARTY --with {error.owner} {arguments.rows}"
        raise InputError(f"{error}; if {error.owner} alone has it, classify together: {together}") from None
    read = {attribute.name for attribute in map(model.schema.attributes.__getitem__, model.columns)}
    lost = [
        each
        for each in predictions.unknown
        if each.rows >= _SOME_ROWS and 2 * each.cells > each.rows and each.column.rpartition(".")[2] in read
    ]
    if lost:
        raise InputError(f"{unknown_lines(lost)[0]}: most rows would not be read as those that it was learned from")
    classified = Classified(frame, model.schema.class_attribute, predictions.labels, predictions.shares)
    write_classified(arguments.output, arguments.column, classified, list(prediction_notes(predictions)))
    if arguments.json:
        put_json(prediction_json(predictions, arguments.output))
    return 0
