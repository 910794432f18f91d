"""Many respondents at once: each answers a survey's page once over loopback, and every answer is found again.

With --tls each has a connection by TLS of its own, under a certificate of the moment, which it checks. `seconds` is how
long all took, `slowest` how long one waited. Exit code 1 if an answer was lost, doubled or refused.
"""

import http.client
import json
import re
import secrets
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from _lab import make_parser, publish

from party.keys.identity import make_identity
from party.settings.collector import CollectorSettings, read_collector_settings
from party.settings.collector_template import typed_question, write_survey
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import CODE_BYTES, code_digest, code_of

AT_ONCE = 64


def answered(address: str, body: bytes, trusting: ssl.SSLContext | None) -> tuple[int, float]:
    """Send one answer; return the status, and how long it took."""
    begun = time.perf_counter()
    if trusting is None:
        connection = http.client.HTTPConnection(address, timeout=60)
    else:
        connection = http.client.HTTPSConnection(address, timeout=60, context=trusting)
    connection.request("POST", "/answer", body, {"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status, time.perf_counter() - begun


def make_survey(folder: Path, respondents: int) -> tuple[CollectorSettings, list[bytes], list[bytes]]:
    """Write a survey of three questions; return its settings, what each respondent sends, and what must be kept."""
    path = folder / "survey.toml"
    questions = [typed_question(f"{k}? = a, b, c, d", k) for k in (1, 2, 3)]
    write_survey(folder, "Load", questions, "related", "4/5")
    text = path.read_text().replace("127.0.0.1:8080", "127.0.0.1:0", 1)
    path.write_text(re.sub(r"requests = \d+", "requests = 1000000", text))
    settings = read_collector_settings(path)
    digest = survey_digest(settings.questionnaire)
    codes = [code_of(secrets.token_bytes(CODE_BYTES)) for _ in range(respondents)]
    with open_store(settings.store, digest, make=True) as store:
        store.add_codes(map(code_digest, codes))
    answers = [bytes([k % 4, k // 4 % 4, k // 16 % 4]) for k in range(respondents)]
    fields = {"format": "cotally-answer/1", "survey": digest}
    sent = [
        json.dumps({**fields, "code": code, "answers": answer.hex()}).encode()
        for code, answer in zip(codes, answers, strict=True)
    ]
    return settings, sent, answers


def use_tls(path: Path) -> ssl.SSLContext:
    """Let a survey be served by TLS, with a new certificate; return what trusts it alone."""
    identity = make_identity("collector", ["127.0.0.1"])
    certificate, key = path.with_name("cert.pem"), path.with_name("key.pem")
    certificate.write_bytes(identity.pem)
    key.write_bytes(identity.key_pem)
    text = path.read_text().replace("[server]", '[server]\ncertificate = "cert.pem"\nkey = "key.pem"', 1)
    path.write_text(text.replace("http://", "https://"))
    return ssl.create_default_context(cafile=str(certificate))


@contextmanager
def serving(path: Path) -> Iterator[str]:
    """Run the server; yield where it listens."""
    words = [sys.executable, "-m", "party.cli.main", "survey", "serve", str(path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        told = "" if server.stderr is None else server.stderr.readline()
        try:
            yield re.findall(r"listens on (\S+);", told)[0]
        finally:
            server.kill()


def main() -> int:
    """Run it."""
    parser = make_parser(__doc__)
    parser.add_argument("--tls", action="store_true", help="a connection by TLS for each")
    arguments = parser.parse_args()
    respondents = 20 if arguments.quick else 1000
    with tempfile.TemporaryDirectory() as folder:
        settings, sent, answers = make_survey(Path(folder), respondents)
        trusting = use_tls(settings.path) if arguments.tls else None
        with serving(settings.path) as address, ThreadPoolExecutor(AT_ONCE) as pool:
            begun = time.perf_counter()
            replies = list(pool.map(lambda body: answered(address, body, trusting), sent))
            seconds = time.perf_counter() - begun
        with open_store(settings.store, survey_digest(settings.questionnaire)) as store:
            kept = store.responses()
    fits = kept == sorted(answers) and {status for status, _ in replies} == {200}
    slowest = max(each for _, each in replies)
    row = {"respondents": respondents, "tls": arguments.tls, "seconds": seconds, "slowest_seconds": slowest}
    publish([{**row, "none_lost_none_doubled": fits}], arguments.out)
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
