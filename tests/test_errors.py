"""The drawings of the errors show every class, under the class that it stands under."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType

import party
import party.errors
import protocols
import protocols.errors
from protocols.errors import CotallyError

_BRANCH = re.compile(r"(?P<indent>(?:│   |    )*)(?:[├└]── )?(?P<name>\w+Error)\b(?:.*\(`(?P<module>[\w.]+)`\))?")
_STEP = 4  # columns of one generation


def drawn(module: ModuleType) -> dict[str, tuple[str, str]]:
    """Return of each class in a drawing the name of its parent ("" for the root) and where it is said to stand."""
    line_of_descent: list[str] = []
    found: dict[str, tuple[str, str]] = {}
    text = (module.__doc__ or "").partition("\nCotallyError")
    for line in (text[1].strip() + text[2]).split("\n\n")[0].splitlines():
        match = _BRANCH.match(line)
        assert match is not None, line
        generation = (len(match["indent"]) + _STEP * ("── " in line)) // _STEP
        line_of_descent = [*line_of_descent[:generation], match["name"]]
        parent = line_of_descent[-2] if generation else ""
        found[match["name"]] = (parent, match["module"] or module.__name__)
    return found


def classes(*packages: ModuleType) -> Iterator[type[CotallyError]]:
    for package in packages:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    waiting = [CotallyError]
    names = tuple(f"{package.__name__}." for package in packages)
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__.startswith(names):
            yield error


def parent_of(error: type[CotallyError]) -> str:
    return "" if error is CotallyError else error.__bases__[0].__name__


def test_every_error_of_the_core_stands_in_its_drawing() -> None:
    stands = {error.__name__: (parent_of(error), error.__module__) for error in classes(protocols)}
    assert drawn(protocols.errors) == stands


def test_every_error_stands_in_the_drawing_of_the_outer_half_with_the_module_of_each_of_its_own() -> None:
    errors, found = [*classes(party, protocols)], drawn(party.errors)
    assert {name: parent for name, (parent, _) in found.items()} == {each.__name__: parent_of(each) for each in errors}
    for each in errors:
        assert each.__module__.startswith("protocols.") or found[each.__name__][1] == each.__module__
