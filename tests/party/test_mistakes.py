"""Each mistake of `mistakes.md` ends as the page says, in one line with its next step, and changes no file."""

import codecs
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from party.models.any_file import model_json
from party.settings.collector_template import DraftQuestion, draft_design, draft_survey
from tests.party.association.conftest import DESIGN as BASKETS
from tests.party.association.conftest import lines as baskets
from tests.party.models.test_bayes_file import FOUND, small_bayes
from tests.party.survey.files import RELATED, UNRELATED, rows, write_rows
from tests.support.models import small_model
from tests.support.processes import cotally_here, make_pair

PAGE = Path(__file__).with_name("mistakes.md")
TABLE = [["xyz"[i % 3], str(20 + i % 40), "yn"[i % 3 % 2]] for i in range(150)]
DRAFT = [DraftQuestion("smokes", "Do you smoke?", ("yes", "no"))]
DIRECT = 'id = "id"\nplain = ["smoker"]\n[columns.smoker]\nvalues = ["yes", "no"]\n'
TEXTS = {
    "tree.json": model_json(small_model()), "bayes.json": model_json(small_bayes()), "sets.json": model_json(FOUND),
    "rows.csv": "alice.age,city,bob.age,outcome\n17,Oslo,no,good\n",
    "design.toml": RELATED, "unrelated.toml": UNRELATED, "direct.toml": DIRECT,
    "baskets.toml": BASKETS.replace('"3/5", "2/5", "1/5"', '"1", "1", "1"'), "baskets.csv": "\n".join([*baskets(), ""]),
    "study/survey.toml": draft_survey("Habits", DRAFT), "study/design.toml": draft_design(DRAFT, "unrelated", "1/2"),
}  # fmt: skip
MADE = [
    "disguise data.csv design.toml -o d.csv --secret coins", "mine tree d.csv design.toml -o m.json",
    "disguise baskets.csv baskets.toml -o sent.csv --secret shop-coins",
]  # fmt: skip


@pytest.fixture(scope="module")
def world(trusting: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The present folder, with all that the page says."""
    folder = tmp_path_factory.mktemp("world") / "here"
    pair = make_pair(trusting, folder, (["a", "age", "class"], TABLE), (["c"], [[row[0]] for row in TABLE]))
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:1"')
    pair.write_job().rename(folder / "job.toml")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    write_rows(folder, rows(300))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("party.keys.coin_secret.new_key", lambda: bytes(range(32)))  # no line depends on chance
        for words in MADE:
            made = cotally_here(*words.split())
            assert made.code == 0, made.err
        yield


@dataclass(frozen=True)
class Mistake:
    """A row of the page, with what its section says of all rows."""

    done: list[str]
    seen: str
    code: int
    file: str
    command: str

    def problem(self) -> str:
        """Do what the row says; return what is not as it says, if anything."""
        command = self.command
        for step in self.done:
            if step.startswith("cotally "):
                command = step
            elif " → " in step:
                name, old, new = re.fullmatch(r"(?:(\S+): )?(.*) → (.*)", step, re.DOTALL).groups()  # type: ignore[union-attr]
                path = Path(name or self.file)
                old, new = (b"" if text == "nothing" else codecs.escape_decode(text.encode())[0] for text in (old, new))
                content = path.read_bytes()
                if old not in content:
                    return f"{path} holds no {old!r}"
                path.write_bytes(content.replace(old, new, 1) if old else new)
            else:
                subprocess.run(step, shell=True, check=True)
        before = files()
        ended = cotally_here(*shlex.split(command)[1:])
        errors = [line for line in ended.err.splitlines() if re.match("cotally: (?!note: )", line)]
        said = errors[0] if errors else " ".join((ended.err + ended.out).split())
        wanted = ".*".join(map(re.escape, self.seen.replace("**", "").split("…")))
        right = re.fullmatch("cotally: " + wanted, said) if self.code else re.search(wanted, said)
        if not right or ended.code != self.code or len(errors) > 1 or "canary" in ended.err + ended.out:
            return f"{ended.code}: {said}"
        return "" if files() == before else f"changed {set(files()) ^ set(before)}"


def files() -> dict[Path, bytes | None]:
    """Return what is in the present folder."""
    found: dict[Path, bytes | None] = {}
    for folder, folders, names in os.walk("."):
        for path in (Path(folder, name) for name in (*folders, *names)):
            found[path] = path.read_bytes() if path.is_file() else None
    return found


def restore(original: dict[Path, bytes | None]) -> None:
    """Put the present folder back."""
    now = files()
    for path in sorted(now.keys() - original.keys(), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    for path, content in original.items():
        if content is not None and now.get(path) != content:
            path.write_bytes(content)
            path.chmod(0o600)


def mistakes() -> Iterator[Mistake]:
    """Yield the rows of the page."""
    file = command = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("By `"):
            command, *named = re.findall("`([^`]+)`", line)
            file = named[0] if named else ""
        if match := re.fullmatch(r"\| (.+) \| (.+) \| (\d+) \|", line):
            done, seen, code = (text.replace(r"\|", "|") for text in match.groups())
            yield Mistake(re.findall("`([^`]+)`", done), seen, int(code), file, command)


@pytest.mark.usefixtures("world")
def test_every_mistake_ends_in_the_line_that_names_its_cause_and_the_next_step() -> None:
    original, wrong = files(), []
    for mistake in mistakes():
        if problem := mistake.problem():
            wrong.append(f"{mistake.done}\n    {problem}\n    not {mistake.code}: {mistake.seen}")
        restore(original)
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("world")
def test_a_row_of_other_words_or_another_code_is_not_as_it_says() -> None:
    first = next(mistakes())
    assert not first.problem()
    assert replace(first, seen=first.seen + "!").problem()
    assert replace(first, code=3).problem()


def test_every_row_has_a_next_step() -> None:
    assert not [each.done for each in mistakes() if not re.search(r"\*\*.+\*\*", each.seen)]
