"""The templates of pages: whatever is put into them is escaped, for names and values are other people's texts."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined


def render(template: str, words: dict[str, object]) -> str:
    """Return a template of this room filled with words."""
    return _environment().get_template(template).render(words)


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
