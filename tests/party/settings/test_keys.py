"""Every declared key of `party.toml` and `survey.toml`: its range."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from party.errors import ConfigError
from party.settings.collector import CLOSE, SERVER, STORE, SURVEY, read_collector_settings
from party.settings.party import COMPUTE, DATA, DISGUISE, NODE, PREDICT, TREATMENT, USUAL_AGREE, read_party_config
from party.settings.toml import REQUIRED, Declared, Key, Read, keys_of, toml_value
from protocols.terms import KEY_BITS, KEY_FLOOR
from tests.support.collecting import RELATED
from tests.support.kinds import beyond, within

AGREE = keys_of(USUAL_AGREE) | {"smallest_key_bits": Key(replace(KEY_BITS, low=KEY_FLOOR))}
PARTY: dict[str, Declared] = {
    "data": DATA, "columns.age": TREATMENT, "disguise": DISGUISE, "agree": AGREE, "node": NODE, "predict": PREDICT,
    "compute": COMPUTE,
}  # fmt: skip
SURVEYS: dict[str, Declared] = {"": SURVEY, "server": SERVER, "store": STORE, "close": CLOSE}
BESIDE = {
    "group": "max_values = 4\n",
    "noise": "epsilon = 1\n",
    "certificate": 'key = "k"\n',
    "key": 'certificate = "c"\n',
}


def read(folder: Path, section: str, key: str, text: str | None) -> Any:
    """Read a file that has this key, and what it needs beside it; without the key if the text is None."""
    tables = {"": {"name": '"alice"'}, "data": {"file": '"data.csv"', "id": '"id"'}}
    if section not in PARTY:
        tables = {"": {"title": '"T"'}}
    tables.setdefault(section, {})[key] = text or ""
    content = ""
    for table, keys in tables.items():
        content += (f"[{table}]\n" if table else "") + "".join(f"{k} = {v}\n" for k, v in keys.items() if v)
        content += BESIDE.get(key, "") if table == section else ""
    (folder / "party.toml").write_text(content)
    (folder / "design.toml").write_text(RELATED)
    return (read_party_config if section in PARTY else read_collector_settings)(folder / "party.toml")


def wrong(key: Key) -> Iterator[str | None]:
    """Yield what is below, above and beside a key's range, as TOML has it; None where it may not be missing."""
    if isinstance(key.kind, Read):
        yield "true"
    else:
        for value, _ in beyond(key.kind):
            if value is not None:
                yield f'"{value}"' if isinstance(value, float | str) else toml_value(key.kind, value)
    if key.usual is REQUIRED:
        yield None


def test_each_key_is_refused_below_and_above_its_range_and_read_at_both_ends(tmp_path: Path) -> None:
    for section, keys in (PARTY | SURVEYS).items():
        place = rf"\[{section}\] " if section else ""
        for name, key in keys.items():
            for text in wrong(key):
                with pytest.raises(ConfigError, match=rf"\.toml: {place}{name}: "):
                    read(tmp_path, section, name, text)
            for value in () if isinstance(key.kind, Read) else within(key.kind):
                config = read(tmp_path, section, name, toml_value(key.kind, value))
                assert section != "agree" or keys_of(config.agree)[name].usual == value
            if key.sample:
                read(tmp_path, section, name, key.sample)
