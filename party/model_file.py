"""A model's file of either kind, told apart by its format."""

from pathlib import Path

from party import bayes_model, model
from party.model_json import ModelError, model_bytes, parsed
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree


def read_any(path: Path) -> Tree | NaiveBayes:
    """Read a tree or a naive Bayes classifier.

    Raises:
        ModelError: The file cannot be read, or is neither in every detail.
    """
    try:
        content = parsed(model_bytes(path))
    except ModelError:
        content = None
    is_bayes = isinstance(content, dict) and content.get("format") == bayes_model.FORMAT
    return bayes_model.read_bayes(path) if is_bayes else model.read_model(path)


def to_json(classifier: Tree | NaiveBayes) -> str:
    """Write a model of either kind as text."""
    return model.to_json(classifier) if isinstance(classifier, Tree) else bayes_model.to_json(classifier)
