"""`cotally serve`: listen, and take part in the runs that the peer opens."""

import argparse
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from party.cli.predict import served_offers, write_served
from party.cli.train import announce, announce_match, compute_settings, settle_result_paths, write_results
from party.closing import beside
from party.errors import IdentityError
from party.files import FolderLock, kept_apart, locked_folder, resolved
from party.keys.certificates import Peer, utc_now
from party.keys.identity import Identity, Latest, load_identity, load_peer
from party.models.any_file import KeptModel, KeptResult, model_json, read_result
from party.names import Address
from party.node.aligning import OwnRows, load_common
from party.node.inputs import pinned_peer, with_workers
from party.node.line import listen_for_peer
from party.node.metrics import shown_over_http
from party.node.players import Host, Matched, Predicted, Trained
from party.node.session import run_session
from party.settings.party import read_party_config
from party.show.log import AS_JSON, finished_text, incident, node_log, session_text, start_log, stop_log
from party.show.metrics import Watched, metrics_line
from party.show.notices import notes_once
from party.show.parties import expiry_lines
from party.show.prediction import other_model_lines
from party.show.progress import complain, make_progress
from party.show.screen import note, note_all
from party.show.training import listening
from party.transport.clocks import REAL_TIME, Timer
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import split_address
from protocols.errors import CotallyError, DeviationError, InputError, NotApprovedError
from protocols.terms import KEY_FLOOR

DAY_SECONDS: Final = 86_400.0


def command_serve(arguments: argparse.Namespace) -> int:
    if arguments.log is None:
        return _serve(arguments)
    if arguments.log != AS_JSON:
        config = read_party_config(arguments.party)
        if resolved(Path(arguments.log)) in map(resolved, (config.path, config.data.file)):
            raise InputError(f"{arguments.log} is read by this command: keep the log in another file")
    handler = start_log(arguments.log)
    try:
        return _serve(arguments)
    except CotallyError as error:
        node_log.error(str(error))
        raise
    finally:
        stop_log(handler)


def _serve(arguments: argparse.Namespace) -> int:
    """Serve; without `--once` a failed run is reported and the node keeps serving.

    After a deviation it does not: the operator must find out what the peer did.
    """
    config = read_party_config(arguments.party)
    settings = compute_settings(arguments, config)
    settle_result_paths(arguments, config, replaces=True)  # or stands apart, run by run
    config.need_listen()
    where = arguments.metrics
    shown_at = where and Address(*split_address(where if ":" in where else f"127.0.0.1:{where}"))
    identity, peer = load_identity(config.folder), pinned_peer(config)
    certificates = _certificates(config.folder, identity, peer)
    tell_of_expiry = partial(_tell_of_expiry, certificates)
    tell_of_expiry()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    tell = notes_once()
    with (
        locked_folder(config.folder) as held,
        with_workers(load_common(config, KEY_FLOOR, tell), settings) as loaded,
        listen_for_peer(config, identity, peer) as server,
        repeated_daily(tell_of_expiry),
        _watched(Watched(config.folder, certificates, server.since_contact), shown_at) as watched,
    ):
        note(listening(config.name, server.address, peer.name))
        node_log.info(listening(config.name, server.address, peer.name))
        rows, waiting = OwnRows(config, loaded, tell), Counter[str]()
        while True:
            try:
                _serve_one(server, rows, held, watched, arguments)
            except NotApprovedError as error:  # no run: the peer asks again until people have decided
                if arguments.once:
                    raise
                waiting[str(error)] += 1
                _report_waiting(str(error), waiting[str(error)])
                continue
            except DeviationError:
                raise  # for good: a peer that may try again learns from each refusal (FAULTS A7)
            except CotallyError as error:
                if arguments.once:
                    raise
                _report(str(error))
            except Exception as error:  # one run's fault must not end the node
                if arguments.once:
                    raise
                _report(incident(error))
            if arguments.once:
                return 0


def _certificates(folder: Path, identity: Identity, peer: Peer) -> Callable[[], list[Peer]]:
    """Return what gives both certificates as the folder has them by then."""
    latest = Latest(folder, identity)

    def both() -> list[Peer]:
        theirs = peer
        with suppress(IdentityError):  # one that cannot be read any more is said where it is used
            theirs = load_peer(folder, peer.name)
        return [latest(), theirs]

    return both


def _tell_of_expiry(certificates: Callable[[], list[Peer]]) -> None:
    lines = expiry_lines(certificates(), utc_now())
    note_all(lines)
    for line in lines:
        node_log.info(line)


@contextmanager
def _watched(watched: Watched, where: Address | None) -> Iterator[Watched]:
    if where is None:
        yield watched
        return
    with shown_over_http(watched.rows, where) as address:
        note(metrics_line(address))
        yield watched


@contextmanager
def repeated_daily(task: Callable[[], None], timer: Timer = REAL_TIME) -> Iterator[None]:
    """Call a task, which must raise nothing, once a day by a thread of its own, the first time in a day."""
    over = threading.Event()

    def repeat() -> None:
        while not timer.wait(over, DAY_SECONDS):
            task()

    with beside(threading.Thread(target=repeat, name="daily", daemon=True), over):
        yield


def _report_waiting(problem: str, times: int) -> None:
    """Report it the first, tenth, hundredth time and so on: a peer asks each few seconds, and must not go unseen."""
    if str(times).strip("0") == "1":
        _report(problem if times == 1 else f"{problem} (asked {times:,} times)")


def _report(problem: str) -> None:
    complain(problem)
    node_log.error(problem)


def _serve_one(
    server: NodeServer, rows: OwnRows, held: FolderLock, watched: Watched, arguments: argparse.Namespace
) -> None:
    config = rows.config
    with server.accept() as channel, watched.session(channel), make_progress(arguments.progress) as progress:
        node_log.info(session_text(channel.peer))
        path = arguments.model
        kept = KeptModel(lambda model: path if arguments.overwrite else _beside_earlier(path, model))
        host = Host(
            watched.following(progress.follow),
            lambda agreed, resumed, read: announce(rows.local, agreed, resumed, read),
            kept,
            offers=served_offers(config),
            rows=rows,
            on_matched=partial(announce_match, progress),
        )
        report = run_session(rows.local, config, held, channel, None, host)
    if isinstance(report.ended, Predicted):
        write_served(report.ended, config.folder)
    costs = arguments.report
    write_results(costs if costs is None or arguments.overwrite else kept_apart(costs), kept, report)
    if isinstance(report.ended, Trained):
        note_all(other_model_lines(kept.path, config.predict.model))
    traffic = report.traffic
    node_log.info(finished_text(channel.peer, report.seconds, (traffic.bytes_sent + traffic.bytes_received) / 1024))
    if isinstance(report.ended, Matched) and report.ended.named:
        rows.reload()


def _beside_earlier(path: Path, found: KeptResult) -> Path:
    """Return a name under which no other model stands: a node must not lose one, nor stop for it."""

    def is_same(other: Path) -> bool:
        try:
            return model_json(read_result(other)) == model_json(found)
        except CotallyError:
            return False

    return kept_apart(path, is_same)
