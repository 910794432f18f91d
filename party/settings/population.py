"""The section `[population]` of a `survey.toml`: what the records of a survey shall stand for."""

from dataclasses import dataclass
from fractions import Fraction

from party.settings.questions import check_known
from party.settings.survey import Questionnaire
from party.settings.toml import Section


@dataclass(frozen=True)
class Population:
    """A plain column, and the shares of its values in the population that records shall stand for."""

    column: int
    shares: tuple[Fraction, ...]


def read_population(section: Section, questionnaire: Questionnaire) -> Population | None:
    """Read `[population.COLUMN]`: the shares of a plain column's values.

    Raises:
        ConfigError: It names no plain column, more than one, or shares that do not add up to 1.
    """
    if not section.names:
        return None
    (name, *others) = section.names
    check_known(section, name, name, questionnaire.names)
    column = questionnaire.names.index(name)
    if others or questionnaire.design.group_of(column) is not None:
        raise section.error(name, "name one column, and one that is sent as it is")
    entry = section.section(name, questionnaire.values[column])
    shares = tuple(entry.fraction(value) for value in questionnaire.values[column])
    if min(shares) < 0 or sum(shares) != 1:
        raise section.error(name, f"the shares must be 0 or more and add up to 1, not to {sum(shares)}")
    return Population(column, shares)
