"""Whether a model is worth more than a guess, in words."""

from party.names import printable
from protocols.learning.naive_bayes import Model, beats_in_training, only_class
from protocols.learning.tree import Tree


def worth_lines(model: Model, beats: bool | None = None) -> list[str]:
    """Say so where a model does no better than a guess, and where it gives every record one class.

    Args:
        model: The model.
        beats: Whether it did better on records held out; None where it was not tested, then those of training count.
    """
    tested = "" if beats is not None else ", even on the records that it was learned from"
    poor = (beats_in_training(model) if beats is None else beats) is False
    told = [f"The model is no better than always guessing the commonest class{tested}."] if poor else []
    if (label := only_class(model)) is not None:
        each = "Every leaf says" if isinstance(model, Tree) else "Whatever a record holds, the model says"
        told.append(f"{each} {printable(model.schema.class_attribute.values[label])}.")
    return told


def worth_json(model: Model, beats: bool | None) -> dict[str, object]:
    """Return the same for programs: whether it beats guessing on records held out, and the class that all get."""
    label = only_class(model)
    return {
        "beats_guessing": beats,
        "only_class": None if label is None else model.schema.class_attribute.values[label],
    }
