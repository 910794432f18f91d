"""A model's file of either kind, told apart by its format."""

from pathlib import Path

from party.models import bayes_file, tree_file
from party.models.strict_json import ModelError, model_bytes, parsed
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
    is_bayes = isinstance(content, dict) and content.get("format") == bayes_file.FORMAT
    return bayes_file.read_bayes(path) if is_bayes else tree_file.read_model(path)


def to_json(classifier: Tree | NaiveBayes) -> str:
    """Write a model of either kind as text."""
    return tree_file.to_json(classifier) if isinstance(classifier, Tree) else bayes_file.to_json(classifier)
