"""Model files of every kind, recognized by their format."""

from collections.abc import Callable, Mapping
from pathlib import Path

from party.files import write_atomically
from party.models import bayes_file, itemset_file, tree_file
from party.models.strict_json import ModelError, model_bytes, parsed, read_format
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree

_LONG = 6
KeptResult = Model | JointItemsets
"""Whatever a run ends with."""


_Format = tuple[str, Callable[[bytes | str], KeptResult]]
"""What a kind of model is called, and what reads its JSON."""
_TREE: _Format = (tree_file.FORMAT, tree_file.tree_from_json)
_BAYES: _Format = (bayes_file.FORMAT, bayes_file.bayes_from_json)
_ITEMSETS: _Format = (itemset_file.FORMAT, itemset_file.itemsets_from_json)
_FORMATS: Mapping[object, _Format] = {
    **dict.fromkeys((tree_file.FORMAT, tree_file.OLDER_TREE), _TREE),
    **dict.fromkeys((bayes_file.FORMAT, bayes_file.OLDER_BAYES), _BAYES),
    **dict.fromkeys((itemset_file.FORMAT, itemset_file.WITHOUT_COUNTS), _ITEMSETS),
}


def read_model(path: Path) -> Model:
    """Read what gives a row a class."""
    found = read_result(path)
    if isinstance(found, JointItemsets):
        raise ModelError(
            f"{path} holds itemsets, which give a row no class: `cotally rules` and `cotally show` take it"
        )
    return found


def read_result(path: Path) -> KeptResult:
    """Read a model or itemsets; a file that names no known format is refused as a bad tree."""
    try:
        content = parsed(model_bytes(path))
    except ModelError:
        content = None
    name = content.get("format") if isinstance(content, dict) else None
    if not isinstance(name, str):
        return read_format(path, *_TREE)
    if name not in _FORMATS:
        kind, _, version = name.partition("/")
        known = [each for each in map(str, _FORMATS) if each.partition("/")[0] == kind]
        if known and version.isascii() and version.isdigit() and len(version) < _LONG:
            way = f"run `cotally upgrade {path.parent}`" if name == tree_file.FIRST_TREE else "install a later cotally"
            raise ModelError(f"{path} is a {kind}/{version}, this program reads {' and '.join(known)}: {way}")
    return read_format(path, *_FORMATS.get(name, _TREE))


def model_from_text(text: str) -> Model:
    """Read a model that `model_json` wrote."""
    content = parsed(text.encode())
    _, parse = _FORMATS.get(content.get("format"), _TREE) if isinstance(content, dict) else _TREE
    found = parse(text)
    if isinstance(found, JointItemsets):
        raise ModelError("the text holds itemsets, which give a row no class")
    return found


def model_json(model: KeptResult) -> str:
    """Write a model as text."""
    match model:
        case Tree():
            return tree_file.tree_json(model)
        case NaiveBayes():
            return bayes_file.bayes_json(model)
        case JointItemsets():
            return itemset_file.itemsets_json(model)


def write_model(path: Path, model: Model) -> None:
    """Write a model's file, whole or not at all."""
    write_atomically(path, model_json(model))


class KeptModel:
    """Write a model under another name; give it its own once the peer holds it too: neither loses one (FAULTS 90)."""

    def __init__(self, place: Callable[[KeptResult], Path]) -> None:
        self._place = place
        self._path: Path | None = None

    def keep(self, model: KeptResult) -> None:
        """Write the model."""
        path = self._place(model)
        write_atomically(_beside(path), model_json(model))
        self._path = path

    def publish(self) -> None:
        """Give the file its name."""
        if self._path is None:
            return
        try:
            _beside(self._path).replace(self._path)
        except OSError as error:
            raise InputError(
                f"{self._path} cannot be written: {error.strerror}; the model is in {_beside(self._path)}"
            ) from None

    @property
    def path(self) -> Path:
        """Where the model is."""
        if self._path is None:
            raise InputError("no model was kept")
        return self._path


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.finished")
