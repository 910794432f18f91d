"""The last step of every run: both sides have the same model, and each has it where nothing can lose it."""

from protocols.errors import DeviationError
from protocols.facts import ModelFact
from protocols.messages import ModelDigest
from protocols.role import Note, Role, exchange


def keep_nothing(model: object) -> None:
    """Leave the model to the result of the role."""
    del model


def confirm_same_model(digest: bytes) -> Role[None]:
    """Tell the digest of our model, once that is kept, and hold the peer's against it.

    Discloses: a digest of the model that the peer has too.

    Raises:
        DeviationError: The peer has ended with another model.
    """
    yield Note(ModelFact(digest))
    if (yield from exchange(ModelDigest(digest))).digest != digest:
        raise DeviationError
