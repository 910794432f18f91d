"""The folders of a demo: each party has one with its data, keys and settings, and the other's certificate."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from party.data import csv_text
from party.demo.data import ALICE, BOB, PARTIES, Halves
from party.demo.options import DemoOptions
from party.files import locked_folder, write_atomically
from party.keys.identity import trust
from party.node.creation import create_party
from party.records.run_file import FAMILY
from party.settings.party import ANY
from party.settings.place import CONFIG_FILE
from party.settings.toml import toml_file, toml_value
from protocols.errors import InputError
from protocols.kinds import kinds_of, values_of
from protocols.tables import MAX_DOMAIN
from protocols.terms import ALL, BITS, NOISE, OMEGA, Method, Reveal, Terms

RUN, PNG, SVG = "run.json", "figure.png", "figure.svg"
MODEL = "model.json"

_HOST = "127.0.0.1"
_PATIENCE = 60
ANYTHING = {"odds": ANY, "most_bits": ANY, "most_values": MAX_DOMAIN, "most_columns": OMEGA.high}
"""What parties agree to that have one owner."""
_OWN = (*PARTIES, RUN, PNG, SVG)


@contextmanager
def held_folder(out: Path) -> Iterator[None]:
    """Hold the folder of a demo until it ends; one that was made for it and stays empty is removed."""
    check_out(out)
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(out, error) from None
    with locked_folder(out):
        try:
            yield
        finally:
            if made and not any(out.iterdir()):
                _remove(out)


@contextmanager
def fresh_folder(out: Path) -> Iterator[Path]:
    """Give a folder to prepare a demo in, and put what is in it in the place of an older demo's at the end."""
    check_out(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name[:50]}-") as temporary:
            staged = Path(temporary)
            yield staged
            out.mkdir(exist_ok=True)
            for name in _OWN:
                _remove(out / name)
            for path in staged.iterdir():
                path.rename(out / path.name)
    except OSError as error:
        raise _unwritable(out, error) from None


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"{out} cannot be written: {error.strerror or 'output error'}")


def check_out(out: Path) -> None:
    """Refuse to replace anything but the folder of an earlier demo."""
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError(f"{out} is not a folder: choose another")
    if any(out.iterdir()) and not _is_demo(out):
        raise InputError(f"{out} holds files that are no demo's: choose another folder")


def _is_demo(out: Path) -> bool:
    try:
        content = json.loads((out / RUN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format")).startswith(FAMILY)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_parties(root: Path, halves: Halves, options: DemoOptions, port: int) -> None:
    """Write both parties' folders; `bob` listens."""
    for party in PARTIES:
        settings = {CONFIG_FILE: _settings(party, halves, options, port)}
        create_party(root / party, party, (_HOST,), options.key_bits, settings, options.key_floor)
        columns = halves.of[party].columns
        rows = zip(halves.ids, *columns.values(), strict=True)
        write_atomically(root / party / "data.csv", csv_text([halves.id_column, *columns], rows))
    for own, other in ((ALICE, BOB), (BOB, ALICE)):
        trust(root / own, root / other / "cert.pem")


def _settings(party: str, halves: Halves, options: DemoOptions, port: int) -> str:
    half, terms = halves.of[party], options.terms(options.closest, ALL, halves.class_name)
    columns = {
        name: {"missing": each.missing, "bins": each.bins, "max_values": each.max_values}
        for name, each in half.treatments.items()
    }
    agree = {
        **ANYTHING,
        "methods": [*Method],
        "omega": OMEGA.word,
        "exact_counts": options.reveal == Reveal.COUNTS,
        "smallest_key_bits": options.key_bits,
        "min_leaf": options.min_leaf or 1,
        "most_runs": ANY,
        "epsilon": NOISE.text(terms.epsilon) if terms.noises_tree else None,
    }
    data = {
        "file": "data.csv",
        "id": halves.id_column,
        "dataset": halves.name,
        "smallest_value": options.smallest_value,
        "class": halves.class_name if half.holds_class else None,
    }
    place = {"listen" if party == BOB else "address": f"{_HOST}:{port}"}
    node = {"peer": BOB if party == ALICE else ALICE, **place, "patience": _PATIENCE}
    return toml_file({"": {"name": party}, "data": data, "columns": columns, "agree": agree, "node": node})


def write_job(folder: Path, run: str, terms: Terms) -> str:
    """Write the job of one run and return the file's name."""
    values = values_of(terms) | ({"most_bits": BITS.high} if terms.bits_at_most(0) is not None else {})
    lines = [
        f"{name.removesuffix('_name')} = {toml_value(kind, values[name])}\n"
        for name, kind in kinds_of(Terms).items()
        if name != "most_bits" or values[name]
    ]
    name = f"job-{run}.toml"
    write_atomically(folder / name, "".join(lines))
    return name


def config_path(root: Path, party: str) -> Path:
    """Return where a party's settings are."""
    return root / party / CONFIG_FILE
