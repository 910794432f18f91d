"""Where somebody listens: `host:port` in a file of settings."""

from dataclasses import dataclass
from typing import Final

from party.settings.toml import Section

DEFAULT_HOSTS: Final = ("localhost", "127.0.0.1")  # at which this machine reaches itself


@dataclass(frozen=True)
class Address:
    """Host and port; an IPv6 host is kept without its brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(section: Section, key: str, lowest_port: int) -> Address | None:
    """Return the address under this key; None if there is none.

    Raises:
        ConfigError: It is not host and port.
    """
    text = section.text(key, None)
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    legal = host and host.isascii() and not any(c.isspace() or c in "/[]" for c in host)
    if not (legal and port.isascii() and port.isdigit() and lowest_port <= int(port[:6]) <= 65535):
        raise section.error(key, 'must be host and port, such as "bob.example.org:7071"')
    return Address(host, int(port))
