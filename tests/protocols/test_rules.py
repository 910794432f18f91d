"""Rules that the whole core keeps: roles say what they disclose, errors say whose fault it was."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import protocols
from protocols import errors, messages
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError
from protocols.role import Message

MODULES = sorted(module.name for module in pkgutil.walk_packages(protocols.__path__, "protocols."))


def load(name: str) -> ModuleType:
    return importlib.import_module(name)


def public_roles() -> Iterator[tuple[str, object]]:
    """Yield every public function that is a role, and every public class with a method that is one."""
    for name in MODULES:
        module = load(name)
        for key, value in vars(module).items():
            own = getattr(value, "__module__", None) == name and not key.startswith("_")
            if own and name != "protocols.role" and not getattr(value, "_is_protocol", False) and is_role(value):
                yield f"{name}.{key}", value


def is_role(value: object) -> bool:
    functions = [value] if inspect.isfunction(value) else []
    if inspect.isclass(value):
        every = [each for one in value.__mro__ for each in vars(one).items()]
        functions = [f for key, f in every if inspect.isfunction(f) and not key.startswith("_")]
    returns = (str(function.__annotations__.get("return", "")) for function in functions)
    return any("Generator[" in kind or kind.startswith("Role[") for kind in returns)


ROLES = dict(public_roles())


def test_every_role_is_known_and_says_what_it_discloses() -> None:
    assert len(ROLES) >= 70
    for case in ROLES.values():
        text = inspect.getdoc(case) or ""
        lines = [line for line in text.splitlines() if line.startswith("Discloses: ")]
        assert len(lines) == 1
        assert len(lines[0]) > len("Discloses: ") + 10
    for name in ("two_party.agreement", "randomized_response.related_question"):
        assert "\nDiscloses" in (load(f"protocols.{name}").__doc__ or "")


KINDS: list[type[Message]] = [
    kind
    for _, kind in inspect.getmembers(messages, inspect.isclass)
    if issubclass(kind, Message) and kind.__module__ == messages.__name__
]


def test_every_message_is_in_the_one_list_and_shows_its_kind() -> None:
    def below(kind: type[Message]) -> Iterator[type[Message]]:
        for child in kind.__subclasses__():
            yield from below(child) if child.__subclasses__() else (child,)

    ours = {kind for kind in below(Message) if kind.__module__.startswith("protocols")}
    assert ours == set(KINDS)
    for kind in KINDS:
        assert repr(kind(*("canary" for _ in fields(kind)))) == f"<{kind.__name__}>"
        assert kind.__doc__
        assert not kind.__doc__.startswith(f"{kind.__name__}(")


SENTENCE = re.compile(r"\S\s.*[.!?](\s|$)")


def prose(source: str) -> list[str]:
    """Return the texts that end a sentence, but for docstrings and what is raised."""
    tree = ast.parse(source)
    allowed = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for part in ast.walk(node)
    }
    texts = [(id(node), node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [text for own, text in texts if isinstance(text, str) and own not in allowed and SENTENCE.search(text)]


def written_in(kind: type) -> set[str]:
    """Return what a class has of its own; what an enumeration takes over from `str` is not."""
    return {key for key, value in vars(kind).items() if value is not vars(str).get(key)}


def test_the_core_writes_for_nobody() -> None:
    for name in MODULES:
        path = Path(load(name).__file__ or "")
        assert prose(path.read_text()) == []
        classes = [kind for _, kind in inspect.getmembers(load(name), inspect.isclass) if kind.__module__ == name]
        shown = {"lines", "to_json", "to_text", "__str__", "__format__"}
        assert not any(shown & written_in(kind) for kind in classes)
    assert prose('"""A module. So."""\nraise E("This is it.")\nA = "no end"\nB = "One."') == []
    assert prose('A = f"It is {n} of them."\ndef f():\n    print("Done so. Next")') == [" of them.", "Done so. Next"]


def test_errors_say_whose_fault_it_was() -> None:
    assert issubclass(DeviationError, PeerError)
    assert issubclass(DisagreementError, PeerError)
    assert not issubclass(PeerError, InputError)
    assert not issubclass(InputError, PeerError)
    defined = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    assert all(issubclass(kind, CotallyError) for kind in defined)
    assert (
        str(DeviationError())
        == "the peer's reply failed a check: the run is over; find the cause before starting another"
    )
    error = DisagreementError("theta", "we say 9/20")
    assert error.field == "theta"
    assert str(error) == "the parties differ on 'theta': we say 9/20"
