"""A model's file that is safe on the disk before the peer hears that we hold the model."""

from collections.abc import Callable
from pathlib import Path

from party.files import write_atomically
from party.models.any_file import KeptResult, model_json
from protocols.errors import InputError


class KeptModel:
    """Write a model under another name, whole and on the disk; give it its own once the peer holds it too.

    Each party sends the digest of its model only when that is written: so neither says that both hold it while one has
    lost it, as to a full disk (FAULTS case 90).

    Args:
        place: Says where a model goes.
    """

    def __init__(self, place: Callable[[KeptResult], Path]) -> None:
        self._place = place
        self._path: Path | None = None

    def keep(self, model: KeptResult) -> None:
        """Write the model.

        Raises:
            InputError: It cannot be written.
        """
        path = self._place(model)
        write_atomically(_beside(path), model_json(model))
        self._path = path

    def publish(self) -> None:
        """Give the file its name.

        Raises:
            InputError: It cannot have it; the text says where the model is.
        """
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
        """Where the model is.

        Raises:
            InputError: None was kept.
        """
        if self._path is None:
            raise InputError("no model was kept")
        return self._path


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.finished")
