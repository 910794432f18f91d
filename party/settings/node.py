"""Where a party listens and whom it calls, and what it offers to classify: `[node]` and `[predict]` of `party.toml`."""

from dataclasses import dataclass
from pathlib import Path

from party.errors import IdentityError
from party.names import check_party_name
from party.settings.address import Address, read_address
from party.settings.toml import Section


@dataclass(frozen=True)
class PredictSettings:
    """What `serve` brings to a joint prediction: the rows, where it offers any, and the model."""

    rows: Path | None
    model: Path


@dataclass(frozen=True)
class NodeSettings:
    """Where this party listens, who its peer is and where to reach it; `patience` and `silence` in seconds."""

    listen: Address | None
    peer: str | None
    address: Address | None
    patience: int
    silence: int


def read_party_name(section: Section, key: str, name: str) -> str:
    """Return a party's name.

    Raises:
        ConfigError: It is none.
    """
    try:
        check_party_name(name)
    except IdentityError as error:
        raise section.error(key, str(error)) from None
    return name


def read_node(section: Section, name: str) -> NodeSettings:
    """Read `[node]` of the party of this name.

    Raises:
        ConfigError: A setting is out of its range.
    """
    peer = section.text("peer", None)
    if peer == name:
        raise section.error("peer", "is this party's own name")
    return NodeSettings(
        listen=read_address(section, "listen", lowest_port=0),
        peer=peer if peer is None else read_party_name(section, "peer", peer),
        address=read_address(section, "address", lowest_port=1),
        patience=section.integer("patience", 1, 86400, 30),
        silence=section.integer("silence", 1, 604800, 3600),
    )


def read_predict(section: Section, folder: Path) -> PredictSettings:
    """Read `[predict]`; its files are relative to this folder."""
    rows = section.text("rows", None)
    return PredictSettings(None if rows is None else folder / rows, folder / section.text("model", "model.json"))
