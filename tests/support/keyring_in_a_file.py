"""A keyring for tests: passwords in the JSON file that `COTALLY_TEST_KEYRING` names."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    """As the system's keyring is, for every process with the same environment."""

    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        found: dict[str, str] = self._read()
        return found.get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._path().write_text(json.dumps({**self._read(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        kept = self._read()
        if kept.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("there is none")
        self._path().write_text(json.dumps(kept))

    def _path(self) -> Path:
        return Path(os.environ["COTALLY_TEST_KEYRING"])

    def _read(self) -> dict[str, str]:
        return dict(json.loads(self._path().read_text())) if self._path().exists() else {}
