import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from party.demo.survey_example import write_example
from party.errors import ConfigError
from party.settings.domains import Domain
from party.survey import Questionnaire, read_design
from protocols.randomized_response.design import Kind
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from tests.party.survey.files import RELATED, UNRELATED, swap, write_design


def design(folder: Path, text: str) -> Questionnaire:
    return read_design(write_design(folder, text))


def test_every_setting_is_read_and_the_class_goes_last(tmp_path: Path) -> None:
    found = design(tmp_path, RELATED)
    assert found.names == ("sex", "age", "drinks", "smoker")
    assert found.values[1] == ("<= 40", "(40, 60]", "> 60")
    assert found.domains[1].edges == (Decimal(40), Decimal(60))
    assert (found.class_name, found.id_column, found.keep_id) == ("smoker", "id", False)
    assert found.design == RelatedDesign((2, 3, 3, 2), ((3,), (1, 2)), Fraction(4, 5))
    assert found.group_names == ("habits", "life")
    assert found.design.kind is Kind.RELATED


JOINT = swap(
    UNRELATED[: UNRELATED.index("[personal.age]")],
    'life = ["age", "drinks"]',
    'life = { columns = ["drinks", "age"], joint = ["1/3", 0.1, "0", "0", "1/3", "0", "0", "0", "7/30"] }',
)


APART = swap(RELATED, 'life = ["age", "drinks"]', 'life = ["age"]\ntable = ["drinks"]')


def test_personal_answers_follow_their_declaration(tmp_path: Path) -> None:
    found = design(tmp_path, UNRELATED).design
    half, quarter, third = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)
    chances = ((), (half, quarter, quarter), (third,) * 3, (quarter, 3 * quarter))
    assert found == UnrelatedDesign((2, 3, 3, 2), ((3,), (1, 2)), half, chances)
    text = swap(UNRELATED[: UNRELATED.index("[personal")], "plain =", 'personal = "uniform"\nplain =')
    found = design(tmp_path, text).design
    assert isinstance(found, UnrelatedDesign)
    assert found.personal == ((), (Fraction(1, 3),) * 3, (Fraction(1, 3),) * 3, (Fraction(1, 2),) * 2)
    # The last column of the group changes fastest, and the chances of each column follow.
    found = design(tmp_path, JOINT).design
    assert isinstance(found, UnrelatedDesign)
    assert found.groups == ((3,), (2, 1))
    joint = tuple(map(Fraction, ("1/3", "1/10", "0", "0", "1/3", "0", "0", "0", "7/30")))
    assert found.joint == ((), joint)
    assert found.personal[1] == (Fraction(1, 3), Fraction(13, 30), Fraction(7, 30))
    assert found.personal[2] == (Fraction(13, 30), Fraction(1, 3), Fraction(7, 30))
    one = swap(JOINT, 'habits = ["smoker"]', 'habits = { columns = ["smoker"], theta = "2/3" }')
    mixed = design(tmp_path, one).design
    assert mixed.transition(1, (2, 1)) == found.transition(1, (2, 1))
    assert str(list(map(str, joint))) in str(mixed.declaration()["personal"])
    for odds in ("8", '"17/2"'):
        assert (
            design(tmp_path, swap(APART, 'id = "id"', f'id = "id"\nodds = {odds}')).design
            == design(tmp_path, APART).design
        )
    for theta in ('"4/5"', '"0.8"', "0.8", '"8/10"'):
        assert design(tmp_path, swap(RELATED, '"4/5"', theta)).design.truth(0) == Fraction(4, 5)


def test_a_domain_follows_from_its_declaration_alone(tmp_path: Path) -> None:
    for declared, domain in [
        ('values = ["a", "b"]', Domain(("a", "b"))),
        ('values = ["a", "missing"]', Domain(("a", "missing"), (), "missing")),
        ('values = ["a", "missing"]\nmissing = "refuse"', Domain(("a", "missing"), complete=True)),
        ('values = ["a", "missing"]\nmissing = "left out"', Domain(("a", "missing"))),
        ('values = ["a", "b"]\nmissing = "value"', Domain(("a", "b", "missing"), (), "missing")),
        ('values = ["a", "b"]\nmissing = "b"', Domain(("a", "b"), (), "b")),
        ('bins = [1.5]\nmissing = "value"', Domain(("<= 1.5", "> 1.5", "missing"), (Decimal("1.5"),), "missing")),
        ('bins = [1]\nmissing = "> 1"', Domain(("<= 1", "> 1"), (Decimal(1),), "> 1")),
    ]:
        text = swap(RELATED, 'values = ["f", "m"]', declared)
        assert design(tmp_path, text).domains[0] == domain


CLASS_OF_ONE = swap(RELATED, 'values = ["yes", "no"]', 'values = ["yes"]')
ONE_GROUP = swap(CLASS_OF_ONE, 'habits = ["smoker"]\nlife = ["age", "drinks"]', 'life = ["smoker", "age", "drinks"]')


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (1025 * "a", "has more than 1024 characters"),
        (r"a\rb", "holds a carriage return that stands alone"),
        (r"a\r", "holds a carriage return that stands alone"),
        (r"\uFEFFa", "begins with a byte order mark"),
    ],
)
def test_what_could_not_be_read_again_once_it_is_disguised_is_refused(tmp_path: Path, text: str, flaw: str) -> None:
    for old, place in (
        ("[columns.sex]", r"columns: the name of column 2"),
        ('"f"', r"\[columns\] sex: value 1"),
        ('id = "id"', r"id: the name"),
    ):
        new = {"[columns.sex]": f'[columns."{text}"]', '"f"': f'"{text}"', 'id = "id"': f'id = "{text}"'}[old]
        with pytest.raises(ConfigError, match=rf"design\.toml: {place} {flaw}"):
            design(tmp_path, swap(RELATED, old, new))


def test_a_column_of_one_value_and_unusual_texts_are_read_and_too_many_values_refused(tmp_path: Path) -> None:
    assert design(tmp_path, ONE_GROUP).design.sizes[-1] == 1
    for text in (1024 * "a", r"a\r\nb", r"a\uFEFF", r"a\nb", "é", r"\\\""):
        found = design(tmp_path, swap(swap(RELATED, '"f"', f'"{text}"'), 'id = "id"', f'id = "{text}"'))
        assert found.values[0][0] == found.id_column
    many = ", ".join(f'"{n}"' for n in range(257))
    with pytest.raises(ConfigError, match="sex: has 257 values; 1 to 255 are possible: give the edges of bins, or"):
        design(tmp_path, swap(RELATED, 'values = ["f", "m"]', f"values = [{many}]"))


def test_a_group_that_needs_too_many_offsets_is_refused_with_advice(tmp_path: Path) -> None:
    many = ", ".join(f'"{n}"' for n in range(67))
    with pytest.raises(ConfigError, match="put columns of equal domain sizes"):
        design(tmp_path, swap(RELATED, 'values = ["never", "often", "now and then"]', f"values = [{many}]"))


def test_the_example_is_legal_as_it_stands_and_with_its_comments_made_settings(tmp_path: Path) -> None:
    _, path = write_example(tmp_path)
    as_it_stands = read_design(path)
    assert (as_it_stands.class_name, as_it_stands.design.part(0).kind) == ("income", Kind.RELATED)
    lines = []
    for line in path.read_text().splitlines():
        bare = line.removeprefix("# ")
        is_setting = line.startswith("# ") and (" = " in bare.split("#")[0] or bare.startswith("[")) and ";" not in bare
        of_kinds = bare.startswith(("money", "[forced", "[control", "moon"))
        if line == "# [forced.income]":
            break
        lines.append(bare if is_setting and not bare.startswith("personal") and not of_kinds else line)
    for column, values in (("schooling", as_it_stands.values[2]), ("hours", as_it_stands.values[3])):
        lines += [f"[personal.{column}]", *(f'"{value}" = "1/{len(values)}"' for value in values)]
    lines += ["[personal.married]", 'yes = "1/2"', 'no = "1/2"']
    path.write_text("\n".join(lines).replace('kind = "related"', 'kind = "unrelated"'))
    assert read_design(path).design.part(0).kind is Kind.UNRELATED


@pytest.mark.parametrize(
    ("kind", "tables"), [(Kind.UNRELATED, ["personal.income"]), (Kind.FORCED, ["forced.income"]), (Kind.CROSSWISE, [])]
)
def test_every_kind_that_the_example_offers_can_be_taken_as_it_stands(
    tmp_path: Path, kind: Kind, tables: list[str]
) -> None:
    text = write_example(tmp_path)[1].read_text().replace('money = ["income"]\n', "")
    text = re.sub(rf'^# (money = .*"{kind.value}".*)$', r"\1", text, flags=re.MULTILINE)
    for table in tables:
        text = re.sub(rf"^# (\[{table}\])\n# (.*)\n# (.*)$", r"\1\n\2\n\3", text, flags=re.MULTILINE)
    found = design(tmp_path, text)
    assert found.design.part(found.group_names.index("money")).kind is kind
