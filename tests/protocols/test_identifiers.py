"""Normal forms of ids: what is one person is one text, and nothing else is."""

import unicodedata
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.identifiers import MOST_ID_COLUMNS, USUAL_SPELLINGS, IdForm, Spelling, read_form, seen

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(" 0.AÅİßﬀé́"), max_size=12)
FORMS = st.builds(IdForm, st.just(1), st.frozensets(st.sampled_from(Spelling)))
ALL = frozenset(Spelling)


def normal(text: str, *alike: Spelling) -> str:
    return IdForm(1, frozenset(alike)).joined([text])


@pytest.mark.parametrize(
    ("spelling", "one", "other"),
    [
        (Spelling.BLANKS, " Ann \t Lee\u00a0", "Ann Lee"),
        (Spelling.CASE, "STRASSE", "straße"),
        (Spelling.ACCENTS, "é", "e\u0301"),
        (Spelling.NUMBERS, "42.00", "42"),
        (Spelling.NUMBERS, "42.", "42"),
        (Spelling.ZEROS, "0042", "42"),
        (Spelling.ZEROS, "000", "0"),
    ],
)
def test_what_a_spelling_may_differ_in_is_one_id_with_it_and_two_without(
    spelling: Spelling, one: str, other: str
) -> None:
    assert normal(one, spelling) == normal(other, spelling)
    without = ALL - {spelling} - ({Spelling.CASE} if spelling is Spelling.ACCENTS else set())
    assert normal(one, *without) != normal(other, *without)


@given(FORMS, TEXTS)
def test_a_normal_form_is_its_own(form: IdForm, text: str) -> None:
    once = form.joined([text])
    assert form.joined([once]) == once


@given(TEXTS)
def test_canonically_equal_texts_are_one_id_whatever_case_they_have(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]
    for alike in ({Spelling.ACCENTS}, {Spelling.ACCENTS, Spelling.CASE}, ALL):
        assert len({normal(each, *alike) for each in forms}) == 1


@given(st.lists(TEXTS, min_size=2, max_size=4), st.lists(TEXTS, min_size=2, max_size=4))
def test_ids_of_several_columns_are_equal_only_if_all_their_parts_are(one: list[str], other: list[str]) -> None:
    first, second = (IdForm(len(parts), frozenset()) for parts in (one, other))
    seen_one, seen_other = list(map(seen, one)), list(map(seen, other))
    assert (first.joined(one) == second.joined(other)) == (seen_one == seen_other)
    assert first.parts(first.joined(one)) == seen_one


def test_texts_that_look_alike_are_one_id() -> None:
    for text in ("p7\u200b", "\ufeffp7", "p\u00ad7", "p7\x00", "\u200ep7"):
        for form in (IdForm(), IdForm(1, frozenset())):
            assert form.joined([text]) == "p7"
            assert form.all_joined([["p1", text]]) == ["p1", "p7"]
        assert normal("a\u00a0b") == "a b"
    assert [IdForm().joined([text]) for text in (" 042.0 ", "Ann")] == ["042", "Ann"]
    for text in ("4.2", "1e3", "-42.0", "A042", "٤٢", "1.0.0", "0x10", ".0", ""):
        assert normal(text, Spelling.NUMBERS, Spelling.ZEROS) == text


def test_forms_are_declared_of_a_few_columns() -> None:
    form = IdForm(2, frozenset())
    parts = ["", ":", "1:", "1:a", "0:", "a", "0:0:"]
    joined = {form.joined([a, b]) for a in parts for b in parts}
    assert len(joined) == len(parts) ** 2
    for alike in chain.from_iterable(combinations(Spelling, size) for size in range(6)):
        form = IdForm(3, frozenset(alike))
        assert read_form(form.names, 3) == form
        assert list(form.names) == sorted(form.names)
    assert IdForm(2).with_more([Spelling.CASE]) == IdForm(2, USUAL_SPELLINGS | {Spelling.CASE})
    for columns in (0, -1, MOST_ID_COLUMNS + 1):
        with pytest.raises(InputError, match="ids must be of 1 to 16 columns"):
            IdForm(columns)
    for names in (["sound"], ["case", "case"], ["CASE"]):
        with pytest.raises(InputError, match="ids must be a list of some of accents, blanks, case, numbers, zeros"):
            read_form(names, 1)


@given(st.lists(TEXTS | st.text("a0A.\n", max_size=4), max_size=4), FORMS)
def test_many_ids_have_the_forms_that_each_of_them_has(texts: list[str], form: IdForm) -> None:
    assert form.all_joined([texts]) == [form.joined([text]) for text in texts]
