"""Where the validation layer refuses, and each module without one of these checks: for `scripts/mutate`.

A check is one clause of a condition: of an `if` that ends in a refusal, of what is called `fits` or `legal`, of what a
function gives that answers yes or no, or of what one gives that objects; besides, a call of a function that raises for
a condition, a row of a table of conditions, and what an entry of the codec says of its message. The mutant still
evaluates the clause, so that what it binds is bound, and goes on as if it had let pass. Of a yes or no that is one
clause both answers are tried: which of them lets pass is not written in the tree.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_RAISING_CALL: Final = re.compile(r"_?(require|check)(_\w+)?|refuse\w*|_refuse_\w+")
_OBJECTING: Final = re.compile(r"_?(refuse|object|judge)(_\w+)?|\w+_objection")
_OBJECTIONS: Final = ("Objection", "Unusable")
_VALID_AT: Final = {"_one_field": 3, "_flat": 3, "_Entry": 4}
_JUDGING: Final = ("_valid", "digest", "digests", "counts", "points")
_MOST_OF_A_KIND: Final = ("_FEW", "_SCHEMA", "_TREE", "_NUMBERS")
REDUNDANT: Final = {
    ("party/settings/collector.py", "group is None -> False"): "a column in plain has no question; it narrows the type",
    ("party/settings/collector.py", "design.part(group).kind is not Kind.UNRELATED -> False"): (
        "the only others with personal questions are statements, alone in their groups by another rule"
    ),
    ("party/wire/codec.py", "not isinstance(message, kind) -> False"): (
        "a frame that begins as one kind and ends as another is no shortest form; it narrows the type"
    ),
    ("protocols/association/own_sets.py", "self._smallest <= 1 -> False"): (
        "without a limit no sets differ in too few; they need not be compared record by record to see it"
    ),
}
"""Checks without which nothing can fail, and why they stand all the same."""


@dataclass(frozen=True)
class Check:
    """One check: a module, and which of its checks in order."""

    module: str
    number: int
    line: int
    text: str


@dataclass(frozen=True)
class _Site:
    """A check in a tree, and what takes it away there."""

    line: int
    text: str
    take_away: Callable[[], None]


def checks_of(module: str) -> list[Check]:
    """Return the checks of a module."""
    return [Check(module, number, site.line, site.text) for number, site in enumerate(_sites(_parsed(module)))]


def without(check: Check) -> str:
    """Return the module without this check."""
    tree = _parsed(check.module)
    list(_sites(tree))[check.number].take_away()
    return ast.unparse(ast.fix_missing_locations(tree))


def _parsed(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text("utf-8"))


def _sites(tree: ast.Module) -> Iterator[_Site]:
    yield from _inside(tree, None)


def _inside(parent: ast.AST, function: ast.FunctionDef | None) -> Iterator[_Site]:
    for field, value in ast.iter_fields(parent):
        for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST):
                yield from _at(_Slot(parent, field, place), node, function)
                yield from _inside(node, node if isinstance(node, ast.FunctionDef) else function)


@dataclass(frozen=True)
class _Slot:
    """Where a node stands in its parent."""

    parent: ast.AST
    field: str
    place: int | None = None

    def put(self, node: ast.AST) -> None:
        """Put another node there."""
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


def _at(slot: _Slot, node: ast.AST, function: ast.FunctionDef | None) -> Iterator[_Site]:
    match node:
        case ast.If():
            if _refuses(node.body[-1], function):
                yield from _clauses(_Slot(node, "test"), node.test, passes=False)
        case ast.Expr(value=ast.Call() as call):
            if _RAISING_CALL.fullmatch(_called(call)) and not _ends_a_branch(slot):
                yield _Site(node.lineno, ast.unparse(call), lambda: slot.put(ast.Pass()))
        case ast.Return(value=ast.expr() as value):
            yield from _given(_Slot(node, "value"), value, function, guarded=isinstance(slot.parent, ast.If))
        case ast.Call():
            yield from _of_a_call(node)
        case ast.Assign(targets=[ast.Name(id="fits")], value=ast.Tuple(elts=rows)):
            for row in rows:
                assert isinstance(row, ast.Tuple)
                yield _as_if(_Slot(row, "elts", len(row.elts) - 1), row.elts[-1], told=ast.unparse(row), passes=True)
        case ast.Assign(targets=[ast.Name(id="fits" | "legal" as name)], value=ast.BoolOp(op=ast.And()) as value):
            yield from _parts(value, but=name)
        case _:
            return


def _refuses(last: ast.stmt, function: ast.FunctionDef | None) -> bool:
    match last:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call() as call):
            return _called(call).startswith(("refuse", "_refuse"))
        case ast.Return(value=ast.Call() as call) if _called(call) in _OBJECTIONS:
            return True
        case ast.Return(value=value):
            return _answers(function) or (_objects(function) and not _is_nothing(value))
        case _:
            return False


def _given(slot: _Slot, value: ast.expr, function: ast.FunctionDef | None, *, guarded: bool) -> Iterator[_Site]:
    if _answers(function) and not isinstance(value, ast.Constant):
        yield from _answer(slot, value)
    elif _objects(function) or (isinstance(value, ast.Call) and _called(value) in _OBJECTIONS):
        match value:
            case ast.IfExp() if not _is_nothing(value.body):
                yield _as_if(_Slot(value, "body"), value.body, passes=None)
                if not _is_nothing(value.orelse):
                    yield _as_if(_Slot(value, "orelse"), value.orelse, passes=None)
            case _ if not guarded and not _is_nothing(value):
                yield from _clauses(slot, value, passes=None)
            case _:
                return


def _answer(slot: _Slot, value: ast.expr) -> Iterator[_Site]:
    if isinstance(value, ast.BoolOp):
        passes = isinstance(value.op, ast.And)
        for place, clause in enumerate(value.values):
            yield _as_if(_Slot(value, "values", place), clause, passes=passes)
    else:
        yield _as_if(slot, value, passes=True)
        yield _as_if(slot, value, passes=False)


def _clauses(slot: _Slot, test: ast.expr, *, passes: bool | None) -> Iterator[_Site]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for place, clause in enumerate(test.values):
            yield from _clauses(_Slot(test, "values", place), clause, passes=passes)
        return
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=ast.And()) as all_hold) if passes is False:
            yield from _parts(all_hold)
        case _:
            yield _as_if(slot, test, passes=passes)


def _parts(all_hold: ast.BoolOp, but: str = "") -> Iterator[_Site]:
    """Yield what must hold together, without what an earlier line has found under this name."""
    for place, clause in enumerate(all_hold.values):
        if not isinstance(clause, ast.Name) or clause.id != but:
            yield _as_if(_Slot(all_hold, "values", place), clause, passes=True)


def _as_if(slot: _Slot, clause: ast.expr, *, passes: bool | None, told: str | None = None) -> _Site:
    """Evaluate a clause, and go on as if it had given something else."""
    instead = ast.Subscript(ast.Tuple([clause, ast.Constant(passes)], ast.Load()), ast.Constant(1), ast.Load())
    text = f"{told or ast.unparse(clause)} -> {passes}"
    return _Site(clause.lineno, text, lambda: slot.put(instead))


def _of_a_call(call: ast.Call) -> Iterator[_Site]:
    match call:
        case ast.Call(func=ast.Name(id="settle"), args=[told]) if not _is_nothing(told):
            yield from _clauses(_Slot(call, "args", 0), told, passes=None)
        case _:
            yield from _of_an_entry(call)


def _of_an_entry(call: ast.Call) -> Iterator[_Site]:
    """Yield what an entry of the codec asks of its message, and how long it may be."""
    valid_at = _VALID_AT.get(_called(call))
    if valid_at is None or isinstance(call.func, ast.Attribute):
        return
    slots = [(_Slot(call, "args", place), each) for place, each in enumerate(call.args)]
    slots += [(_Slot(keyword, "value"), keyword.value) for keyword in call.keywords]
    for place, (slot, value) in enumerate(slots):
        name = value.id if isinstance(value, ast.Name) else ""
        if name in _MOST_OF_A_KIND:
            yield _in_entry(call, slot, value, "MAX_FRAME")
        elif place == valid_at and (
            name.endswith(_JUDGING) or (isinstance(value, ast.Lambda) and not _is_constant(value))
        ):
            yield _in_entry(call, slot, value, "lambda _: True")


def _is_constant(function: ast.Lambda) -> bool:
    return isinstance(function.body, ast.Constant)


def _in_entry(call: ast.Call, slot: _Slot, value: ast.expr, instead: str) -> _Site:
    node = ast.parse(instead, mode="eval").body
    return _Site(value.lineno, f"{ast.unparse(call.args[0])}: {ast.unparse(value)}", lambda: slot.put(node))


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _ends_a_branch(slot: _Slot) -> bool:
    """Tell whether what stands here is what its `if` refuses by, whose condition is the check."""
    return isinstance(slot.parent, ast.If) and slot.parent.body[-1] is getattr(slot.parent, slot.field)[slot.place]


def _answers(function: ast.FunctionDef | None) -> bool:
    return function is not None and isinstance(function.returns, ast.Name) and function.returns.id == "bool"


def _objects(function: ast.FunctionDef | None) -> bool:
    return function is not None and _OBJECTING.fullmatch(function.name) is not None and _may_be_none(function)


def _may_be_none(function: ast.FunctionDef) -> bool:
    return function.returns is not None and "None" in ast.unparse(function.returns)


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
