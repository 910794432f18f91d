"""`cotally pair` by real processes over a real port (DESIGN 14)."""

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.demo.processes import free_port
from party.keys.identity import load_identity, load_peers
from party.keys.pairing import new_code
from tests.support.processes import Ended, cotally_here, finish, start


@pytest.fixture
def folders(trusting: Path, tmp_path: Path) -> Path:
    """Alice, who listens, and Bob, who calls; nobody trusts anybody yet."""
    for name in ("alice", "bob"):
        target = tmp_path / name
        target.mkdir(mode=0o700)
        for file in (trusting / name).iterdir():
            if file.is_file():
                (target / file.name).write_bytes(file.read_bytes())
                (target / file.name).chmod(file.stat().st_mode & 0o777)
    port = free_port()
    settings = (tmp_path / "alice" / "party.toml").read_text()
    (tmp_path / "alice" / "party.toml").write_text(settings.replace("0.0.0.0:7071", f"127.0.0.1:{port}"))
    settings = (tmp_path / "bob" / "party.toml").read_text()
    address = f'address = "127.0.0.1:{port}"'
    (tmp_path / "bob" / "party.toml").write_text(settings.replace('# address = "alice.example.org:7071"', address))
    return tmp_path


@contextlib.contextmanager
def listening(folders: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Let Alice wait, and read her code from the screen."""
    process = start("pair", str(folders / "alice" / "party.toml"))
    try:
        assert process.stderr is not None
        told = process.stderr.readline()
        found = re.fullmatch(r"Code: (\d{3} \d{3} \d{3})\n", told)
        assert found, told + process.stderr.read()
        yield process, found[1]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def call(folders: Path, code: str, *more: str) -> Ended:
    process = start("pair", str(folders / "bob" / "party.toml"), *more, stdin=subprocess.PIPE)
    out, err = process.communicate(f"{code}\n", timeout=60)
    return Ended(process.returncode, out, err)


def trusted(folder: Path) -> dict[str, str]:
    return {name: peer.fingerprint for name, peer in load_peers(folder).items()}


def test_two_parties_that_share_the_code_trust_each_other(folders: Path) -> None:
    with listening(folders) as (alice, code):
        bob = call(folders, code)
        ended = finish(alice)
    assert (bob.code, ended.code) == (0, 0), bob.err + ended.err
    assert trusted(folders / "alice") == {"bob": load_identity(folders / "bob").fingerprint}
    assert trusted(folders / "bob") == {"alice": load_identity(folders / "alice").fingerprint}
    assert "the certificate of" not in bob.err + ended.err
    assert "Paired with alice" in bob.out
    assert 'set peer = "bob"' in ended.out
    assert code not in bob.out + bob.err + ended.out + ended.err  # once is enough, and that line was read above


def test_a_certificate_that_is_not_for_the_address_is_noted_at_both_sides_as_they_pair(folders: Path) -> None:
    assert cotally_here("keys", "renew", folders / "alice", "--host", "localhost").code == 0
    with listening(folders) as (alice, code):
        assert alice.stderr is not None
        noted = next(line for line in alice.stderr if "note: " in line)  # it may have come in one piece with the code
        bob = call(folders, code)
    cure = "in [node] address, or run `cotally keys renew alice --host localhost --host 127.0.0.1` at its side"
    for said in (bob.err, noted):
        assert f"note: the certificate of alice is for localhost, not for 127.0.0.1: write one of these {cure}" in said


def test_a_wrong_code_pins_nothing_and_the_right_one_is_void_after_it(folders: Path) -> None:
    with listening(folders) as (alice, code):
        wrong = new_code(lambda _: (int(code.replace(" ", "")[:-1]) + 1) % 10**8)
        bob = call(folders, wrong)
        ended = finish(alice)
        late = call(folders, code)
    assert (bob.code, ended.code, late.code) == (3, 3, 3)
    assert "has another code, which is void now" in bob.err
    assert "the other side has another code" in ended.err
    assert "nobody waits for a code" in late.err
    assert trusted(folders / "alice") == trusted(folders / "bob") == {}


def test_a_slip_of_the_tongue_costs_no_guess(folders: Path) -> None:
    with listening(folders) as (alice, code):
        last = str((int(code[-1]) + 1) % 10)
        slip = call(folders, code[:-1] + last)
        assert (slip.code, "was not tried" in slip.err) == (2, True)
        paired = call(folders, code, "--json")
        assert paired.code == 0
        assert json.loads(paired.out)["fingerprint"] == load_identity(folders / "alice").fingerprint
        assert finish(alice).code == 0


def test_another_peer_than_the_settings_name_is_not_pinned(folders: Path) -> None:
    settings = folders / "alice" / "party.toml"
    settings.write_text(settings.read_text().replace('# peer = "bob"', 'peer = "carol"'))
    with listening(folders) as (alice, code):
        assert call(folders, code).code == 3
        ended = finish(alice)
    assert ended.code == 2
    assert "[node] peer is 'carol': nothing is pinned" in ended.err
    assert trusted(folders / "alice") == {}


def test_a_party_does_not_pair_while_another_command_works_in_its_folder(folders: Path) -> None:
    with listening(folders):
        ended = cotally_here("pair", folders / "alice" / "party.toml")
    assert (ended.code, "is working in" in ended.err) == (2, True)
