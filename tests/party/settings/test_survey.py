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


def test_the_unrelated_question_has_the_personal_chances_of_disguised_columns(tmp_path: Path) -> None:
    found = design(tmp_path, UNRELATED).design
    half, quarter, third = Fraction(1, 2), Fraction(1, 4), Fraction(1, 3)
    chances = ((), (half, quarter, quarter), (third,) * 3, (quarter, 3 * quarter))
    assert found == UnrelatedDesign((2, 3, 3, 2), ((3,), (1, 2)), half, chances)


def test_personal_answers_can_be_uniform(tmp_path: Path) -> None:
    text = swap(UNRELATED[: UNRELATED.index("[personal")], "plain =", 'personal = "uniform"\nplain =')
    found = design(tmp_path, text).design
    assert isinstance(found, UnrelatedDesign)
    assert found.personal == ((), (Fraction(1, 3),) * 3, (Fraction(1, 3),) * 3, (Fraction(1, 2),) * 2)


JOINT = swap(
    UNRELATED[: UNRELATED.index("[personal.age]")],
    'life = ["age", "drinks"]',
    'life = { columns = ["drinks", "age"], joint = ["1/3", 0.1, "0", "0", "1/3", "0", "0", "0", "7/30"] }',
)


def test_the_personal_answers_of_a_group_can_be_declared_jointly(tmp_path: Path) -> None:
    """The last column of the group changes fastest, and the chances of each column follow."""
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


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '0.1, "0", ',
            '0.1, "1/10", ',
            r"\[groups.life\] joint: the chances must be 0 or more and add up to 1, not to 11",
        ),
        ('0.1, "0", ', "0.1, ", r"\[groups.life\] joint: must be 9 chances, not 8: one for each combination"),
        ('"1/3", 0.1', '"x", 0.1', r"\[groups.life\] joint: must be an exact number"),
        ('joint = ["1/3", 0.1, "0", "0", "1/3", "0", "0", "0", "7/30"]', 'joint = "uniform"', "joint: must be a list"),
        ("joint", 'kind = "forced", joint', r'joint: only questions of the kind "unrelated" have personal answers'),
        ("[personal.smoker]", '[personal.age]\n"<= 40" = "1"\n[personal.smoker]', r"\[personal\] age: joint gives the"),
        (
            'habits = ["smoker"]',
            'habits = { columns = ["smoker"], joint = ["1/2", "1/2"] }',
            r'personal: only .* "unrelated" have personal answers, and joint gives the chances of all',
        ),
    ],
)
def test_joint_chances_that_cannot_be_are_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        design(tmp_path, swap(JOINT, old, new))


APART = swap(RELATED, 'life = ["age", "drinks"]', 'life = ["age"]\ntable = ["drinks"]')


@pytest.mark.parametrize("odds", ["8", '"17/2"'])
def test_odds_that_all_answers_keep_change_nothing(tmp_path: Path, odds: str) -> None:
    assert (
        design(tmp_path, swap(APART, 'id = "id"', f'id = "id"\nodds = {odds}')).design == design(tmp_path, APART).design
    )


@pytest.mark.parametrize(
    ("text", "odds", "problem"),
    [
        (APART, "4", "design.toml: odds: answers to 'age' have odds of 8 to 1, more than 4 to 1: change its chance"),
        (RELATED, "8", "odds: 'age', 'drinks' share a coin and give each other away: give each a group, or leave odds"),
        (APART, "1", 'odds: must be a number above 1, as in 2 for "2 to 1"'),
        (APART, "4.5", 'odds: write the number as text, "4.5" or as a fraction such as "9/20"'),
        (APART, '"any"', "odds: must be an exact number"),
    ],
)
def test_stronger_odds_and_questions_that_share_a_coin_are_refused_where_odds_are_set(
    tmp_path: Path, text: str, odds: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)):
        design(tmp_path, swap(text, 'id = "id"', f'id = "id"\nodds = {odds}'))


@pytest.mark.parametrize("theta", ['"4/5"', '"0.8"', "0.8", '"8/10"'])
def test_theta_is_exact_however_it_is_written(tmp_path: Path, theta: str) -> None:
    assert design(tmp_path, swap(RELATED, '"4/5"', theta)).design.truth(0) == Fraction(4, 5)


@pytest.mark.parametrize(
    ("declared", "domain"),
    [
        ('values = ["a", "b"]', Domain(("a", "b"))),
        ('values = ["a", "missing"]', Domain(("a", "missing"), (), "missing")),
        ('values = ["a", "missing"]\nmissing = "refuse"', Domain(("a", "missing"), complete=True)),
        ('values = ["a", "missing"]\nmissing = "left out"', Domain(("a", "missing"))),
        ('values = ["a", "b"]\nmissing = "value"', Domain(("a", "b", "missing"), (), "missing")),
        ('values = ["a", "b"]\nmissing = "b"', Domain(("a", "b"), (), "b")),
        ('bins = [1.5]\nmissing = "value"', Domain(("<= 1.5", "> 1.5", "missing"), (Decimal("1.5"),), "missing")),
        ('bins = [1]\nmissing = "> 1"', Domain(("<= 1", "> 1"), (Decimal(1),), "> 1")),
    ],
)
def test_a_domain_follows_from_its_declaration_alone(tmp_path: Path, declared: str, domain: Domain) -> None:
    text = swap(RELATED, 'values = ["f", "m"]', declared)
    assert design(tmp_path, text).domains[0] == domain


CLASS_OF_ONE = swap(RELATED, 'values = ["yes", "no"]', 'values = ["yes"]')
ONE_GROUP = swap(CLASS_OF_ONE, 'habits = ["smoker"]\nlife = ["age", "drinks"]', 'life = ["smoker", "age", "drinks"]')


def test_a_column_of_one_value_is_declared_like_any_other(tmp_path: Path) -> None:
    assert design(tmp_path, ONE_GROUP).design.sizes[-1] == 1


def test_a_group_whose_columns_have_one_value_each_hides_nothing_and_is_refused(tmp_path: Path) -> None:
    alone = swap(UNRELATED, 'values = ["yes", "no"]', 'values = ["yes"]')
    alone = swap(alone, 'yes = "1/4"\nno = "3/4"', 'yes = "1"')
    two = swap(swap(ONE_GROUP, '["f", "m"]', '["f"]'), 'plain = ["sex"]\n', "")
    two = swap(two, 'life = ["smoker", "age"', 'habits = ["smoker", "sex"]\nlife = ["age"')
    for text, group in ((CLASS_OF_ONE, "habits"), (alone, "habits"), (two, "habits")):
        with pytest.raises(ConfigError, match=rf"\[groups\] {group}: its columns have one value each.*in plain"):
            design(tmp_path, text)


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


def test_a_column_without_a_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="columns: the name of column 2 is empty"):
        design(tmp_path, swap(RELATED, "[columns.sex]", '[columns.""]'))


def test_a_survey_of_no_column_is_refused_by_the_name_of_its_section(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"design\.toml: columns: names no column$"):
        design(tmp_path, 'kind = "related"\ntheta = "4/5"\n[columns]\n')


@pytest.mark.parametrize("text", [1024 * "a", r"a\r\nb", r"a\uFEFF", r"a\nb", "é", r"\\\""])
def test_what_is_unusual_and_can_be_read_again_is_no_fault(tmp_path: Path, text: str) -> None:
    found = design(tmp_path, swap(swap(RELATED, '"f"', f'"{text}"'), 'id = "id"', f'id = "{text}"'))
    assert found.values[0][0] == found.id_column


def test_too_many_values_get_advice_that_a_survey_can_follow(tmp_path: Path) -> None:
    many = ", ".join(f'"{n}"' for n in range(257))
    with pytest.raises(ConfigError, match="sex: has 257 values; 1 to 255 are possible: give the edges of bins, or"):
        design(tmp_path, swap(RELATED, 'values = ["f", "m"]', f"values = [{many}]"))


def test_a_byte_order_mark_before_the_settings_is_allowed(tmp_path: Path) -> None:
    plain = design(tmp_path, RELATED)
    (tmp_path / "design.toml").write_bytes(b"\xef\xbb\xbf" + RELATED.replace("\n", "\r\n").encode())
    assert read_design(tmp_path / "design.toml") == plain


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            'kind = "related"',
            'kind = "relatd"',
            r'kind: must be one of "related", "unrelated", .*; did you mean .related.',
        ),
        ('theta = "4/5"\n', "", "theta: is missing"),
        ('"4/5"', '"1/2"', "theta = 1/2 makes a group of 2 offsets carry nothing"),
        ('"4/5"', '"1/3"', "theta = 1/3 makes a group of 3 offsets carry nothing"),
        ('"4/5"', '"1"', "a chance of 0 or 1 disguises nothing"),
        ('"4/5"', '"0"', "a chance of 0 or 1 disguises nothing"),
        ('"4/5"', '"-1/5"', "theta must be between 0 and 1"),
        ('"4/5"', '"7/5"', "theta must be between 0 and 1"),
        ('"4/5"', '"1/0"', "must be an exact number"),
        ('"4/5"', '"nan"', "must be an exact number"),
        ('"4/5"', '"1/3000000000"', "denominator"),
        ('"4/5"', "true", "must be an exact number"),
        ("theta =", "thata =", "unknown key; did you mean 'theta'"),
        ('class = "smoker"', 'class = "smokes"', "class: there is no column 'smokes'; did you mean 'smoker'"),
        ('id = "id"', 'id = "age"', "id: this column is asked and disguised"),
        ('id = "id"', 'keep_id = "no"', "keep_id: must be true or false"),
        ('plain = ["sex"]', "", r"column 'sex' is in no group: put it into one, or name it in plain"),
        ('plain = ["sex"]', 'plain = ["sex", "age"]', "plain: column 'age' stands in group 'life' too"),
        ('plain = ["sex"]', 'plain = ["sex", "aeg"]', "plain: there is no column 'aeg'; did you mean 'age'"),
        ('["smoker"]', '["smoker", "age"]', r"\[groups\] life: column 'age' stands in group 'habits' too"),
        ('["smoker"]', '["smoker", "smoker"]', "lists a text twice"),
        ('["smoker"]', '["smoker", "zodiac"]', r"\[groups\] habits: there is no column 'zodiac'"),
        ('["smoker"]', "[]", r"\[groups\] habits: names no column"),
        ('habits = ["smoker"]\nlife = ["age", "drinks"]\n', "", "groups: column 'age' is in no group"),
        ('values = ["f", "m"]', "", "give either its values or the edges of its bins"),
        ('values = ["f", "m"]', 'values = ["f", "m"]\nbins = [1]', "give either its values or the edges of its bins"),
        ('values = ["f", "m"]', 'bins = "median-of-range"', "depends on the data, which a collector does not have"),
        ('values = ["f", "m"]', 'bins = "quantiles:4"', "depends on the data, which a collector does not have"),
        ('values = ["f", "m"]', 'values = ["f", "m"]\nmax_values = 3', "depends on the data"),
        (
            'values = ["f", "m"]',
            'values = ["f", "m"]\nmissing = "majority"',
            "must be .left out., .refuse., .val",
        ),
        ('values = ["f", "m"]', 'values = ["f", ""]', "no value can be empty"),
        ('values = ["f", "m"]', "values = []", "has 0 values; 1 to 255 are possible: list the values$"),
        ('values = ["f", "m"]', "values = [1, 2]", "must be a list of texts"),
        ('values = ["f", "m"]', "bins = [2, 1]", "edges of bins must rise"),
        ('values = ["f", "m"]', "bins = []", "1 to 255 edges"),
        ('values = ["f", "m"]', 'bins = ["low"]', "the edges must be numbers"),
        ('values = ["f", "m"]', "bins = 4", "depends on the data"),
        ('values = ["f", "m"]', "bins = { a = 1 }", "must be a list of edges"),
        (
            "[groups]",
            '[personal]\nsmoker = "x"\n[groups]',
            'personal: only questions of the kind "unrelated" have personal answers',
        ),
        ("[groups]", '[control]\nsmokes = "no"\n[groups]', r"\[control\] smokes: there is no column 'smokes'; did you"),
        ("[groups]", '[control]\nsex = "m"\n[groups]', r"\[control\] sex: is sent as it is"),
    ],
)
def test_a_design_that_cannot_be_is_named_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=rf"design\.toml: .*{problem}"):
        design(tmp_path, swap(RELATED, old, new))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('theta = "1/2"', 'theta = "0"', "a chance of 0 or 1 disguises nothing"),
        ('theta = "1/2"', 'theta = "1"', "disguises nothing"),
        ('no = "3/4"', 'no = "2/4"', r"\[personal\] smoker: the chances must be 0 or more and add up to 1, not to 3/4"),
        ('yes = "1/4"\nno = "3/4"', 'yes = "-1/4"\nno = "5/4"', r"\[personal\] smoker: the chances must be 0"),
        ('no = "3/4"', "", r"\[personal.smoker\] no: is missing"),
        ('no = "3/4"', 'no = "3/4"\nnever = "0"', r"\[personal.smoker\] never: unknown key"),
        ('[personal.smoker]\nyes = "1/4"\nno = "3/4"\n', "", r"\[personal\] smoker: is missing"),
        ("[personal.smoker]", '[personal.sex]\nf = "1"\n[personal.smoker]', "no disguised column has this name"),
        ('yes = "1/4"\nno = "3/4"', 'yes = "1/3000000000"\nno = "2999999999/3000000000"', r"smoker: .* denominators"),
    ],
)
def test_personal_answers_that_cannot_be_are_named(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        design(tmp_path, swap(UNRELATED, old, new))


def test_an_unrelated_question_without_personal_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='personal: is missing: give the chances of each column, or personal = "unif'):
        design(tmp_path, UNRELATED[: UNRELATED.index("[personal")])
    with pytest.raises(ConfigError, match='personal: must be one of "uniform"'):
        design(tmp_path, swap(UNRELATED[: UNRELATED.index("[personal")], "plain =", 'personal = "x"\nplain ='))


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
    ("kind", "tables"),
    [
        (Kind.UNRELATED, ["personal.income"]),
        (Kind.FORCED, ["forced.income"]),
        (Kind.CROSSWISE, []),
    ],
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
