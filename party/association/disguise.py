"""Disguise baskets, once and for all (DESIGN 9.1 and 4.6; FAULTS B1, B2, B5).

Every basket has a stream of coins of its own, a keyed function of the secret, the data set and its id: asking again
gives the same copy. Where a layout has no ids, a basket's number in the file stands for one.

Discloses: what `cotally privacy` says of the design, and the original size of every basket.
"""

from collections.abc import Callable
from pathlib import Path

from party.association.files import Baskets, BasketSource, read_baskets
from party.data import name_flaw
from party.errors import ConfigError, DataError
from party.files import is_there
from party.keys.coin_secret import CoinSecret, check_same, new_key, read_coin_secret, write_coin_secret
from party.settings.transactions import BasketDesign
from protocols.association.sampling import keyed_words, randomize
from protocols.association.transactions import Randomized
from protocols.randomness import canonical, keyed_digest


def disguise_baskets(
    source: BasketSource | Baskets,
    design: BasketDesign,
    secret: Path | str,
    dataset: str | None = None,
    watch: Callable[[int, int], None] = lambda *_: None,
) -> Randomized:
    """Return the disguised copy of baskets; the same whenever asked.

    Args:
        source: True baskets: a file, a DataFrame, or what was read.
        design: How they are disguised.
        secret: The owner's secret file, made on first use.
        dataset: Name of the data set, to be noted on first use; the file's name unless given.
        watch: Told, as it goes, how many baskets are done, and of how many.

    Raises:
        ConfigError: The data set's name cannot be used, or the secret was used before for another disguise or other
            data.
        DataError: The baskets cannot be read or do not fit the design, or there are none.
        IdentityError: The secret cannot be read or made.
    """
    baskets = source if isinstance(source, Baskets) else read_baskets(source, design)
    if not len(baskets.ids):
        raise DataError("there are no baskets", path=baskets.path)
    path = Path(secret)
    known = read_coin_secret(path) if is_there(path) else None
    if known is not None and dataset not in (None, known.dataset):
        raise ConfigError(f"{path} is the secret of data set {known.dataset!r}: name a new secret file for another")
    name = (baskets.path.stem if dataset is None else dataset) if known is None else known.dataset
    flaw = name_flaw(name)
    if flaw is not None:
        raise ConfigError(f"the name of the data set {flaw}: give it another name")
    key = new_key() if known is None else known.key
    fields = _release(key, design, baskets)
    if known is None:
        write_coin_secret(path, CoinSecret(name, key, fields))
    else:
        check_same(path, known, fields)
    return randomize(baskets.transactions, design.design, keyed_words(key, name, baskets.ids), watch)


def _release(key: bytes, design: BasketDesign, baskets: Baskets) -> dict[str, object]:
    """Return what leaves, field by field; contents as a digest that only the key's owner can check guesses against."""
    order = sorted(range(len(baskets.ids)), key=baskets.ids.__getitem__)
    records = [canonical(baskets.ids[row].encode(), baskets.transactions.row(row).tobytes()) for row in order]
    return {
        "items": design.items_digest(),
        "operators": design.design.declaration()["operators"],
        "records": keyed_digest(key, b"baskets", *records).hex(),
    }
