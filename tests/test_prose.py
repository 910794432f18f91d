"""Prose for people stands in `party/show` and in the command line's help: elsewhere a sentence is an error's text.

A text of four words or more is an error's text where it stands in a `raise`, in a call that makes an error or hands its
argument to one, or in a name or a returned value that is used so and, if others use it, never otherwise.
"""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

_TOP = Path(__file__).parent.parent
_WORD = re.compile(r"(?<![\w/\\{.'\"])[A-Za-z]{2,}(?![\w}.('=/]| =)")
_MAKERS = re.compile(r"(Error|^error|^Objection|^Unusable|^complain|^warn|^exception|^abort|^__init__|^Exact)$")
_HELP = {"help", "description"}
_PROSE_OR_GENERATED = ("party/show/", "party/cli/arguments/", "party/wire/v1/")

EXCEPTIONS = {
    "party/demo/survey_example.py": "the comments of a design that people fill in, in a file",
    "party/settings/collector.py": "what is said of each key, in a file and on a page",
    "party/settings/collector_template.py": "the comments of settings that people fill in, in a file",
    "party/settings/job.py": "what is said of each key, in a file and on a page",
    "party/settings/page_texts.py": "what respondents read, which settings may replace",
    "party/settings/party.py": "what is said of each key, in a file and on a page",
    "party/settings/template.py": "the comments of settings that people fill in, in a file",
    "party/models/exports/python.py": "what a file that others run says of itself",
    "party/models/exports/scored.py": "what a file that others run says",
    "party/models/exports/sql.py": "expressions of SQL",
    "party/models/exports/sql_cells.py": "expressions of SQL",
    "party/records/database.py": "statements of SQL",
    "party/records/journal.py": "statements of SQL",
    "party/records/ledger.py": "statements of SQL",
    "party/survey/web/databases.py": "statements of SQL",
    "party/survey/web/store.py": "statements of SQL",
    "protocols/kinds.py": "the ranges that errors name",
    "protocols/terms.py": "the ranges that errors name, and what does not go together",
    "protocols/association/audit.py": "what is counted, in words that no screen shows yet: they are to be values",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def words(node: ast.AST) -> int:
    """Return how many words a text has; 0 for what is no text."""
    if isinstance(node, ast.JoinedStr):
        return len(_WORD.findall("".join(str(p.value) for p in node.values if isinstance(p, ast.Constant))))
    return len(_WORD.findall(node.value)) if isinstance(node, ast.Constant) and isinstance(node.value, str) else 0


def called(node: ast.AST) -> str:
    """Return the last name of what a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def targets(node: ast.AST) -> tuple[set[str], ast.AST | None]:
    """Return the names that a statement binds, and the value that they take."""
    bound: list[ast.AST] = []
    value: ast.AST | None = None
    if isinstance(node, ast.Assign):
        bound, value = [*node.targets], node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        bound, value = [node.target], node.value
    elif isinstance(node, ast.For | ast.comprehension):
        bound, value = [node.target], node.iter
    return {n.id for part in bound for n in ast.walk(part) if isinstance(n, ast.Name)}, value


class Sources:
    """The syntax of some modules, and who stands in what."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.parent: dict[ast.AST, ast.AST] = {}
        self.nodes = {path: self._walked(ast.parse(text)) for path, text in texts.items()}
        self.known: dict[tuple[str, ast.AST | None], bool] = {}
        self.handing: dict[str, set[int | str]] = {}
        self.uses: dict[str, list[ast.AST]] = {}
        for node in chain.from_iterable(self.nodes.values()):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            if name and isinstance(getattr(node, "ctx", None), ast.Load):
                self.uses.setdefault(name, []).append(node)
            if isinstance(node, ast.Raise) or _MAKERS.search(called(node)):
                self._hand_on(node)

    def _walked(self, tree: ast.AST) -> list[ast.AST]:
        """Return what stands in a tree, and note in what."""
        found = [tree]
        for node in found:  # which grows meanwhile
            for child in ast.iter_child_nodes(node):
                self.parent[child] = node
                found.append(child)
        return found

    def _hand_on(self, maker: ast.AST) -> None:
        """Note the arguments, by place and by name, of which functions make this error."""
        used = {node.id for node in ast.walk(maker) if isinstance(node, ast.Name)}
        for function in (node for node in self.above(maker) if isinstance(node, Function)):
            own = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]
            own = own[own[:1] in (["self"], ["cls"]) :]
            handed = {key for place, name in enumerate(own) if name in used for key in (place, name)}
            self.handing.setdefault(function.name, set()).update(handed)

    def _is_handed(self, part: ast.AST, call: ast.AST) -> bool:
        """Tell whether a part of a call is an argument of which an error is made."""
        handed = self.handing.get(called(call), set())
        if not isinstance(call, ast.Call) or not handed:
            return False
        return (part.arg if isinstance(part, ast.keyword) else [*call.args, part].index(part)) in handed

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parent:
            node = self.parent[node]
            yield node

    def is_error(self, node: ast.AST) -> bool:
        """Tell whether what stands here ends as an error's text."""
        names: set[str] = set()
        below = node
        for over in self.above(node):
            if isinstance(over, ast.Raise) or _MAKERS.search(called(over)) or self._is_handed(below, over):
                return True
            if isinstance(over, ast.arguments) and self.handing.get(getattr(self.parent[over], "name", "")):
                return True
            below = over
            names |= targets(over)[0]
            if isinstance(over, Function | ast.Module):
                break
            if isinstance(over, ast.Return | ast.Lambda):
                function = next((n for n in self.above(over) if isinstance(n, Function)), None)
                return function is not None and self._all_errors(function.name)
        return any(self._local(name, over) or self._all_errors(name) for name in names)

    def _local(self, name: str, scope: ast.AST) -> bool:
        """Tell whether some use of a name within a function is an error's; one that leads back to itself is none."""
        key = (name, scope)
        if key not in self.known:
            self.known[key] = False
            uses = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name]
            loads = [n for n in uses if isinstance(n.ctx, ast.Load)]
            self.known[key] = isinstance(scope, Function) and any(map(self.is_error, loads))
        return self.known[key]

    def _all_errors(self, name: str) -> bool:
        """Tell whether every use of a name anywhere is an error's, but for those that lead back to themselves."""
        key = (name, None)
        if key not in self.known:
            uses = self.uses.get(name, [])
            self.known[key] = bool(uses)
            self.known[key] = bool(uses) and all(map(self.is_error, uses))
        return self.known[key]

    def _is_help(self, node: ast.AST) -> bool:
        over = [node, *self.above(node)]
        return any(
            (isinstance(n, ast.keyword) and n.arg in _HELP)
            or (isinstance(n, ast.Assign) and targets(n)[0] == {"COMMANDS"})
            for n in over
        )

    def prose(self, path: str) -> list[str]:
        """Return the texts of a module that are no docstrings and no errors."""
        found = []
        for node in self.nodes[path]:
            over = self.parent.get(node)
            if words(node) < 4 or isinstance(over, ast.Expr | ast.JoinedStr) or self.is_error(node):
                continue
            if path.startswith("party/cli/") and self._is_help(node):
                continue
            found.append(f"{path}:{node.lineno}: {ast.unparse(node)}")  # type: ignore[attr-defined]
        return found


@pytest.fixture(scope="module")
def sources() -> Sources:
    every = [path for package in ("party", "protocols") for path in sorted((_TOP / package).rglob("*.py"))]
    found = {path.relative_to(_TOP).as_posix(): path.read_text(encoding="utf-8") for path in every}
    return Sources({path: text for path, text in found.items() if not path.startswith(_PROSE_OR_GENERATED)})


def test_prose_for_people_stands_in_one_place(sources: Sources) -> None:
    assert [text for path in sources.nodes if path not in EXCEPTIONS for text in sources.prose(path)] == []


def test_each_exception_is_still_one(sources: Sources) -> None:
    assert all(sources.prose(path) for path in EXCEPTIONS)


def test_prose_is_found_and_errors_are_not() -> None:
    module = """
def flaw(n):
    return f"the cell holds {n} bad things"
def told(n):
    return f"the cell holds {n} good things"
def check(n):
    way = "so bring it here again" if n else "as it was made before"
    if n:
        raise InputError(f"{flaw(n)}: {way}")
    print(told(n), "and here is some more")
"""
    assert {text.split(": ", 1)[1] for text in Sources({"m.py": module}).prose("m.py")} == {
        "'and here is some more'",
        "f'the cell holds {n} good things'",
    }


_SECOND = re.compile(
    r"new `?(\[data\] )?`?data ?set|(release|send) (it|them) (anyway|again)|under a new key|new secret.key"
)


def test_no_text_proposes_to_release_data_a_second_time() -> None:
    """Under another name the same records get new coins: two copies together show more than either."""
    pages = [_TOP / "README.md", *(_TOP / "party").glob("[RS]*.md"), *(_TOP / ".github" / "docs").glob("*.md")]
    sources = [path for package in ("party", "protocols") for path in (_TOP / package).rglob("*.py")]
    for path in (*pages, *sources):
        text = re.sub(r'" f?"', "", " ".join(path.read_text(encoding="utf-8").split()))
        assert not _SECOND.search(text), path
