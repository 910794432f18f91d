from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.survey import Questionnaire, read_design
from party.survey.expressions import expression_text, parse_expression
from protocols.errors import InputError
from protocols.tables.expression import Expression, Term
from tests.party.survey.files import RELATED, swap, write_design


@pytest.fixture(scope="module")
def questionnaire(tmp_path_factory: pytest.TempPathFactory) -> Questionnaire:
    text = swap(RELATED, '["f", "m"]', r"""["f", "m", "and", "it's", 'a "b"', "it's \"b\"", "\"", "''"]""")
    return read_design(write_design(tmp_path_factory.mktemp("design"), text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("smoker = yes", [(3, 0)]),
        ("smoker=no", [(3, 1)]),
        ("  smoker =  'yes'  ", [(3, 0)]),
        ('smoker = yes and age = "> 60"', [(3, 0), (1, 2)]),
        ("drinks = 'now and then' and smoker = no and sex = f", [(2, 2), (3, 1), (0, 0)]),
        ('"smoker"="yes"', [(3, 0)]),
        ("sex = and and smoker = no", [(0, 2), (3, 1)]),
        ("sex = and", [(0, 2)]),
        ('sex = "it\'s"', [(0, 3)]),
        ("sex = 'a \"b\"'", [(0, 4)]),
        ('sex = "a ""b"""', [(0, 4)]),
        ("sex = 'it''s'", [(0, 3)]),
        ('sex = "it\'s ""b"""', [(0, 5)]),
        ("sex = 'it''s \"b\"' and smoker = yes", [(0, 5), (3, 0)]),
        ('sex = """"', [(0, 6)]),
        ("sex = \"''\"", [(0, 7)]),
        ("sex = ''''''", [(0, 7)]),
    ],
)
def test_a_text_stands_for_its_terms(questionnaire: Questionnaire, text: str, terms: list[tuple[int, int]]) -> None:
    found = parse_expression(text, questionnaire)
    assert found == Expression(tuple(Term(column, value) for column, value in terms))
    assert parse_expression(expression_text(found, questionnaire), questionnaire) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no expression: write it as in: smoker = yes"),
        ("smoker", "is no expression"),
        ("smoker = ", "is no expression"),
        ("smoker = yes or sex = f", r'age = "> 40"; only "and" is known$'),
        ("= yes", "is no expression"),
        ("smoker = yes and", "is no expression"),
        ("smoker = yes and ", "is no expression"),
        ("and smoker = yes", "is no expression"),
        ("smoker = yes age = x", "is no expression"),
        ("smoker == yes", "is no expression"),
        ('smoker = "yes', "is no expression"),
        ('smoker = "yes""', "is no expression"),
        ('smoker = "yes"" and sex = "f"', "is no expression"),
        ("age = > 60", "is no expression"),
        ('smoker = "yes"and sex = f', "is no expression"),
        ("smokes = yes", "the design has no column 'smokes'; did you mean 'smoker'"),
        ("height = tall", "the design has no column 'height'; known: sex, age, drinks, smoker"),
        ("drinks = ofen", "column 'drinks' has no value 'ofen'; did you mean 'often'"),
        ("smoker = maybe", "column 'smoker' has no value 'maybe'; known: yes, no"),
        ("smoker = yes and smoker = no", "names a column twice"),
    ],
)
def test_what_is_no_expression_is_told_with_a_way_out(questionnaire: Questionnaire, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_expression(text, questionnaire)


@given(st.text(alphabet="ab= '\"dnsmoker", max_size=30))
def test_any_text_is_an_expression_or_a_clear_error(questionnaire: Questionnaire, text: str) -> None:
    with suppress(InputError):
        assert parse_expression(text, questionnaire).terms
