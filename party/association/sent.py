"""How an owner disguises baskets once and for all, and keeps them in a file (`cotally-transactions/1`).

The first line names the format and the digest of the design, so that a copy is never read by parameters it was not
made with. Every other line is a basket: its original size, which the collector must know, and the items that were
sent. CSV, packed where the name ends in `.gz`.

Every basket has a stream of coins of its own, a keyed function of the secret, the data set and its id: asking again
gives the same copy (DESIGN 9.1 and 4.6; FAULTS B1, B2, B5). Where a layout has no ids, a basket's number in the file
stands for one.

Discloses: what `cotally privacy` says of the design, and the original size of every basket.
"""

import csv
import gzip
import io
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from party.association.files import Baskets, BasketSource, opened_text, read_baskets
from party.data.form import MAX_LINE, bare_name
from party.errors import ConfigError, DataError
from party.files import write_atomically
from party.keys.coin_secret import noted_secret
from party.settings.transactions import BasketDesign
from protocols.association.sampling import keyed_words, randomize
from protocols.association.transactions import Randomized, Transactions
from protocols.errors import InputError
from protocols.randomness import canonical, keyed_digest

FORMAT = "cotally-transactions/1"

_SUFFIXES = (".csv", ".txt")


def check_sent_name(path: Path) -> None:
    """Make sure, before anything is disguised, that a file's name asks for what is written."""
    if bare_name(path).suffix.lower() not in _SUFFIXES:
        names = ", ".join(_SUFFIXES)
        raise DataError(f"the name of disguised baskets must end in {names}, or in .gz after it", path=path)


def write_sent(path: Path, sent: Randomized, design: BasketDesign) -> None:
    """Write disguised baskets, whole or not at all."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow((FORMAT, design.digest()))
    names = np.array(design.items, dtype=object)
    for number, size in enumerate(sent.sizes.tolist()):
        lines.writerow((size, *names[sent.transactions.row(number)]))
    data = text.getvalue().encode()
    write_atomically(path, gzip.compress(data, 6, mtime=0) if path.suffix.lower() == ".gz" else data)


def read_sent(path: Path | str, design: BasketDesign) -> Randomized:
    """Read disguised baskets; those of another design are refused."""
    path = Path(path)
    with opened_text(path, "UTF-8", "name the copy that `cotally disguise` wrote") as text:
        return _read(path, text, design)


def _read(path: Path, text: TextIO, design: BasketDesign) -> Randomized:
    first = text.readline(MAX_LINE).rstrip("\n").split(",")
    if first[0] != FORMAT or len(first) != 2:
        raise DataError(f"is no file of disguised baskets: it must begin with {FORMAT}", path=path, line=1)
    if first[1] != design.digest():
        raise ConfigError(
            f"{path} was disguised by another design than {design.path}: name the one it was made with; estimates by "
            "another would be wrong"
        )
    number = {item: index for index, item in enumerate(design.items)}
    sizes, starts, items = array("q"), array("q", [0]), array("i")
    for line, row in _rows(path, text):
        try:
            sizes.append(int(row[0] if row[0].isascii() and row[0].isdigit() else ""))
            items.extend(sorted(map(number.__getitem__, row[1:])))
        except (ValueError, KeyError, IndexError):
            raise DataError("must be an original size, then items of the design", path=path, line=line) from None
        starts.append(len(items))
    try:
        flat = np.array(items, dtype=np.int32)
        made = Transactions(len(design.items), np.array(starts, dtype=np.int64), flat)
        design.design.check_sizes(sizes)
    except InputError as error:
        raise DataError(str(error), path=path) from None
    return Randomized(made, np.array(sizes, dtype=np.int64))


def _rows(path: Path, text: TextIO) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(text, strict=True)
    while True:
        try:
            row = next(rows, None)
        except csv.Error:
            raise DataError(
                "a quote is not closed or not doubled: disguise the baskets again", path=path, line=rows.line_num + 1
            ) from None
        if row is None:
            return
        yield rows.line_num + 1, row


def disguise_baskets(
    source: BasketSource | Baskets,
    design: BasketDesign,
    secret: Path | str,
    dataset: str | None = None,
    watch: Callable[[int, int], None] = lambda *_: None,
) -> Randomized:
    """Return the disguised copy of baskets; the same whenever asked.

    The owner's secret file is made on first use, and notes the name of the data set: the file's name unless given.
    A secret that was used before for another disguise or other data is refused. `watch` hears how many baskets are
    done, and of how many.
    """
    baskets = source if isinstance(source, Baskets) else read_baskets(source, design)
    if not len(baskets.ids):
        raise DataError("there are no baskets: export them again", path=baskets.path)
    noted = noted_secret(Path(secret), dataset, baskets.path.stem, lambda key: _release(key, design, baskets))
    words = keyed_words(noted.key, noted.dataset, baskets.ids)
    return randomize(baskets.transactions, design.design, words, watch)


def _release(key: bytes, design: BasketDesign, baskets: Baskets) -> dict[str, object]:
    """Return what leaves, field by field; contents as a digest that only the key's owner can check guesses against."""
    order = sorted(range(len(baskets.ids)), key=baskets.ids.__getitem__)
    records = [canonical(baskets.ids[row].encode(), baskets.transactions.row(row).tobytes()) for row in order]
    return {
        "items": design.items_digest(),
        "operators": design.design.declaration()["operators"],
        "records": keyed_digest(key, b"baskets", *records).hex(),
    }
