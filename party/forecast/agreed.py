"""The forecast of a run on which both parties have agreed: all sizes are known, only the tree is not."""

from party.forecast.calibration import Speed
from party.forecast.model import Forecast, Sizes, forecast
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs


def forecast_agreed(agreed: Agreement, local: PartyInputs, speed: Speed) -> Forecast:
    """Return what the run will cost."""
    schema = agreed.schema
    sizes = Sizes(
        records=len(local.records),
        sides=(schema.sizes_of(local.party), schema.sizes_of(agreed.peer)),
        class_holder=None if len(schema.class_owners) > 1 else int(schema.class_owners[0] != local.party),
        classes=schema.classes,
        patterns=(agreed.own_design.patterns, agreed.peer_design.patterns),
        key=local.secrets.keys[agreed.terms.cipher],
    )
    return forecast(sizes, agreed.terms, speed)
