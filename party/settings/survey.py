"""The file `design.toml`: what a survey asks, and how the answers are disguised.

Respondents (or who holds their answers) and the collector read the same file. It is the whole declaration: domains
of all columns, which columns share a coin, how each group is asked and with which chances (`questions.py`). Every key
is checked: the error names file, key and legal range.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from party.errors import ConfigError
from party.names import odds_words
from party.settings.domains import Domain, read_domains, unwritable
from party.settings.questions import check_known, read_groups, read_questions
from party.settings.toml import BLANKS, Section, read_toml
from protocols.kinds import Flag
from protocols.privacy.loss import shared_coins, too_strong
from protocols.randomized_response.design import Design
from protocols.survey.responses import survey_schema
from protocols.tables import Schema, Term

_KEYS = (
    "kind", "theta", "prevalence", "odds", "class", "id", "keep_id", "plain", "columns", "groups", "personal", "forced",
    "control",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Questionnaire:
    """A survey's columns and their disguise; the class, if one is declared, is the last column.

    `id_column` of the true table says which record is whose, and is in the disguised one too if `keep_id`. The design
    is over the columns by index. `controls` are disguised columns whose true answer is known of everyone, each with
    that answer.
    """

    path: Path
    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    class_name: str | None
    id_column: str | None
    keep_id: bool
    design: Design
    group_names: tuple[str, ...]
    controls: tuple[Term, ...]

    def __repr__(self) -> str:
        return f"<Questionnaire {self.path}: {len(self.names)} columns, {len(self.group_names)} groups>"

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The values of every column, in the order of their codes."""
        return tuple(domain.values for domain in self.domains)

    def schema(self, classes: tuple[str, ...] | None = None) -> Schema:
        """Return the columns and their values, the class last."""
        values = self.values if classes is None else (*self.values[:-1], classes)
        missing = [domain.missing for domain in self.domains[:-1]]
        return survey_schema(self.names, values, [*missing, None])

    @property
    def sent(self) -> tuple[str, ...]:
        """The columns of the disguised table: those that are asked, after the id where that is kept."""
        return self.names if self.id_column is None or not self.keep_id else (self.id_column, *self.names)

    @property
    def draws(self) -> int:
        """How many draws a disguise makes for every record: coins, and personal answers."""
        return self.design.draws


def read_design(path: Path | str) -> Questionnaire:
    """Read a `design.toml`."""
    top = read_toml(Path(path), _KEYS)
    domains = read_domains(top)
    class_name = top.text("class", None, controls=BLANKS)
    if class_name is not None:
        check_known(top, "class", class_name, tuple(domains))
        domains[class_name] = domains.pop(class_name)
    names = tuple(domains)
    groups = read_groups(top, names)
    design = read_questions(top, domains, groups)
    _check_odds(top, names, design)
    id_column = top.text("id", None, controls=BLANKS)
    if id_column in domains:
        raise top.error("id", "this column is asked and disguised: name one that is not under [columns]")
    flaw = None if id_column is None else unwritable(id_column)
    if flaw is not None:
        raise top.error("id", f"the name {flaw}")
    return Questionnaire(
        path=top.path,
        names=names,
        domains=tuple(domains.values()),
        class_name=class_name,
        id_column=id_column,
        keep_id=top.value("keep_id", Flag(), default=False),
        design=design,
        group_names=tuple(groups),
        controls=_controls(top, domains, design),
    )


def need_groups(questionnaire: Questionnaire) -> None:
    """Refuse a design by which all are asked directly where answers shall be disguised."""
    if not questionnaire.group_names:
        raise ConfigError(
            f"{questionnaire.path}: groups: is missing, so nothing would be disguised: add [groups], such as "
            f'one = ["{questionnaire.names[0]}"], and take the column out of plain'
        )


def _check_odds(top: Section, names: tuple[str, ...], design: Design) -> None:
    """Refuse, where the file bounds odds, a question that passes them, and shared coins, of which more can be read."""
    bound = top.raw("odds", None)
    if bound is None:
        return
    most = top.exact("odds", bound)
    if most <= 1:
        raise top.error("odds", 'must be a number above 1, as in 2 for "2 to 1"')
    if (found := too_strong(design, names, most)) is not None:
        name, odds = found
        told = odds_words(odds.truth, odds.other)
        raise top.error("odds", f"answers to {name!r} have odds of {told}, more than {most} to 1: change its chance")
    for group in shared_coins(design):
        shared = ", ".join(repr(names[column]) for column in design.groups[group])
        raise top.error("odds", f"{shared} share a coin and give each other away: give each a group, or leave odds out")


def _controls(top: Section, domains: Mapping[str, Domain], design: Design) -> tuple[Term, ...]:
    """Return the control items; each is disguised, since who answers at random is found by the disguise."""
    section, names, found = top.section("control", None), tuple(domains), []
    for name in section.names:
        check_known(section, name, name, names)
        column, values = names.index(name), domains[name].values
        if design.group_of(column) is None:
            raise section.error(
                name, "is sent as it is: put it into a group, since a control item is disguised like the others"
            )
        found.append(Term(column, values.index(section.choice(name, values))))
    return tuple(found)
