"""The templates of pages: whatever is put into them is escaped, for names and values are other people's texts."""

import re
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

_MARKED = re.compile(r"[\\`*_\[\]<>|#&~$@]|:(?=//)|(?<=www)\.")


def render(template: str, words: dict[str, object]) -> str:
    """Return a template of this room filled with words."""
    return _environment().get_template(template).render(words)


def render_markdown(template: str, words: dict[str, object]) -> str:
    """Return a Markdown template filled with words: none of them can make a link, a tag, a heading or a list."""
    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=False,  # noqa: S701  # what Markdown would read is escaped by `finalize`
        finalize=_plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(words)


def _plain(value: object) -> object:
    """Return a text with a backslash before whatever Markdown reads as its own; what is marked safe stays as it is."""
    return value if hasattr(value, "__html__") else _MARKED.sub(r"\\\g<0>", str(value))


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_file(name: str) -> str:
    """Return the text of a file of this room."""
    return files("party.show.page").joinpath("files", name).read_text("utf-8")
