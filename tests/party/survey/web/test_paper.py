"""The form on paper, read back from its PDF: its rules have the chances of the design, in the respondent's words."""

import re
from collections import Counter
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import pytest
from pypdf import PdfReader

from party.errors import ConfigError
from party.settings.collector import CollectorSettings, read_collector_settings
from party.survey.web.paper import paper_form
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from tests.support.collecting import BESIDE, PERSONAL, QUESTIONS, RELATED, STATEMENTS, UNRELATED, write_survey_files
from tests.support.processes import cotally_here

FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"
ALL_LETTERS, FEW_LETTERS = FONTS / "DejaVuSans.ttf", FONTS / "cmr10.ttf"

TWO_VALUES = """
kind = "related"
theta = "2/3"
[columns]
smokes = { values = ["yes", "no"], missing = "refuse" }
[groups]
habits = ["smokes"]
"""
SLIPS = """
kind = "related"
theta = "7/10"
[columns]
smokes = { values = ["yes", "no"], missing = "refuse" }
[groups]
habits = ["smokes"]
"""
FORCED = """
kind = "forced"
theta = "5/6"
[columns]
income = { values = ["low", "middle", "high"], missing = "refuse" }
[groups]
money = ["income"]
[forced]
income = { low = "1/2", middle = "1/6", high = "1/3" }
"""
DRAWN = UNRELATED.replace('theta = "1/2"', 'theta = "3/4"')


def printed(settings: CollectorSettings, font: Path | None = None) -> list[str]:
    """Return what the form says, in one text per block, without its breaks of lines."""
    pages = PdfReader(BytesIO(paper_form(settings, font))).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    return re.split(r" ?Block \d+ ", text)


DEVICES = {"Toss a coin.": ("Heads", "Tails"), "Roll a die.": tuple("123456")}
ACTIONS = {
    "tick your true answers": "truth",
    "answer the private questions": "truth",
    "in every question of this block tick the answer that is not true": "lie",
    "answer the personal questions": "personal",
    "for each question of this block do the same once more, as it says": "draw",
}


def outcomes(text: str) -> tuple[str, ...]:
    """Return the outcomes, each as likely as any, of the device that a rule begins with."""
    for device, faces in DEVICES.items():
        if text.startswith(device):
            return faces
    slips = re.match(r"Write the numbers 1 to (\d+) on slips of paper, mix them, and draw one\.", text)
    assert slips, text
    return tuple(str(number) for number in range(1, int(slips[1]) + 1))


def chances(text: str) -> dict[str, Fraction]:
    """Return with what chance a rule says what, by every outcome of its device."""
    faces, said = outcomes(text), Counter[str]()
    rules = re.findall(r"(\d+ to \d+|\d+|Heads|Tails): ([^.]*)\.", text)
    for face in faces:
        (what,) = {said for span, said in rules if _holds(span, face)}  # each outcome has one meaning
        said[what] += 1
    return {what: Fraction(number, len(faces)) for what, number in said.items()}


def _holds(span: str, face: str) -> bool:
    first, _, last = span.partition(" to ")
    return face == first if not last else int(first) <= int(face) <= int(last)


@pytest.mark.parametrize(
    ("design", "questions"),
    [(TWO_VALUES, QUESTIONS), (SLIPS, QUESTIONS), (FORCED, ""), (UNRELATED, QUESTIONS + PERSONAL), (DRAWN, "")],
    ids=["a die", "slips", "forced", "personal", "drawn"],
)
def test_the_printed_rules_have_exactly_the_chances_of_the_design(tmp_path: Path, design: str, questions: str) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, design, questions))
    asked = settings.questionnaire
    for k, (block, columns) in enumerate(zip(printed(settings)[1:], asked.design.groups, strict=False)):
        rule, *again = re.split(r"If drawn: ", block)
        tossed = {ACTIONS[what]: chance for what, chance in chances(rule).items()}
        assert [tossed["truth"], 1 - tossed["truth"]] == [
            asked.design.coin_chances(k)[0],
            sum(asked.design.coin_chances(k)[1:]),
        ]
        assert ("draw" in tossed) == bool(again)
        for column, drawn in zip(columns, again, strict=False):
            part = asked.design.part(k)
            assert isinstance(part, UnrelatedDesign)
            found = chances(drawn)
            wanted = dict(zip(settings.questions[column].answers, part.personal[column], strict=True))
            assert {what.removeprefix("tick "): chance for what, chance in found.items()} == wanted


def test_two_statements_need_no_device(tmp_path: Path) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, STATEMENTS, BESIDE))
    _, crosswise, triangular = printed(settings)
    assert "First statement: I smoke. Second statement: My mother was born in spring." in crosswise
    assert crosswise.endswith("One is true, and the other is not Both are true, or both are not")
    assert triangular.endswith("Neither is true At least one is true")
    assert not any(device in crosswise + triangular for device in (*DEVICES, "slips"))


RUSSIAN = """
[questions.smokes]
text = "Вы курите?"
answers = ["Да", "Нет"]
[texts]
die = "Бросьте кубик."
span = "от {first} до {last}"
hand_truth = "{faces}: отметьте правду."
"""


def test_it_is_in_the_respondents_language_with_a_font_that_has_its_letters(tmp_path: Path) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, TWO_VALUES, RUSSIAN))
    text = " ".join(printed(settings, ALL_LETTERS))
    for words in ("Вы курите? Да Нет", "Бросьте кубик. от 1 до 4: отметьте правду."):
        assert words in text


def lines_at(form: bytes) -> list[tuple[str, float]]:
    """Return each piece of text on a form and where it begins, in points from the left."""
    found: list[tuple[str, float]] = []
    for page in PdfReader(BytesIO(form)).pages:
        page.extract_text(visitor_text=lambda text, _, at, *__: found.append((text.strip(), at[4])))
    return [(text, left) for text, left in found if text]


def test_a_script_from_right_to_left_begins_at_the_right(tmp_path: Path) -> None:
    words = '[questions.smokes]\ntext = "מעשן?"\nanswers = ["כן", "לא"]'
    for direction in ("ltr", "rtl"):
        path = write_survey_files(tmp_path / direction, TWO_VALUES, words)
        path.write_text(f'direction = "{direction}"\n{path.read_text()}')
        settings = read_collector_settings(path)
        lines = lines_at(paper_form(settings, ALL_LETTERS))
        answers = [left for text, left in lines if set(text) in ({"כ", "ן"}, {"ל", "א"})]
        assert len(answers) == 2
        assert all((left > 500) == (direction == "rtl") for left in answers)  # of 595 points


@pytest.mark.parametrize("font", [None, FEW_LETTERS], ids=["none", "another"])
def test_letters_that_no_font_has_are_refused_by_name(tmp_path: Path, font: Path | None) -> None:
    settings = read_collector_settings(write_survey_files(tmp_path, TWO_VALUES, RUSSIAN))
    with pytest.raises(ConfigError, match=r"lacks letters such as .*[А-я].*font file"):
        paper_form(settings, font)


def test_western_letters_and_typographic_marks_need_no_font(tmp_path: Path) -> None:
    words = '[questions.smokes]\ntext = "Rauchen Sie täglich – „gern“? Ça coûte 5 €"\nanswers = ["Ja", "Nein"]'
    settings = read_collector_settings(write_survey_files(tmp_path, TWO_VALUES, words))
    assert "Rauchen Sie täglich – „gern“? Ça coûte 5 € Ja Nein" in " ".join(printed(settings))


def test_it_is_the_same_whenever_it_is_made_and_long_ones_have_pages(tmp_path: Path) -> None:
    names = [f"q{k}" for k in range(40)]
    columns = "\n".join(f'{name} = {{ values = ["yes", "no"], missing = "refuse" }}' for name in names)
    groups = "\n".join(f'g{name} = ["{name}"]' for name in names)
    design = f'kind = "related"\ntheta = "2/3"\n[columns]\n{columns}\n[groups]\n{groups}\n'
    settings = read_collector_settings(write_survey_files(tmp_path, design, ""))
    form = paper_form(settings, None)
    assert form == paper_form(settings, None)
    assert len(PdfReader(BytesIO(form)).pages) > 1
    assert [block.count("Roll a die.") for block in printed(settings)] == [0] + [1] * 40


def test_the_command_writes_it_and_refuses_what_it_cannot_write_in_one_line(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path, TWO_VALUES)
    form, no_font = tmp_path / "form.pdf", tmp_path / "none.ttf"
    done = cotally_here("survey", "paper", path, "-o", form)
    assert (done.code, done.err) == (0, "")
    assert "SHA-256" in done.out
    assert form.read_bytes().startswith(b"%PDF-")
    no_font.write_bytes(b"no font at all")
    other = write_survey_files(tmp_path / "other", RELATED)
    for words in (
        (path, "-o", path),
        (path, "-o", form, "--font", no_font),
        (path, "-o", form, "--font", tmp_path / "missing.ttf"),
        (other, "-o", form),
    ):
        refused = cotally_here("survey", "paper", *words)
        assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1), refused.err
