"""The forecast of a run on which both parties have agreed: all sizes are known, only the tree is not."""

from collections.abc import Callable

from party.forecast import model
from protocols.ciphers.port import AnyKeyHolder
from protocols.terms import Terms
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.work import PageEncryptor


def measure(
    terms: Terms, local: PartyInputs, encryption: Callable[[AnyKeyHolder], PageEncryptor], workers: int
) -> model.Means:
    """Measure how fast this machine makes counts as these terms say."""
    if not terms.encrypts:
        return model.ByTransfers(model.calibrate_transfers())
    key = local.secrets.key
    return model.ByPaillier(key, model.calibrate(key, encryption(key), workers))


def agreed_sizes(agreed: Agreement, local: PartyInputs) -> model.Sizes:
    """Return what both parties bring."""
    schema = agreed.learning.schema
    return model.Sizes(
        records=len(local.records),
        sides=(schema.sizes_of(local.party), schema.sizes_of(agreed.peer)),
        class_holder=None if len(schema.class_owners) > 1 else int(schema.class_owners[0] != local.party),
        classes=schema.classes,
    )


def forecast_agreed(agreed: Agreement, local: PartyInputs, means: model.Means) -> model.Forecast:
    """Return what the run will cost."""
    return model.forecast(agreed_sizes(agreed, local), agreed.terms, means)
