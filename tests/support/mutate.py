"""Takes each check of the validation layer away in turn: the nearest tests must fail every time (`scripts/mutate`).

A check is an `if` that ends in `raise` or returns an `Objection`, or a call of a function that raises for a condition.
The mutant of an `if` never takes that branch; that of a call is no call. Tests run in a copy of the tree.
"""

import ast
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NEAREST: Final = {
    "party/wire/codec.py": "test_codec",
    "party/wire/jobs.py": "test_codec",
    "party/transport/grpc/common.py": "../../../integration/test_rpc_limits ../../../integration/test_rpc_absence",
    "party/keys/pairing.py": "test_pairing",
    "party/keys/certificates.py": "test_identity",
    "party/node/policy.py": "test_policy test_agreed_odds",
    "party/records/ledger.py": "test_ledger",
    "party/records/journal.py": "test_journal ../node/test_going_on",
    "party/records/database.py": "test_ledger test_journal",
    "party/survey/web/submissions.py": "test_app",
    "protocols/terms.py": "test_terms ../party/wire/test_codec",
    "protocols/jobs.py": "test_terms ../party/wire/test_codec",
    "protocols/counting/checks.py": "test_checks test_chi_square",
    "protocols/counting/replies.py": "test_secure_engines ../two_party/test_hostile_peer",
    "protocols/two_party/agreement.py": "test_agreement test_objections",
    "protocols/two_party/copies.py": "test_hostile_peer",
    "protocols/two_party/mined.py": "test_mined_limits test_mined",
    "protocols/two_party/memory.py": "test_memory ../../party/node/test_what_is_remembered",
    "protocols/two_party/alignment.py": "test_alignment_hostile test_alignment_deviating",
    "protocols/ciphers/paillier/keys.py": "test_keys test_arithmetic",
    "protocols/ciphers/paillier/packing.py": "test_packing",
    "protocols/ciphers/paillier/cipher.py": "test_modulus_proof ../test_port",
    "protocols/ciphers/elgamal/keys.py": "test_keys",
}
"""Each module of the validation layer, and the tests nearest to it, as seen from the folder of its own tests."""
_RAISING_CALLS: Final = ("_require", "check")


@dataclass(frozen=True)
class Check:
    """One check: a module, and which of its checks in order."""

    module: str
    number: int
    line: int
    text: str


class _Remover(ast.NodeTransformer):
    """Counts the checks of a module, and takes one away."""

    def __init__(self, remove: int | None = None) -> None:
        self.found: list[tuple[int, str]] = []
        self._remove = remove

    def visit_If(self, node: ast.If) -> ast.AST:
        if _refuses(node.body[-1]) and self._is_the_one(node, node.test):
            node.test = ast.Constant(value=False)
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        is_check = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _RAISING_CALLS
        return ast.Pass() if is_check and self._is_the_one(node, call) else node

    def _is_the_one(self, node: ast.stmt, told: ast.AST) -> bool:
        self.found.append((node.lineno, ast.unparse(told)))
        return len(self.found) - 1 == self._remove


def _refuses(last: ast.stmt) -> bool:
    if isinstance(last, ast.Return) and isinstance(last.value, ast.Call):
        return isinstance(last.value.func, ast.Name) and last.value.func.id in ("Objection", "Unusable")
    return isinstance(last, ast.Raise)


def checks_of(module: str) -> list[Check]:
    """Return the checks of a module."""
    remover = _Remover()
    remover.visit(ast.parse((ROOT / module).read_text("utf-8")))
    return [Check(module, number, line, text) for number, (line, text) in enumerate(remover.found)]


def nearest_to(module: str) -> list[str]:
    """Return the paths of the nearest tests."""
    return [os.path.normpath(Path("tests", module).parent / f"{name}.py") for name in NEAREST[module].split()]


def without(check: Check) -> str:
    """Return the module without this check."""
    tree = _Remover(check.number).visit(ast.parse((ROOT / check.module).read_text("utf-8")))
    return ast.unparse(ast.fix_missing_locations(tree))


def survivors(checks: Sequence[Check]) -> Iterator[Check]:
    """Yield the checks without which the nearest tests pass."""
    with TemporaryDirectory(prefix="cotally-mutants-") as place:
        copy = Path(place)
        for name in ("party", "protocols", "tests", "proto", "scripts", "pyproject.toml", "README.md", ".github"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        for number, check in enumerate(checks):
            target = copy / check.module
            target.write_text(without(check))
            caught = not _pass(copy, nearest_to(check.module))
            shutil.copy(ROOT / check.module, target)
            sys.stdout.write(f"{number + 1}/{len(checks)} {'caught' if caught else 'SURVIVED'} ")
            sys.stdout.write(f"{check.module}:{check.line} {check.text[:100]}\n")
            sys.stdout.flush()
            if not caught:
                yield check


def _pass(folder: Path, tests: Sequence[str]) -> bool:
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    there = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=folder, env=there, capture_output=True, check=False).returncode == 0


def main(words: Sequence[str]) -> int:
    """Try all checks of the named modules, or of all; with a number first, so many of them drawn by chance."""
    most = int(words[0]) if words and words[0].isdigit() else None
    modules = [word for word in words if not word.isdigit()] or list(NEAREST)
    checks = [check for module in modules for check in checks_of(module)]
    if most is not None:
        checks = sorted(random.sample(checks, min(most, len(checks))), key=checks.index)
    left = list(survivors(checks))
    sys.stdout.write(f"{len(left)} of {len(checks)} checks can be taken away unseen\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
