"""A model as one Python file that needs no package: the functions of `scored` and all that they call, as source."""

import ast
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from party.models.exports import scored
from party.models.exports.readings import Exported, RuleList, missing_marks
from party.models.tree_file import references
from protocols.learning.model import gives_shares
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Split, Tree, label_of_node, shares_of
from protocols.tables import Attribute


def python_of(model: Exported) -> str:
    """Return the file: a command that classifies the rows of a CSV file, and `classify` for programs."""
    content = json.dumps(_rules(model) if isinstance(model, RuleList) else _classes(model))
    source = _Gathered(scored.__name__, ("classify", "write_classes")).text
    head = '"""A model of cotally: python file.py rows.csv > classified.csv. Its code may be used under any terms."""'
    begin = 'if __name__ == "__main__":\n    write_classes(MODEL)\n'
    text = f"{head}\n\n{source}\n\nMODEL = json.loads({content!r})\n\n{begin}"
    return text.encode("ascii", "backslashreplace").decode()  # what nobody sees stands in texts alone


def _column(name: str, attribute: Attribute, **more: object) -> dict[str, object]:
    full = f"{attribute.party}.{attribute.name}"
    cells = {"values": attribute.values, "missing": attribute.missing.value, "marks": missing_marks(attribute)}
    return {"name": name, "full": full, **cells, **more}


def _rules(model: RuleList) -> dict[str, object]:
    attributes, used = model.found.attributes, list(model.readings)
    names = references(attributes)
    rules = [([(used.index(t.column), t.value) for t in first], content) for first, content in model.rules]
    columns = [_column(names[index], attributes[index]) for index in used]
    return {"columns": columns, "rules": rules, "classes": [], "shares": False}


def _classes(model: Tree | NaiveBayes) -> dict[str, object]:
    schema = model.schema
    base, used = schema.base.attributes, sorted(schema.base_columns(model.columns))
    names, more = references(base), [dict[str, object]() for _ in used]
    of_kind: dict[str, object]
    if isinstance(model, Tree):
        of_kind = {"nodes": _nodes(model, used)}
    else:
        of_kind = {"prior": _finite(model.prior.tolist())}
        more = [{"logs": [_finite(row) for row in table.tolist()]} for table in model.conditional]
    columns = [_column(names[index], base[index], **each) for index, each in zip(used, more, strict=True)]
    return {"columns": columns, "classes": schema.class_attribute.values, "shares": gives_shares(model), **of_kind}


def _finite(logs: list[float]) -> list[float | None]:
    return [each if each > float("-inf") else None for each in logs]


def _nodes(tree: Tree, used: list[int]) -> list[tuple[Any, ...]]:
    """Return each node as its class, its shares, the place of its column, and a node for each code."""
    order = [node for _, node in tree.nodes()]
    place = {id(node): position for position, node in enumerate(order)}
    schema, known, found = tree.schema, gives_shares(tree), []
    for node in order:
        shares = [*map(float, shares_of(node))] if known else None
        column, below = -1, list[int]()
        if isinstance(node, Split):
            column, below = node.attribute, [place[id(child)] for child in node.children]
            if schema.conditions:
                condition = schema.conditions[column]
                column, size = condition.column, schema.base.attributes[condition.column].size
                below = [below[value] for value in schema.values_by_code(condition)[:size].tolist()]
            column = used.index(column)
        found.append((label_of_node(node), shares, column, below))
    return found


class _Gathered:
    """The definitions that some names of a module need, wherever they stand in this package, in an order that runs."""

    def __init__(self, module: str, names: tuple[str, ...]) -> None:
        self._imports = {"import json"}
        self._parts: list[str] = []
        self._called: dict[tuple[str, str], str] = {}
        self._modules: dict[str, dict[str, ast.stmt]] = {}
        for name in names:
            self._take(module, name)

    @property
    def text(self) -> str:
        """All of it as source."""
        return "\n".join(sorted(self._imports)) + "\n\n\n" + "\n\n".join(self._parts)

    def _take(self, module: str, name: str) -> str | None:
        """Gather what a module's name stands for, if it is one, and return what it is called among all."""
        if (module, name) in self._called:
            return self._called[module, name]
        statement = self._definitions(module).get(name)
        if statement is None:
            return None
        if isinstance(statement, ast.Import | ast.ImportFrom):
            source = getattr(statement, "module", None)
            if source is not None and source.partition(".")[0] not in sys.stdlib_module_names:
                return self._take(source, name)
            self._imports.add(f"from {source} import {name}" if source else f"import {name}")
            return name
        called = name
        while called in self._called.values():
            called += "_"
        self._called[module, name] = called
        for bound in _bound(statement):
            self._called.setdefault((module, bound), bound)
        self._parts.append(ast.unparse(_Renamed(lambda inner: self._take(module, inner)).visit(_bare(statement))))
        return called

    def _definitions(self, module: str) -> dict[str, ast.stmt]:
        if module not in self._modules:
            spec = find_spec(module)
            tree = ast.parse(Path(str(spec and spec.origin)).read_text("utf-8"))
            self._modules[module] = {name: each for each in tree.body for name in _bound(each)}
        return self._modules[module]


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.name for alias in statement.names]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [
        node.id for target in targets if target is not None for node in ast.walk(target) if isinstance(node, ast.Name)
    ]


def _bare(statement: ast.stmt) -> ast.stmt:
    """Return a definition without what Python does not need to run it: docstrings, and the types of arguments."""
    for node in ast.walk(statement):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return statement


class _Renamed(ast.NodeTransformer):
    """Gathers what every name in a definition stands for, and writes it as it is called there."""

    def __init__(self, take: Any) -> None:
        self._take = take

    def visit_Name(self, node: ast.Name) -> ast.Name:  # as ast calls it
        node.id = self._take(node.id) or node.id
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self._take(node.name) or node.name
        self.generic_visit(node)
        return node
