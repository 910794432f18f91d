"""What a party's settings say of alignments and predictions, and of the class of a training."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.errors import ConfigError
from party.files import locked_folder
from party.node.policy import check_job, make_policy
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.records.releases import record_release, release_of
from party.settings.ids import AlignmentBounds
from party.settings.party import Acceptance, LifeBounds, PartyConfig, read_party_config
from protocols.jobs import Align, Job, Predict, PredictionTerms, Receiver, Train
from protocols.terms import MODEL_BYTES, Counting
from tests.party.node.test_policy import AGREE, make
from tests.support.parties import make_local
from tests.support.sessions import CASE

BOB = make_local(CASE, "bob")
ASKED = PredictionTerms(bytes(MODEL_BYTES), Receiver.BOTH, False)


ANSWERS = replace(AGREE, life=LifeBounds(most_predictions=1))


def config(folder: Path, agree: Acceptance = AGREE) -> PartyConfig:
    (folder / "party.toml").write_text('name = "bob"\n[data]\nfile = "data.csv"\nid = "id"\n')
    return replace(read_party_config(folder / "party.toml"), agree=agree)


@pytest.mark.parametrize(
    ("job", "agree", "field"),
    [
        (Align(), AGREE, None),
        (Align(), replace(AGREE, alignments=AlignmentBounds(most_alignments=0)), "job"),
        (Predict(ASKED), ANSWERS, None),
        (Predict(ASKED), AGREE, "predictions"),
        (Predict(ASKED), replace(ANSWERS, epsilon=Fraction(1)), "predictions"),
        (Predict(replace(ASKED, receiver=Receiver.INITIATOR)), AGREE, "predictions"),
        (Predict(replace(ASKED, receiver=Receiver.RESPONDER)), AGREE, None),
        (Predict(replace(ASKED, receiver=Receiver.RESPONDER)), replace(AGREE, epsilon=Fraction(1)), None),
        (Predict(replace(ASKED, probabilities=True)), ANSWERS, "probabilities"),
        (Predict(replace(ASKED, probabilities=True)), replace(ANSWERS, probabilities=True), None),
    ],
)
def test_each_job_is_judged_by_its_own_settings(tmp_path: Path, job: Job, agree: Any, field: str | None) -> None:
    objection = make_policy(BOB, config(tmp_path, agree))(job)
    assert (objection and objection.field) == field


def test_a_prediction_that_we_would_refuse_is_not_asked_for(tmp_path: Path) -> None:
    ours = config(tmp_path, ANSWERS)
    check_job(BOB, ours, Predict(ASKED))
    with pytest.raises(ConfigError, match="probabilities"):
        check_job(BOB, ours, Predict(replace(ASKED, probabilities=True)))
    for terms in (ASKED, replace(ASKED, receiver=Receiver.RESPONDER)):  # we open: it would be for us to answer
        with pytest.raises(ConfigError, match="most_predictions is 0"):
            check_job(BOB, config(tmp_path), Predict(terms))
    check_job(BOB, config(tmp_path), Predict(replace(ASKED, receiver=Receiver.INITIATOR)))


def test_a_job_about_another_class_than_ours_is_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="asks for the class 'outcome'; our class column is 'class'"):
        check_job(BOB, config(tmp_path), Train(make()))


def test_a_training_in_another_split_than_was_told_before_is_not_asked_for(tmp_path: Path) -> None:
    agree = replace(
        AGREE, exact_counts=True, odds=None, min_leaf=1, counting=tuple(Counting), smallest_key_bits=CASE.terms.key_bits
    )
    ours, other = config(tmp_path, agree), replace(CASE.terms, seed=CASE.terms.seed + 1)
    for terms in (CASE.terms, other):
        check_job(BOB, ours, Train(terms))
    with locked_folder(tmp_path) as held, open_ledger(held, BOB.secrets.coins) as ledger:
        record_release(PeerPages(ledger, PeerName("alice", "")), release_of(BOB, Train(CASE.terms), None))
    check_job(BOB, ours, Train(CASE.terms))
    with pytest.raises(ConfigError, match="show single records: return to the first"):
        check_job(BOB, ours, Train(other))
