"""A learned model as text and for Graphviz; nothing unprintable of names and values reaches a terminal."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from party.models.tree_file import number_of, references
from party.names import printable
from party.show.document import Grid, ReportPart, ScreenColumn, counted
from protocols.learning.model import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import TENTHS, Leaf, Node, Split, Tree
from protocols.tables import ROOT, Expression, Floats
from protocols.terms import Growth, Impurity, Leaves, Terms

MARK = "(?)"
_NOT_ADDED = "class counts of branches may not add up to their parent's."
_SHARES = "; in brackets the share of each class in a leaf, rounded to a tenth"
_SLACK = 0.1  # of counts of one decimal


def count_text(count: float) -> str:
    number = number_of(count)
    return str(number) if isinstance(number, int) else f"{number:.1f}"


def counts_text(node: Node) -> str:
    if isinstance(node, Leaf) and node.tenths:
        return f"[{' '.join(f'{tenth / TENTHS:.1f}' for tenth in node.tenths)}]"
    return f"[{' '.join(map(count_text, node.counts))}]" if node.counts else ""


def title(tree: Tree) -> str:
    """Return the line over a tree: the class, its values in the order of the counts, and the tree's size."""
    target = tree.schema.class_attribute
    values = ", ".join(printable(value) for value in target.values)
    limits = "".join(_limits(tree.growth))
    return f"{printable(target.name)} [{values}]: {counted(tree.size, 'node')}, depth {tree.depth}{limits}"


def _limits(growth: Growth) -> Iterator[str]:
    if growth.max_depth is not None:
        yield f" of at most {growth.max_depth}"
    if growth.min_leaf > 1:
        noise = "" if growth.noise is None else " as counted with noise"
        yield f", branches of fewer than {growth.min_leaf} records{noise} are leaves of their parent's class"
    if growth.impurity != Impurity.INFORMATION_GAIN:
        yield f", by {growth.impurity}"
    if growth.prune:
        yield f", pruned by {growth.prune} of the records"


def tree_lines(tree: Tree, levels: int | None = None, marked: Collection[Expression] = ()) -> Iterator[str]:
    names = [printable(name) for name in references(tree.schema.attributes)]
    yield title(tree) + (_SHARES if tree.growth.leaves == Leaves.TENTHS else "")
    pending: list[tuple[Node, str, str, Expression]] = [(tree.root, "", "", ROOT)]
    while pending:
        node, head, below, path = pending.pop()
        counts = "".join(f" {each}" for each in (counts_text(node), MARK if path in marked else "") if each)
        if isinstance(node, Leaf):
            yield f"{head}→ {printable(tree.schema.class_attribute.values[node.label])}{counts}"
            continue
        if len(path.terms) == levels:
            yield f"{head}{names[node.attribute]}{counts} …"
            continue
        yield f"{head}{names[node.attribute]}{counts}"
        values = [printable(value) for value in tree.schema.attributes[node.attribute].values]
        last = len(values) - 1
        pending += [
            (
                node.children[i],
                f"{below}{'└─' if i == last else '├─'} {values[i]}: ",
                f"{below}{'   ' if i == last else '│  '}",
                path.child(node.attribute, i),
            )
            for i in range(last, -1, -1)
        ]


def counts_line(tree: Tree) -> str:
    if tree.growth.leaves == Leaves.TENTHS:
        return "In brackets, and as a bar: the share of each class in a leaf, in this order, rounded to a tenth."
    if not tree.has_counts:
        return "The tree alone was revealed, and no count."
    said = "In brackets, and as a bar: the records of each class, in this order."
    if tree.growth.noise is not None:
        return f"{said} They have noise: the {_NOT_ADDED}"
    apart = (abs(_sum(node) - sum(map(_sum, node.children))) for _, node in tree.nodes() if isinstance(node, Split))
    return f"{said} They are estimates: the {_NOT_ADDED}" if any(gap > _SLACK for gap in apart) else said


def _sum(node: Node) -> float:
    return sum(node.counts)


@dataclass(frozen=True)
class PureLeaves:
    """Leaves whose training records are of one class: how many, of how many, of how many records, and the fewest."""

    leaves: int
    of: int
    records: int
    fewest: int | None


def pure_leaves(model: Model, terms: Terms) -> PureLeaves | None:
    """Find the pure leaves of a tree of exact counts; None of other models."""
    if not isinstance(model, Tree) or not model.has_counts or not terms.counts_exactly or terms.noise is not None:
        return None
    leaves = [node.counts for _, node in model.nodes() if isinstance(node, Leaf)]
    pure = [round(sum(counts)) for counts in leaves if sum(count > 0 for count in counts) == 1]
    return PureLeaves(len(pure), len(leaves), sum(pure), min(pure, default=None))


def pure_lines(found: PureLeaves | None) -> list[str]:
    """Say how many people's class a tree gives away.

    >>> pure_lines(PureLeaves(2, 9, 57, 19))[0][:84]
    '2 of 9 leaves hold training records of only one class, 57 in all, 19 in the smallest'
    """
    if found is None or not found.leaves:
        return []
    leaves = f"{found.leaves} of {found.of} leaves hold training records of only one class"
    people = f"{found.records:,} in all, {found.fewest:,} in the smallest"
    return [f"{leaves}, {people}: the columns that lead there give away the class of each of these people."]


def to_dot(tree: Tree, levels: int | None = None) -> str:
    names = references(tree.schema.attributes)
    lines = ["digraph model {", "  node [fontname=sans];", "  edge [fontname=sans];"]
    pending: list[tuple[Node, int, int]] = [(tree.root, 0, 0)]
    made = 1
    while pending:
        node, own, depth = pending.pop()
        counts = [counts_text(node)[1:-1]] if counts_text(node) else []
        if isinstance(node, Leaf):
            label = tree.schema.class_attribute.values[node.label]
            lines.append(f"  n{own} [shape=box, label={_quoted(label, *counts)}];")
            continue
        below = () if depth == levels else node.children
        label = _quoted(names[node.attribute], *counts, *[] if below else "…")
        lines.append(f"  n{own} [shape=ellipse, label={label}];")
        for value, child in zip(tree.schema.attributes[node.attribute].values, below, strict=False):
            lines.append(f"  n{own} -> n{made} [label={_quoted(value)}];")
            pending.append((child, made, depth + 1))
            made += 1
    return "\n".join([*lines, "}", ""])


def _quoted(*parts: str) -> str:
    escaped = (printable(part).replace("\\", "\\\\").replace('"', '\\"') for part in parts)
    return '"' + "\\n".join(escaped) + '"'


def bayes_parts(model: NaiveBayes) -> Iterator[ReportPart]:
    target = model.schema.class_attribute
    attributes = model.schema.attributes
    yield bayes_title(model)
    of_prior, *errors = model.errors or [None] * (1 + len(attributes))
    rows = [["P(class)", *_told(model.prior, of_prior)]]
    for name, attribute, table, own in zip(references(attributes), attributes, model.conditional, errors, strict=True):
        rows.append([printable(name), *[""] * target.size])
        values = map(printable, attribute.values)
        each = zip(values, table, [None] * attribute.size if own is None else own, strict=True)
        rows += [[f"  {value}", *_told(chances, error)] for value, chances, error in each]
    heads = [ScreenColumn("", is_text=True), *(ScreenColumn(printable(value)) for value in target.values)]
    yield Grid(heads, rows, folds=True)
    if model.errors:
        yield "In brackets: standard errors, of respondents drawn from a population."


def bayes_title(model: NaiveBayes) -> str:
    number = counted(len(model.schema.attributes), "attribute")
    return f"{printable(model.schema.class_attribute.name)}: naive Bayes over {number}"


def _told(logarithms: Floats, errors: Floats | None) -> list[str]:
    chances = np.exp(logarithms).tolist()
    if errors is None:
        return [f"{chance:.4f}" for chance in chances]
    each = (f"{error:.4f}" if np.isfinite(error) else "?" for error in errors.tolist())
    return [f"{chance:.4f} ({error})" for chance, error in zip(chances, each, strict=True)]
