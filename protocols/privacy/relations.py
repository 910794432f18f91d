"""Relations that every response discloses with certainty, whatever the coins were (DESIGN 7.5 and 10).

Under the related question all attributes of a group move by one offset `s`, so `(x_a - x_b) mod gcd(d_a, d_b)` is the
same before and after; for binary ones, that is the XOR. Nothing else is disclosed, by two attributes or by more:
differences that agree modulo every pairwise gcd come from one offset (the Chinese remainder theorem), and any two
offsets are linked by a chain of responses that both can have given. Coprime domain sizes disclose nothing.

Under the unrelated question with theta below 1 any two truths can give the response of one personal record, so no
relation is disclosed by every response. In both, attributes whose every response has one possible truth are
disclosed in full: `theta = 1`, and the related question with two offsets and `theta = 0`.
"""

from dataclasses import dataclass
from itertools import combinations

from protocols.privacy.entry import column_transition
from protocols.randomized_response.design import Design


@dataclass(frozen=True)
class Relation:
    """The difference of columns `first` and `second` modulo `modulus` is disclosed; of two binary ones, the XOR.

    Anyone who knows one of them from elsewhere is left with `left_of_first` or `left_of_second` values of the other.
    """

    first: int
    second: int
    modulus: int
    left_of_first: int
    left_of_second: int

    def turned(self) -> "Relation":
        """The same with its columns exchanged."""
        return Relation(self.second, self.first, self.modulus, self.left_of_second, self.left_of_first)


def disclosed_columns(design: Design) -> tuple[int, ...]:
    """Return the columns of groups that every response gives away in full; those of one value hide nothing anyway."""
    grouped = sorted(column for group in design.groups for column in group)
    return tuple(column for column in grouped if design.sizes[column] > 1 and _given_away(design, column))


def _given_away(design: Design, column: int) -> bool:
    """Tell whether no response is possible under two truths."""
    return all(sum(chance > 0 for chance in row) <= 1 for row in column_transition(design, column))


def relations(design: Design) -> tuple[Relation, ...]:
    """Return every pair of columns of one group whose relation is disclosed, but not the columns themselves."""
    disclosed = disclosed_columns(design)
    found = []
    for group in design.groups:
        for first, second in combinations(sorted(set(group) - set(disclosed)), 2):
            modulus = design.disclosed_modulus(first, second)
            if modulus > 1:
                one, other = design.sizes[first], design.sizes[second]
                found.append(Relation(first, second, modulus, one // modulus, other // modulus))
    return tuple(found)
