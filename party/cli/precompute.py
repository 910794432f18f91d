"""`cotally precompute`: make random factors while the machine is idle."""

import argparse
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from party.compute import make_compute
from party.keys.factors import BLOCK_FACTORS, FactorStore
from party.keys.keystore import load_keys, load_secret
from party.node.aligning import load_common
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import PartyConfig, read_party_config
from party.show.costs import discarded_text, factors_json, factors_text, need_text, unknown_need
from party.show.progress import Display, Work, make_progress, working
from party.show.screen import put_json, say_all
from protocols.errors import InputError
from protocols.terms import Cipher
from protocols.work import PageEncryptor

_NOT_KNOWN = "our coins are too many to encrypt, and dot products take what the tree needs: name --count or --seconds"


def run(arguments: argparse.Namespace) -> int:
    """Make what is asked for, and say what there is."""
    config = read_party_config(arguments.party)
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
    _tell(config, cipher, store, as_json=arguments.json)
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
        InputError: The data cannot be read, or their coins are too many to encrypt.
    """
    local = load_common(config, KEY_FLOOR)
    try:
        return local.ciphertexts_per_record(), len(local.records)
    except InputError:
        raise InputError(_NOT_KNOWN) from None


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


def _tell(config: PartyConfig, cipher: Cipher, store: FactorStore, *, as_json: bool) -> None:
    """Say how many factors there are, and for how many records they are enough, where that can be known."""
    left, size = store.left(), store.path.stat().st_size if store.path.exists() else 0
    need, unknown = None, []
    try:
        need = _need(config)
    except InputError as error:
        unknown = [unknown_need(error)]
    if as_json:
        put_json(factors_json(cipher, left, size, store.discarded, need))
        return
    discarded = [discarded_text(store.discarded)] if store.discarded else []
    say_all([*discarded, factors_text(cipher, left, size), *([need_text(left, *need)] if need else unknown)])
