"""What names show: which values of a column are named shows how many hold them, before any count and any noise.

A value is named to the peer where `smallest_value` people or more hold it (DESIGN 3). One who knows all of its other
holders learns from the name alone whether one more person is among them. Noise does not cover names, and a
peer that chooses the list of people needs to know no more than `smallest_value - 1` holders.
An edge of bins is a name as well: where nobody but one person lies in a gap, it must not follow that person.

A reader of a party's ledger or of a run's report, who knows all that can be known but the owner's secret, guesses.

Of an entry about an alignment, what follows the ids has to follow the owner's secret too, or a guess could be tried at
home. A report holds figures and no digest of what they are of: that would confirm a guess of the whole table.

Attacks on noise: ask for the same number until its noise averages out (DESIGN 14, "Noise").

Bob varies every term and the order of his columns. What of this makes no other question is answered with the same
number; the rest spends epsilon, and more than is allowed is refused before anything leaves.

A collector that publishes a model of its choice for respondents to test (Surveys 3.4): what the bit tells it.

It serves the page, so it may publish whatever it likes; respondents follow the page. Everything is enumerated: no run
of the attack can come out otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations, permutations, product
from math import exp
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pytest

from party.data import ColumnTreatment, read_share
from party.data.bins import SMALLEST_VALUE
from party.files import locked_folder
from party.node.aligning import ListRules
from party.records.ledger import PeerEntries, PeerName, open_ledger
from party.settings.party import AlignmentBounds
from party.show.training import train_report
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import Share
from protocols.noise.accounting import Spending
from protocols.noise.both import OwnNoise
from protocols.randomness import keyed_digest
from protocols.survey.mining import BitDesign
from protocols.survey.responses import survey_schema
from protocols.tables import ROOT, Table
from protocols.terms import Impurity, Method, Terms
from protocols.two_party import alignment
from protocols.two_party.alignment import align
from protocols.two_party.inputs import USUAL_LIMITS, PartyInputs, split_records
from tests.support.curious import Guarded, assert_built, assert_refused, listening
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, listing, noting, numbered
from tests.support.parties import Case, make_local, make_terms, plain_id3
from tests.support.sessions import ANY_ODDS, CASE, Sessions, trained, with_terms

RECORDS = 200
TERMS = make_terms(method="smc", noise=Fraction(1), max_depth=1, min_leaf=5, test=Fraction(0))
CODES = np.random.default_rng(3).integers(0, [2, 2, 2], (RECORDS, 3)).astype(np.uint8)
NAME_CASE = Case({"alice": (2,), "bob": (2,)}, ("bob",), 2, CODES, {"alice": 1, "bob": 1}, TERMS)
ANN = 17


@dataclass
class Reading(Guarded):
    """Alice's node with a column of her file, in which the value "rare" has these holders."""

    holders: frozenset[int] = frozenset()

    @property
    def alice(self) -> PartyInputs:
        path = self.folder / "data.csv"
        cells = ["rare" if row in self.holders else "xy"[row % 2] for row in range(RECORDS)]
        path.write_text("id,illness\n" + "".join(f"{row:04},{cell}\n" for row, cell in enumerate(cells)))
        table = read_share(path, "alice", "id", None, {"*": ColumnTreatment()}).table
        return replace(make_local(self.case, "alice"), table=table, groups=((0,),), limits=USUAL_LIMITS)


def names_tell(folder: Path, known: int, *, ann: bool) -> bool:
    """Let Bob, who knows this many holders besides Ann, run a job with noise; return whether the value is named."""
    folder.mkdir()
    others = [row for row in range(100, 100 + known) if row != ANN]
    node = Reading(folder, NAME_CASE, holders=frozenset([*others, ANN] if ann else others))
    ends = node.meet(TERMS)
    assert_built(ends)
    (share,) = (message for message in ends[0].sent if isinstance(message, Share))
    (values,) = (column.values for column in share.attributes)
    return "rare" in values


def test_the_name_of_a_value_shows_one_person_to_who_knows_the_nine_others_whatever_the_noise(tmp_path: Path) -> None:
    """Both are certain; counts with this noise move the odds between the two tables by a factor of e at most."""
    assert names_tell(tmp_path / "ill", SMALLEST_VALUE - 1, ann=True)
    assert not names_tell(tmp_path / "well", SMALLEST_VALUE - 1, ann=False)


@pytest.mark.parametrize("known", [SMALLEST_VALUE - 2, SMALLEST_VALUE])
def test_to_who_knows_one_holder_less_or_more_the_names_are_the_same(tmp_path: Path, known: int) -> None:
    """The control: only where she makes the difference is there one."""
    told = [names_tell(tmp_path / str(ann), known, ann=ann) for ann in (False, True)]
    assert told == [known >= SMALLEST_VALUE] * 2


def shares_of_lists(folder: Path, *, whole: bool) -> set[Share]:
    """Return what is named of twenty lists of ten people who have one cell: by a file of all, or of these ten alone."""
    path, case = folder / "data.csv", make_local(NAME_CASE, "alice")
    told = set[Share]()
    for first in (ten + cell for ten in range(0, RECORDS, 20) for cell in range(2)):
        picked = range(first, first + 20, 2)
        rows = "".join(f"{row:04},{'xy'[row % 2]},{row}\n" for row in (range(RECORDS) if whole else picked))
        path.write_text(f"id,illness,age\n{rows}")
        share = read_share(path, "alice", "id", None, {"age": ColumnTreatment(bins="quantiles:2")})
        brings = replace(case, table=share.table, records=tuple(share.ids), groups=())
        told.add(brings.bringing_people([f"{row:04}" for row in picked]).share())
    return told


def test_of_ten_people_whom_the_partner_lists_the_names_say_nothing(tmp_path: Path) -> None:
    """The control: if names followed from who is common, they would name the one cell that all ten have."""
    assert len(shares_of_lists(tmp_path, whole=True)) == 1
    assert len(shares_of_lists(tmp_path, whole=False)) >= 2


def bins_tell(folder: Path, bins: str, crowds: tuple[str, str], cell: str, smallest: int) -> tuple[str, ...]:
    """Return the names of bins that a file of two crowds gets, with one person between them who has this cell."""
    path = folder / "data.csv"
    cells = [crowds[0]] * 100 + [cell] + [crowds[1]] * 100
    rows = "".join(f"{row:04},{text},{'yn'[row > 100]}\n" for row, text in enumerate(cells))
    path.write_text(f"id,value,illness\n{rows}")
    treatment = ColumnTreatment(bins=bins, smallest_value=smallest)
    (column,) = read_share(path, "alice", "id", "illness", {"value": treatment}).attributes
    return column.values


@pytest.mark.parametrize(
    ("bins", "crowds", "one"),
    [
        ("year", ("1950-05-01", "1970-05-01"), ("1955-02-03", "1960-02-03", "1964-02-03")),
        ("month", ("2024-01-31", "2024-12-01"), ("2024-03-05", "2024-06-05", "2024-11-05")),
        ("quantiles:2", ("1.25", "9.5"), ("3.1", "4.7", "7.7")),
        ("class", ("1.25", "9.5"), ("3.1", "4.7", "7.7")),
    ],
)
def test_edges_of_bins_do_not_follow_the_one_person_between_two_crowds(
    tmp_path: Path, bins: str, crowds: tuple[str, str], one: tuple[str, ...]
) -> None:
    """The control: where no person is hidden by others (`smallest_value = 1`) each cell has edges of its own."""
    told, exact = (
        [bins_tell(tmp_path, bins, crowds, cell, smallest) for cell in one] for smallest in (SMALLEST_VALUE, 1)
    )
    assert len(told[0]) == 2
    assert len(set(told)) == 1
    assert len(set(exact)) == len(one)


def class_tells(folder: Path, treatment: ColumnTreatment, seed: int) -> bool:
    """Return whether the names of values show Ann's class to a partner who knows all else of this random table."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, 200)
    ill = rng.random(200) < np.where(ages > 50, 0.7, 0.3)
    path, told = folder / "data.csv", set()
    for ann in (False, True):
        ill[ANN] = ann
        cells = [f"c{age % 15}" if treatment.max_values else str(age) for age in ages]
        rows = "".join(f"{row:04},{cell},{'ny'[int(ill[row])]}\n" for row, cell in enumerate(cells))
        path.write_text(f"id,value,illness\n{rows}")
        told.add(read_share(path, "alice", "id", "illness", {"value": treatment}).attributes[0].values)
    return len(told) > 1


@pytest.mark.parametrize(
    ("by_class", "control", "least", "most"),
    [
        (ColumnTreatment(bins="class"), ColumnTreatment(bins="quantiles:4"), 1, 8),
        (ColumnTreatment(max_values=4, group="class"), ColumnTreatment(max_values=4), 35, 75),
    ],
)
def test_bins_by_the_class_show_one_persons_class_in_few_tables_and_groups_in_half(
    tmp_path: Path, by_class: ColumnTreatment, control: ColumnTreatment, least: int, most: int
) -> None:
    """Of a hundred tables of 200 people; in 2,000 people .005 and .22. The control: other values follow no class."""
    assert least <= sum(class_tells(tmp_path, by_class, seed) for seed in range(100)) <= most
    assert not any(class_tells(tmp_path, control, seed) for seed in range(10))


MORNING = datetime(2027, 3, 1, 8, tzinfo=UTC)
LISTED = numbered(range(6))
HERS, OTHERS = LISTED[:3], LISTED[3:]
"""Of a person who may be on Alice's list there are twenty such lists, and Bob has all six."""
WAYS = {
    "named": (HERS, OTHERS),
    "too few": (["p0", "p1", "stranger"], ["p0", "another", "stranger"]),
    "counted": (HERS, OTHERS),
}
"""Of each two lists of hers that Bob cannot tell apart."""


def with_secret(local: PartyInputs, byte: int) -> PartyInputs:
    return replace(local, secrets=replace(local.secrets, coins=bytes([byte]) * 32))


def entry(folder: Path, way: str, hers: Sequence[str], secret: int = 7) -> dict[str, Any]:
    """Return the last entry of Alice's ledger about an alignment with Bob, who lists all six."""
    alice, bob = with_secret(listing("alice", hers), secret), with_secret(listing("bob", LISTED), secret + 1)
    with locked_folder(folder) as held, open_ledger(held, alice.secrets.coins) as ledger:
        pages = PeerEntries(ledger, PeerName("bob", "its certificate"), clock=lambda: MORNING)
        judge = ListRules("d", AlignmentBounds(least_overlap=Fraction(way == "too few", 2)), pages)
        count_only = way == "counted"
        ours = noting(align(alice, "bob", NONCES, judge, count_only=count_only), judge.note)
        duel(ours, align(bob, "alice", NONCES, Judge(), count_only=count_only))
        return dict([each.content for each in ledger.entries()][-1])


def differing(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    assert one.keys() == other.keys()
    return {name for name in one if one[name] != other[name]}


def folder_of(place: Path, name: str) -> Path:
    (place / name).mkdir(mode=0o700)
    return place / name


@pytest.mark.parametrize("way", WAYS)
def test_what_follows_the_ids_in_an_entry_about_an_alignment_follows_the_owners_secret(
    tmp_path: Path, way: str
) -> None:
    """Where too few are common, another number of them leaves the same entry, too."""
    ids, other_ids = WAYS[way]
    hers = entry(folder_of(tmp_path, "hers"), way, ids)
    others = entry(folder_of(tmp_path, "others"), way, other_ids)
    secret = entry(folder_of(tmp_path, "secret"), way, ids, secret=20)
    assert differing(hers, others) == ({"lists", "people"} if way == "named" else {"lists"})
    assert differing(hers, others) == differing(hers, secret)
    assert hers["both"] == (None if way == "too few" else 3)


@pytest.mark.parametrize("key", ["the owner's secret", "the session's nonces"])
def test_whom_both_list_cannot_be_tried_on_an_entry_without_the_owners_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Bob knows the nonces, his own secret and all lists that Alice may have; the control is keyed by the nonces."""
    if key == "the session's nonces":
        monkeypatch.setattr(alignment, "keyed_digest", lambda _, *parts: keyed_digest(NONCES, *parts))
    kept = entry(folder_of(tmp_path, "hers"), "named", HERS)["people"]
    guesses = list(combinations(LISTED, 3))
    read = [
        guess
        for guess in guesses
        for known in (NONCES, bytes([8]) * 32)
        if keyed_digest(known, b"common people", *(each.encode() for each in guess)).hex() == kept
    ]
    assert read == ([tuple(HERS)] if key == "the session's nonces" else [])


def run_over(folder: Path, case: Case) -> tuple[dict[str, Any], bytes]:
    """Return Alice's report of a run, but for what no table decides, and the digest of its model."""
    alice, _ = Sessions(folder_of(folder, token_hex(4)), case, ANY_ODDS).run()
    ended = trained(alice)
    report = asdict(train_report(ended, alice))
    for name in ("run", "seconds", "phases", "bytes_sent", "bytes_received"):  # signatures are of 70 bytes or 71
        del report[name]
    return report, ended.outcome.model.digest()


def test_a_report_does_not_say_which_of_two_people_has_a_class_as_a_digest_of_the_model_would(tmp_path: Path) -> None:
    """Who reads it knows all other records, and of these two people that one is of each class."""
    case = with_terms(CASE, method=Method.SMC, max_depth=1)
    known, correct = plain_id3(case)
    for pair in combinations(split_records(1, len(case.codes), case.terms.test)[0], 2):
        codes = case.codes.copy()
        codes[list(pair), -1] = codes[list(pair[::-1]), -1]
        other = replace(case, codes=codes)
        if plain_id3(other)[0].tree != known.tree and plain_id3(other)[1] == correct:
            break
    (hers, model), (others, other_model) = run_over(tmp_path, case), run_over(tmp_path, other)
    assert hers == others
    assert model != other_model  # the control
    assert run_over(tmp_path, case)[1] == model


NOISE_RECORDS = 400
NOISE_CODES = np.random.default_rng(8).integers(0, [3, 2, 2, 2, 2], (NOISE_RECORDS, 5)).astype(np.uint8)
NOISE_TERMS = make_terms(method="smc", noise=Fraction(1), max_depth=1, min_leaf=5)
NOISE_CASE = Case({"alice": (3,), "bob": (2, 2, 2)}, ("bob",), 2, NOISE_CODES, {"alice": 1, "bob": 1}, NOISE_TERMS)
BOUNDED = 'noise = "1"\nepsilon = "2"'


def other_orders() -> Iterator[PartyInputs]:
    """Yield Bob with his columns in every order."""
    bob = make_local(NOISE_CASE, "bob")
    *columns, label = bob.table.attributes
    for order in permutations(range(3)):
        table = Table((*(columns[c] for c in order), label), bob.table.codes[:, [*order, 3]])
        yield replace(bob, table=table)


def idle_terms() -> Iterator[Terms]:
    """Yield terms that `smc` does not use, or that only say how a count is made."""
    yield from (replace(NOISE_TERMS, theta=Fraction(k, 40)) for k in (1, 9, 30))
    yield from (replace(NOISE_TERMS, omega=omega) for omega in (1, 2))
    yield make_terms(**vars(NOISE_TERMS) | {"counting": "paillier"})


def told_at_root(node: Guarded, terms: Terms, bob: PartyInputs | None = None) -> tuple[Any, float | None]:
    """Return what is shown of Alice's column, by the class, at the root, and how many held-out records are right."""
    with listening() as told:
        ends = node.meet(terms, bob)
    assert_built(ends)
    assert ends[0].result is not None
    return told[ROOT, 0].tolist(), ends[0].result.correct


def test_noise_that_differed_from_run_to_run_would_average_to_the_truth() -> None:
    """Of the one column that a record of Alice's changes, at the root."""
    drawn = [OwnNoise(b"k" * 32, b"run %d" % run, Spending(Fraction(1), 2)).cells(ROOT, 0, 6) for run in range(400)]
    assert np.abs(np.mean(drawn, axis=0)).max() < 3 < np.abs(drawn[0]).max()


def test_a_partner_that_varies_terms_and_order_hears_one_number_and_spends_one_epsilon(tmp_path: Path) -> None:
    node = Guarded(tmp_path, NOISE_CASE, BOUNDED)
    heard = [told_at_root(node, terms) for terms in (NOISE_TERMS, *idle_terms())]
    heard += [told_at_root(node, NOISE_TERMS, bob) for bob in other_orders()]
    assert len(heard) == 13
    assert all(each == heard[0] for each in heard)
    assert node.spent == ["1"]


def test_a_partner_that_varies_what_is_asked_hears_the_same_number_until_its_epsilon_is_spent(tmp_path: Path) -> None:
    node = Guarded(tmp_path, NOISE_CASE, BOUNDED)
    first = told_at_root(node, NOISE_TERMS)
    assert told_at_root(node, replace(NOISE_TERMS, impurity=Impurity.GINI))[0] == first[0]
    for change in ({"min_leaf": 6}, {"max_depth": 2}, {"noise": Fraction(9, 10)}):
        assert_refused(node.meet(replace(NOISE_TERMS, **change)), "noise")
    assert node.spent == ["1", "1"]


YES_NO = ("yes", "no")
SCHEMA = survey_schema(("smokes", "ill"), (YES_NO, YES_NO))
THETA = Fraction(1, 2)
MODEL_RECORDS = [(0, 0), (0, 1), (1, 0), (1, 1)]
SAYS_YES = Tree(SCHEMA, Leaf((1.0, 0.0), 0))
"""It asks for the class: it is right about everybody whose personal answer to it is "yes"."""


def models() -> Iterator[Tree]:
    """Yield every function of the attribute: all that a model can be here."""
    for labels in product(range(2), repeat=2):
        yield Tree(SCHEMA, Split((1.0, 1.0), 0, tuple(Leaf((1.0, 1.0), label) for label in labels)))


def chances(model: Tree, bit: BitDesign, personal: tuple[int, int]) -> Mapping[bool, Fraction]:
    """Return the chance of each bit that a respondent with this personal record sends."""
    found = bool(model.predict(np.array([personal], dtype=np.uint8))[0] == personal[1])
    told = dict(zip((found, not found), bit.coin, strict=False))
    return {said: told.get(said, Fraction(0)) for said in (True, False)}


def certain_truths(model: Tree, bit: BitDesign) -> Fraction:
    """Return the share of respondents of whom response and bit make the private class certain; all else is uniform."""
    joint: dict[tuple[tuple[int, int], bool], dict[int, Fraction]] = {}
    for private, personal in product(MODEL_RECORDS, repeat=2):
        for response, coin in ((private, THETA), (personal, 1 - THETA)):
            for said, chance in chances(model, bit, personal).items():
                classes = joint.setdefault((response, said), {0: Fraction(0), 1: Fraction(0)})
                classes[private[1]] += coin * chance / len(MODEL_RECORDS) ** 2
    return sum((sum(c.values(), Fraction(0)) for c in joint.values() if min(c.values()) == 0), Fraction(0))


def test_a_bit_sent_as_it_is_gives_the_chosen_personal_answer_and_with_it_the_truth_of_a_quarter() -> None:
    """The positive control: of the half that tells the truth, the half whose personal class is another one."""
    plain = BitDesign(Fraction(1))
    for personal in MODEL_RECORDS:
        assert chances(SAYS_YES, plain, personal)[personal[1] == 0] == 1
    assert certain_truths(SAYS_YES, plain) == Fraction(1, 4)


@pytest.mark.parametrize("truth", ["3/4", "9/10"])
def test_under_its_coin_no_model_makes_anything_certain_or_moves_odds_beyond_the_bound(truth: str) -> None:
    bit = BitDesign(Fraction(truth))
    bound = bit.truth / (1 - bit.truth)
    assert exp(bit.loss) == pytest.approx(float(bound))
    worst = Fraction(0)
    for model in models():
        assert certain_truths(model, bit) == 0
        for one, other in product(MODEL_RECORDS, repeat=2):
            ratios = [chances(model, bit, one)[said] / chances(model, bit, other)[said] for said in (True, False)]
            worst = max(worst, *ratios)
    assert worst == bound
