"""Make random factors while the machine is idle, so that a run encrypts with one multiplication each.

They are kept in the party's folder, sealed, and each is used at most once: `train` and `serve` take them by
themselves. They last until the machine is restarted, and are discarded if the folder is copied or restored.
Stop with Ctrl-C at any time: what was made is kept. At most 127 more than asked for are made.

Without an amount, as many are made as one run over this party's data (engine encrypted_coins) still needs.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from party.compute import make_compute
from party.keys.factors import BLOCK_FACTORS, FactorStore
from party.keys.keystore import load_keys, load_secret
from party.node.inputs import load_inputs
from party.settings.party import KEY_FLOOR, PartyConfig, read_party_config
from party.show.costs import discarded_text, factors_text, need_text, unknown_need
from party.show.progress import PROGRESS_STYLES, Display, Work, make_progress, working
from party.show.screen import say_all
from protocols.errors import InputError
from protocols.terms import Cipher
from protocols.work import PageEncryptor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the party's folder, or its party.toml")
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--count", type=_positive, metavar="N", help="make N more")
    amount.add_argument("--for-rows", type=_positive, metavar="N", help="have enough for a run over N records")
    amount.add_argument("--seconds", type=_positive, metavar="S", help="make factors for S seconds")
    amount.add_argument("--status", action="store_true", help="only say how many there are and how far they go")
    parser.add_argument(
        "--cipher",
        type=Cipher,
        choices=list(Cipher),
        metavar="{paillier,curve}",
        help="whose factors (default: the first of [agree] ciphers)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="use N processes, whatever [compute] says")
    parser.add_argument("--progress", choices=PROGRESS_STYLES, default="auto", help="how progress is shown")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Make what is asked for, and say what there is."""
    config = read_party_config(arguments.folder)
    cipher = arguments.cipher or config.agree.ciphers[0]
    key = load_keys(config.folder, KEY_FLOOR)[cipher]
    store = FactorStore(config.folder, load_secret(config.folder), key.public)
    wanted = 0 if arguments.status else _wanted(arguments, config, store)
    settings = replace(config.compute, cluster=None)
    if arguments.workers is not None:
        settings = replace(settings, workers=arguments.workers)
    if wanted:
        with (
            suppress(KeyboardInterrupt),
            make_progress(arguments.progress) as progress,
            make_compute(settings) as compute,
        ):
            _make(store, compute.encryption(key), wanted, arguments.seconds, progress)
    say_all(_status(config, cipher, store))
    return 0


def _wanted(arguments: argparse.Namespace, config: PartyConfig, store: FactorStore) -> int | float:
    """Return how many factors to make: without end where time alone counts."""
    if arguments.seconds:
        return float("inf")
    if arguments.count:
        return int(arguments.count)
    a_record, records = _need(config)
    return max(0, a_record * (arguments.for_rows or records) - store.left())


def _need(config: PartyConfig) -> tuple[int, int]:
    """Return how many factors each record takes in a run over this party's data, and how many records these are.

    Raises:
        InputError: The data cannot be read, or their groups need no factors that could be counted.
    """
    local = load_inputs(config, KEY_FLOOR)
    return local.ciphertexts_per_record(), len(local.records)


def _make(
    store: FactorStore, encryption: PageEncryptor, wanted: int | float, seconds: int | None, progress: Display
) -> None:
    """Encrypt zeros, whose ciphertexts are random factors, and store each block as soon as it is made."""
    began, done = time.monotonic(), 0
    for page in encryption.encrypt_pages(_zeros(wanted)):
        store.append(page)
        done += BLOCK_FACTORS
        taken = time.monotonic() - began
        progress.show(working(Work.FACTORS, *((taken, seconds) if seconds else (done, float(wanted)))))
        if seconds and taken >= seconds:
            return


def _zeros(wanted: int | float) -> Iterator[list[int]]:
    while wanted > 0:
        yield [0] * BLOCK_FACTORS
        wanted -= BLOCK_FACTORS


def _status(config: PartyConfig, cipher: Cipher, store: FactorStore) -> list[str]:
    left, size = store.left(), store.path.stat().st_size if store.path.exists() else 0
    try:
        need = need_text(left, *_need(config))
    except InputError as error:
        need = unknown_need(error)
    discarded = [discarded_text(store.discarded)] if store.discarded else []
    return [*discarded, factors_text(cipher, left, size), need]
