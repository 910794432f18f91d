"""Joint predictions between two folders: who learns, what is written, what the ledgers hold, and who is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from party.cli.predict import write_predicted
from party.models.any_file import write_model
from party.node.aligning import load_offer
from party.node.players import Predicted
from party.settings.party import read_party_config
from party.show.ledger import dealings_lines
from protocols.jobs import Receiver
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.tables import Attribute
from tests.support.examples import few
from tests.support.offering import AGES, BAYES, EXPECTED, SCHEMA, TREE, Killed, Offering, assert_not_answered, classes
from tests.support.parties import TEST_BITS, make_terms


def test_each_side_brings_its_own_columns_in_any_order_and_the_receiver_learns(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    assert pair.learned() == EXPECTED
    alice, bob = pair.play(receiver=Receiver.BOTH)
    assert classes(alice) == classes(bob) == EXPECTED
    for party, peer in (("alice", "bob"), ("bob", "alice")):
        told = pair.dealings(party)
        assert [len(people) for people in (*told.told.answers.values(), *told.learned.answers.values())] == [4, 4]
        lines = "\n".join(dealings_lines(told, full=False))
        first, second = lines.split(f"What we learned from {peer}:")
        assert "whom we asked about, to have them classified: 4 people" in first
        assert f"whom {peer} asked about, to have them classified: 4 people" in second
        assert all("the class of 4 rows by one model" in part for part in (first, second))
        assert f"the names of 1 column ({'city' if peer == 'bob' else 'age'}) and of their" in second


def test_the_rows_are_written_in_the_order_of_the_file_with_shares_where_both_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, bob = Offering(tmp_path, "probabilities = true").play(probabilities=True)
    assert isinstance(bob, Predicted)
    write_predicted(bob, None, "class")
    assert capsys.readouterr().out.splitlines() == [
        "id,city,class,P(no),P(yes)",
        "p4,Oslo,yes,0.250000,0.750000",
        "p3,Rome,yes,0.000000,1.000000",
        "p2,Oslo,yes,0.250000,0.750000",
        "p1,,no,1.000000,0.000000",
    ]


def test_one_who_learns_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alice, _ = Offering(tmp_path).play()
    assert isinstance(alice, Predicted)
    assert alice.answers is None
    write_predicted(alice, tmp_path / "none.csv", "class")
    assert "has learned the classes of 4 rows" in capsys.readouterr().err
    assert not (tmp_path / "none.csv").exists()


def test_a_person_asked_for_again_with_other_columns_gets_the_first_answer_from_memory(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    pair.learned()
    pair.cities = dict.fromkeys(pair.cities, "Rome") | {"p5": "Rome"}
    pair.ages["p5"] = "old"
    _, bob = pair.play()
    assert classes(bob) == EXPECTED | {"p5": "yes"}
    assert isinstance(bob, Predicted)
    assert bob.answers is not None
    assert bob.answers.remembered == 4


def test_rows_whose_people_differ_are_aligned_first_and_the_others_stay_without_a_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = Offering(tmp_path, "probabilities = true")
    pair.cities = {"p9": "Rome", **pair.cities}
    del pair.ages["p2"]
    alice, bob = pair.play(probabilities=True)
    assert classes(bob) == {person: label for person, label in EXPECTED.items() if person != "p2"}
    assert isinstance(alice, Predicted)
    assert isinstance(bob, Predicted)
    assert alice.offer.shared.people == bob.offer.shared.people
    write_predicted(bob, None, "class")
    told = capsys.readouterr()
    assert told.out.splitlines()[1:] == [
        "p9,Rome,,,",
        "p4,Oslo,yes,0.250000,0.750000",
        "p3,Rome,yes,0.000000,1.000000",
        "p2,Oslo,,,",
        "p1,,no,1.000000,0.000000",
    ]
    assert "2 of 5 rows have no class: the other party has not answered for them" in told.err
    lines = "\n".join(dealings_lines(pair.dealings("alice"), full=False))
    assert "how many of 3 people to be classified of ours and 5 of bob are common: 3; each side now" in lines
    again = pair.play(probabilities=True)[1]
    assert isinstance(again, Predicted)
    assert again.answers is not None
    assert again.answers.remembered == 3


def test_lists_of_rows_that_try_one_person_after_the_other_are_bounded_as_alignments_are(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "most_alignments = 2")
    for tried in range(2):
        pair.cities = {"p1": "", f"guess {tried}": "Rome"}
        assert classes(pair.play()[1]) == {"p1": "no"}
    pair.cities = {"p1": "", "guess 2": "Rome"}
    assert_not_answered(pair.play(), "id list")


def test_a_run_over_the_data_set_keeps_no_list_of_new_people_from_being_aligned(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    pair.sessions.run(make_terms(method="smc"))
    del pair.ages["p2"]
    assert "p2" not in pair.learned()


def test_killed_before_any_message_a_prediction_begins_again_and_nobody_is_answered_for_twice(tmp_path: Path) -> None:
    """It needs no journal: who was answered for is on record before, and so is each alignment."""

    def made(name: str) -> Offering:
        (tmp_path / name).mkdir()
        pair = Offering(tmp_path / name, "most_predictions = 3\nmost_alignments = 2")
        pair.cities["p9"] = "Rome"
        del pair.ages["p2"]
        return pair

    whole = made("whole")
    whole.play()
    moments = [(party, at) for party in ("alice", "bob") for at in range(whole.sent[party])]
    for party, at in few(moments, 58):
        pair = made(f"{party}-{at}")
        pair.killed, pair.at = party, at
        assert isinstance(pair.play()[party == "bob"], Killed)
        pair.killed = ""
        assert pair.learned() == {person: label for person, label in EXPECTED.items() if person != "p2"}
        told = pair.dealings("alice")
        assert [len(people) for people in told.told.answers.values()] == [3]
        assert len(told.alignments) == 1


def test_rows_of_other_people_are_refused_where_one_side_aligns_nothing(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "most_alignments = 0")
    pair.cities["p5"] = "Oslo"
    ends = pair.play()
    assert_not_answered(ends, "records")
    assert "4 records here, 5 at the peer" in str(ends[0])
    del pair.cities["p5"]
    pair.cities = {f" {person.upper()}": city for person, city in pair.cities.items()}
    ends = pair.play()
    assert_not_answered(ends, "record ids")
    assert "another spelling" in str(ends[1])


def test_a_model_that_the_other_side_does_not_hold_is_refused(tmp_path: Path) -> None:
    other = Tree(TREE.schema, replace(TREE.root, counts=(8.0, 7.0)))
    ends = Offering(tmp_path, models={"alice": other, "bob": TREE}).play()
    assert_not_answered(ends, "model")
    assert "the peer has no such model" in str(ends[1])


def test_a_party_without_rows_hears_so_and_the_other_that_it_has_no_rows(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    pair.ages = {}
    assert_not_answered(pair.play(), "rows")


@pytest.mark.parametrize(
    ("agree", "changes", "term"),
    [
        ("", {"probabilities": True}, "probabilities"),
        ("most_predictions = 3", {}, "answers"),
        ("most_predictions = 0", {}, "predictions"),
        ('epsilon = "2"', {}, "predictions"),
    ],
)
def test_what_the_settings_do_not_allow_is_refused(
    tmp_path: Path, agree: str, changes: dict[str, object], term: str
) -> None:
    assert_not_answered(Offering(tmp_path, agree).play(**changes), term)


@pytest.mark.parametrize("line", ["most_predictions = 4", "most_bits = 4"])
def test_answers_that_are_asked_for_again_count_again_and_what_was_lost_is_given_once_more(
    tmp_path: Path, line: str
) -> None:
    """Its receiver may ask by bits that are no route, and say that it has heard nothing."""
    tree = make_terms(method="smc", reveal="tree", max_depth=2)
    (tmp_path / "whole").mkdir()
    whole, pair = (Offering(folder, line, made_by=tree) for folder in (tmp_path / "whole", tmp_path))
    whole.learned()
    pair.killed, pair.at = "bob", whole.sent["bob"] - 2
    for _ in range(2):
        assert isinstance(pair.play()[1], Killed)
    assert pair.dealings("alice").bits == 8
    assert_not_answered(pair.play(), "answers")


def test_shares_of_classes_are_another_answer_than_the_class(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "most_predictions = 7\nprobabilities = true")
    pair.learned()
    assert_not_answered(pair.play(probabilities=True), "answers")


def test_a_budget_counts_each_person_once_per_model(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "most_predictions = 5")
    pair.learned()
    pair.ages["p5"] = pair.ages["p6"] = "old"
    pair.cities["p5"] = pair.cities["p6"] = "Oslo"
    assert_not_answered(pair.play(), "answers")
    del pair.ages["p6"], pair.cities["p6"]
    assert pair.learned() == EXPECTED | {"p5": "no"}


def test_a_long_list_is_refused_by_the_fewest_people_who_must_be_common(tmp_path: Path) -> None:
    """How many are asked about is not known yet: a tenth of the asker's list at least."""
    pair = Offering(tmp_path, "most_predictions = 3")
    pair.cities |= {f"x{k}": "Rome" for k in range(46)}
    ends = pair.play()
    assert_not_answered(ends, "answers")
    assert "0 answered before and at least 5 asked for now make 5" in str(ends[0])
    assert "ask about fewer" in str(ends[1])


def test_naive_bayes_is_asked_as_a_tree_is_and_remembered(tmp_path: Path) -> None:
    pair = Offering(tmp_path, models={"alice": BAYES, "bob": BAYES})
    codes = np.array([[0, 2], [1, 0], [0, 1], [1, 0]])  # of p1 to p4; an empty cell is "missing"
    expected = [SCHEMA.class_attribute.values[label] for label in BAYES.predict(codes)]
    assert pair.learned() == dict(zip(AGES, expected, strict=True))
    assert len(set(expected)) == 2
    told = [len(people) for people in pair.dealings("alice").told.answers.values()]
    assert told == [4]
    pair.cities["p1"] = "Oslo"
    _, bob = pair.play()
    assert not isinstance(bob, BaseException)
    assert bob.answers is not None
    assert bob.answers.remembered == 4


def test_naive_bayes_reveals_no_shares_whatever_the_settings_allow(tmp_path: Path) -> None:
    pair = Offering(tmp_path, "probabilities = true", models={"alice": BAYES, "bob": BAYES})
    ends = pair.play(probabilities=True)
    assert_not_answered(ends, "probabilities")
    assert "would reveal the other side's columns" in str(ends[1])


def test_naive_bayes_that_calls_a_value_impossible_is_refused_with_its_file(tmp_path: Path) -> None:
    impossible = NaiveBayes(SCHEMA, BAYES.prior, (np.log([[1.0, 0.5], [1e-300, 0.5]]), BAYES.conditional[1]))
    impossible.conditional[0][1, 0] = -np.inf
    pair = Offering(tmp_path, models={"alice": impossible, "bob": impossible})
    ends = pair.play()
    assert_not_answered(ends, "rows")
    assert "model.json: the model calls a value impossible" in str(ends[1])


def test_a_tree_without_a_split_is_applied_too(tmp_path: Path) -> None:
    leaf = Tree(TREE.schema, Leaf((1.0, 4.0), 1))
    assert set(Offering(tmp_path, models={"alice": leaf, "bob": leaf}).learned().values()) == {"yes"}


def test_rows_of_ids_and_items_are_read_as_the_columns_of_the_model(tmp_path: Path) -> None:
    pair = Offering(tmp_path)
    schema = replace(TREE.schema, attributes=(TREE.schema.attributes[0], Attribute("bob", "tea", ("0", "1"))))
    tree = Tree(schema, Split((9, 6), 1, (Leaf((5, 3), 0), Leaf((4, 3), 0))))
    write_model(pair.folder / "items.json", tree)
    settings = pair.folder / "bob" / "party.toml"
    settings.write_text(settings.read_text().replace("[data]\n", '[data]\nitems = "product"\n'))
    rows = pair.folder / "rows.csv"
    rows.write_text("id,product\np4,tea\np1,rye\np4,rye\np2,\n")
    offer = load_offer(read_party_config(settings, TEST_BITS), pair.folder / "items.json", rows)
    assert offer.shared.people == ("p1", "p2", "p4")
    assert offer.shared.codes[:, 1].tolist() == [0, 0, 1]


def test_no_more_people_are_answered_about_than_bits_are_left_beside_the_tree(tmp_path: Path) -> None:
    """Of two classes an answer is one bit; what has been answered is not asked for again."""
    pair = Offering(tmp_path, "most_bits = 3", made_by=make_terms(method="smc", reveal="tree", max_depth=2))
    ends = pair.play()
    assert_not_answered(ends, "answers")
    assert "most_bits leaves answers about 3 people beside the trees that were revealed, 4 are asked for" in str(
        ends[0]
    )
    assert pair.dealings("alice").bits == 0
    for rows in (pair.ages, pair.cities):
        del rows["p4"]
    assert len(pair.learned()) == 3
    assert pair.dealings("alice").bits == 3
