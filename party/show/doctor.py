"""What was found between two parties, layer by layer, in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from party.node.doctor import Diagnosis, Layer

_WIDTH: Final = max(len(layer.value) for layer in Layer) + 2
_SEEN: Final[Mapping[Layer, str]] = {
    Layer.SETTINGS: "{} is that of {}",
    Layer.KEYS: "ours are sound; our certificate is valid until {}, for {}",
    Layer.TRUST: "{} is trusted, with the key {}",
    Layer.LISTENING: "nobody listens on {} yet: start `cotally serve` before the other party calls",
    Layer.NAME: "{} is {}",
    Layer.PORT: "somebody listens at {}",
    Layer.TLS: "it speaks {}",
    Layer.PIN: "it is {}, with the key that we trust; its certificate is valid until {}, for {}",
    Layer.WELCOME: "{} lets us in, as {}",
    Layer.VERSION: "we run cotally {}, the other side {}",
    Layer.CLOCK: "both agree within {} s",
}
_LISTENS: Final = "our node listens on {} for {}"
_BUSY: Final = "; a session runs there at present"


def diagnosis_line(found: Diagnosis) -> str:
    """Say what came of a layer."""
    return f"{found.layer.value:<{_WIDTH}}{_verdict(found)}"


def diagnoses_json(layers: Sequence[Diagnosis]) -> dict[str, object]:
    """Return what came of each layer, for programs."""
    told = [
        {"layer": found.layer.value, "seen": list(found.seen), "error": found.error and str(found.error)}
        for found in layers
    ]
    return {"format": "cotally-doctor/1", "layers": told}


def unread_line(config: Path) -> str:
    """Say what was not looked at, and what looks at it."""
    return f"The table was not read: `cotally check {config}` does that."


def _verdict(found: Diagnosis) -> str:
    if found.error is not None:
        return f"FAILS: {found.error}"
    if not found.seen:
        return "not tried"
    if found.layer is Layer.LISTENING and len(found.seen) == 2:
        return _LISTENS.format(*found.seen)
    busy = _BUSY if found.layer is Layer.WELCOME and found.seen[2:] else ""
    return _SEEN[found.layer].format(*found.seen) + busy
