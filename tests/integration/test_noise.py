"""Two processes, a run with noise: told on both screens and in all files, and refused where it bounds nothing."""

import json
import re

import pytest

from party.keys.keystore import load_secret
from party.models.tree_file import read_tree
from party.records.ledger import read_ledger
from party.records.releases import released, spent_of
from tests.support.processes import Pair, assert_one_error, cotally_here, finish, serving


@pytest.fixture
def pair(pair: Pair) -> Pair:
    pair.edit("alice", 'epsilon = "any"', 'epsilon = "25"')
    return pair


def test_a_run_with_noise_says_what_it_bounds_and_is_refused_when_epsilon_is_spent(pair: Pair) -> None:
    with serving(pair) as alice:
        job = pair.write_job(noise="20", max_depth=2)  # a class is seldom told as too small: noise of some 3 records
        trained = pair.train(job)
        assert trained.code == 0, trained.err
        jobs = [pair.write_job(noise=noise, max_depth=2) for noise in ("10", None)]
        refused = [cotally_here(*pair.train_arguments(each)) for each in jobs]
        alice.terminate()
        ended = finish(alice)
    for each in refused:
        assert_one_error(each, 5, "the parties differ on 'noise'", "has spent that of its data set")
    assert "the job has no noise, and our [agree] epsilon, which is a number, allows only runs with noise" in ended.err
    spent = (
        "our [agree] epsilon allows 25 over the life of a data set: 20 spent before (by 1) and 10 for this run make 30"
    )
    assert spent in ended.err
    noise = r"Noise: all counts, beside the disguised copies, reveals epsilon 20 at most \(delta 1.8e-11\) to each side"
    for screen in (trained.err, ended.err):
        assert re.search(noise, screen), screen
        assert "noise 20, class 'class'" in screen
    assert re.search(r"This run revealed [\d,]+ counts with noise \(", trained.err)
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert read_tree(pair.bob / "model.json").growth.noise == 20
    report = json.loads((pair.bob / "report.json").read_text())
    assert (report["noise"], report["delta"]) == ("20", 20 / 2**40)
    for folder in (pair.alice, pair.bob):
        with read_ledger(folder, load_secret(folder)) as ledger:
            (known,) = released(ledger.entries()).values()
        assert list(spent_of(known).values()) == ["20"]
    planned = cotally_here("plan", str(pair.alice / "party.toml"), str(job))
    assert "Epsilon spent: 20; [agree] epsilon allows 25." in planned.out
    assert (
        "This run spends epsilon 20, 15 more than [agree] epsilon leaves, which refuses it; a run that" in planned.out
    )
    assert re.search(noise, planned.out)
    assert "exact counts" not in planned.out
    assert re.search(r"reveals at most [\d,]+ counts with noise, whatever tree", planned.out)


def test_a_noisy_tree_is_grown_by_two_processes_and_what_it_takes_stands_on_both_screens_and_in_the_ledger(
    pair: Pair,
) -> None:
    pair.edit("bob", 'epsilon = "any"', 'epsilon = "100"')
    tree = {"method": "smc", "reveal": "tree", "theta": None, "omega": None, "min_leaf": None, "max_depth": 2}
    with serving(pair) as alice:
        trained = pair.train(pair.write_job(**tree, noise="24.8"))
        refused = cotally_here(*pair.train_arguments(pair.write_job(**tree, noise="0.25")))
        alice.terminate()
        ended = finish(alice)
    assert trained.code == 0, trained.err
    assert_one_error(refused, 5, "the parties differ on 'noise'", "has spent that of its data set")
    assert "24.8 spent before (by 1) and 0.5 for this run make 25.3" in ended.err  # the held-out table takes 1/2
    for screen in (trained.err, ended.err):
        assert "min_leaf 1, gini, noise 24.8, the tree alone is revealed" in screen
        assert (
            "Noise: the whole run reveals epsilon 24.8 at most (delta 2.0e-10) to each side; each side adds" in screen
        )
        assert "This run reveals the tree and no count" in screen
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    ledger = cotally_here("ledger", "show", str(pair.alice / "party.toml")).out
    assert " against each side:\n      opened of models: for " in ledger
