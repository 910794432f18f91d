"""This release and the one before it run a job together, in the version of the messages that both speak."""

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.processes import QUIET, Pair, cotally_here, make_pair

BUILD = Path(__file__).parents[1] / "vectors" / "cotally-0.3.0-py3-none-any.whl"
NOW = tuple(map(int, version("cotally").split(".")[:2]))
ALICE = (["job", "sex"], [[["clerk", "nurse"][n % 2], "fm"[n // 2 % 2]] for n in range(120)])
BOB = (["owns", "class"], [[["yes", "no"][n // 3 % 2], ["good", "bad"][n % 5 // 3]] for n in range(120)])


@pytest.mark.skipif(
    NOW < (0, 4) or not BUILD.exists(), reason="no release follows 0.3.0 yet, or no build of it is kept"
)
def test_a_node_of_0_3_0_and_one_of_now_grow_a_tree_together(trusting: Path, tmp_path: Path) -> None:
    pair: Pair = make_pair(trusting, tmp_path / "pair", ALICE, BOB)
    with zipfile.ZipFile(BUILD) as build:
        build.extractall(tmp_path / "0.3.0")
    command = [sys.executable, "-c", "import sys; from party.cli.main import main; sys.exit(main())"]
    older = {**os.environ, "PYTHONPATH": str(tmp_path / "0.3.0")}
    with subprocess.Popen(
        [*command, *pair.serve_arguments("--once")], env=older, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as serving:
        try:
            assert serving.stderr is not None
            (address,) = re.findall(r"127\.0\.0\.1:\d+", serving.stderr.readline())
            settings = pair.bob / "party.toml"
            settings.write_text(re.sub(r"(?m)^# address = .*$", f'address = "{address}"', settings.read_text()))
            ended = cotally_here(*pair.train_arguments(pair.write_job(max_depth=1, test="0"), *QUIET))
            assert ended.code == 0, ended.err
            assert serving.wait(30) == 0
        finally:
            serving.kill()
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
