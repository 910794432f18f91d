"""Expressions as people write them: `smoker = yes and age = "> 40"`.

Names and values that hold blanks, quotes or an equals sign stand in quotes, single or double; a quote within quotes of
its own kind is doubled, as CSV has it.
"""

import re

from party.names import suggestion
from party.settings.survey import Questionnaire
from protocols.errors import InputError
from protocols.tables.expression import Expression, Term

_WORD = r"""(?:("[^"]*(?:""[^"]*)*")|('[^']*(?:''[^']*)*')|([^\s"'=]+))"""
_TERM = re.compile(rf"\s*{_WORD}\s*=\s*{_WORD}(\s+and\s+|\s*\Z)")
_FORM = 'write it as in: smoker = yes and age = "> 40"; only "and" is known'
_PLAIN = re.compile(r"""[^\s"'=]+""")


def parse_expression(text: str, questionnaire: Questionnaire) -> Expression:
    """Return the expression that a text stands for, over the columns of the design.

    Raises:
        InputError: The text is not an expression, or names an unknown column or value, or a column twice.
    """
    terms: list[Term] = []
    position, goes_on = 0, True
    while goes_on:
        match = _TERM.match(text, position)
        if match is None:
            raise InputError(f"{text!r} is no expression: {_FORM}")
        name, value = (_unquoted(next(g for g in match.groups()[k : k + 3] if g is not None)) for k in (0, 3))
        terms.append(_term(name, value, questionnaire))
        position, goes_on = match.end(), bool(match[7].strip())
    if len({term.column for term in terms}) != len(terms):
        raise InputError(f"{text!r} names a column twice: no record has two values in one column")
    return Expression(tuple(terms))


def _term(name: str, value: str, questionnaire: Questionnaire) -> Term:
    if name not in questionnaire.names:
        raise InputError(f"the design has no column {name!r}" + suggestion(name, questionnaire.names))
    column = questionnaire.names.index(name)
    values = questionnaire.values[column]
    if value not in values:
        raise InputError(f"column {name!r} has no value {value!r}" + suggestion(value, values))
    return Term(column, values.index(value))


def expression_text(expression: Expression, questionnaire: Questionnaire) -> str:
    """Return an expression as people write it."""
    terms = (
        (questionnaire.names[term.column], questionnaire.values[term.column][term.value]) for term in expression.terms
    )
    return " and ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in terms)


def _unquoted(word: str) -> str:
    quote = word[0]
    return word[1:-1].replace(2 * quote, quote) if quote in "\"'" else word


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    quote = "'" if '"' in word and "'" not in word else '"'
    return f"{quote}{word.replace(quote, 2 * quote)}{quote}"
