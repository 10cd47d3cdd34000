"""Who can change a file, and how much memory there is."""

import os
import sys

import pytest

import driftmdp as dm
from driftmdp import problems, system
from driftmdp.errors import InvalidInputError

HUGE = 2 * 10**9


def test_a_file_of_ones_own(tmp_path):
    (tmp_path / "a").write_text("")
    (tmp_path / "a").chmod(0o644)
    assert system.is_own(tmp_path / "a")
    (tmp_path / "a").chmod(0o646)
    assert not system.is_own(tmp_path / "a")


def test_a_group_may_write_if_it_is_ones_first(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("")
    (tmp_path / "a").chmod(0o664)
    assert system.is_own(tmp_path / "a")
    monkeypatch.setattr(os, "getegid", lambda: 12345)
    assert not system.is_own(tmp_path / "a")


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(system, "available_memory", lambda: 2**30)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *(
            (name, {"horizon": HUGE})
            for name in ("two-state", "river-swim", "garnet", "bandit", "bidding", "remarketing", "inventory")
        ),
        ("river-swim", {"horizon": HUGE, "drift": "drifting"}),
        ("garnet", {"horizon": HUGE, "drift": "abrupt"}),
        ("bandit", {"horizon": HUGE, "drift": "abrupt"}),
        ("bidding", {"horizon": HUGE, "drift": "stationary"}),
        ("choice", {"horizon": HUGE}),
        ("choice", {"n_prices": 10**5}),
        ("epidemic", {"horizon": HUGE}),
        ("perils", {"tau": HUGE}),
        ("perils", {"cycles": HUGE}),
        ("inventory", {"horizon": 10**6, "capacity": 100}),
        ("inventory", {"capacity": 10**4}),
        ("inventory", {"capacity": 10**9}),
        ("inventory", {"capacity": 300, "lead_time": 2}),
        ("river-swim", {"n_states": 10**5}),
        ("garnet", {"n_states": 10**8}),
        ("garnet", {"n_states": 2000, "branching": 2000, "n_actions": 500}),
        ("garnet", {"n_anchors": 10**9}),
        ("bandit", {"n_arms": 10**5, "drift": "abrupt"}),
        ("bandit", {"n_arms": 10**9}),
        ("bidding", {"budget": 10**9}),
        ("bidding", {"exposures": 2**62}),
        ("combination-lock", {"length": 10**9}),
        ("combination-lock", {"horizon": HUGE, "drift": "gradual"}),
        ("frozen-lake", {"horizon": HUGE, "drift": "gradual"}),
        ("random-mdp", {"n_states": 10**6}),
        ("maintenance", {"horizon": HUGE}),
        ("maintenance", {"levels": 10**9}),
        ("queue", {"horizon": HUGE}),
        ("queue", {"capacity": 10**9}),
        ("remarketing", {"capacity": 10**9}),
        ("wireless", {"battery": 10**12}),
        ("healthcare", {"levels": 10**12}),
        ("remarketing", {"capacity": 10**5, "batch": 1, "n_batches": 10**5}),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_with_the_estimate(small_machine, name, parameters):
    with pytest.raises(
        InvalidInputError, match=r"must fit into memory; it needs about .* GiB, and this machine has 1 "
    ):
        problems.make(name, **parameters)


def test_a_world_and_a_run_must_fit_into_memory(small_machine):
    mdp = dm.Mdp(dm.Space.uniform(1, 1), [0.0], [[1.0]])
    for make in (
        lambda: dm.DriftingMdp.stationary(mdp, HUGE),
        lambda: dm.DriftingMdp.piecewise([mdp], [], horizon=HUGE),
        lambda: dm.simulate(dm.agents.Random(mdp.space), dm.Problem(dm.DriftingMdp.stationary(mdp, 2 * 10**7)), 0),
    ):
        with pytest.raises(InvalidInputError, match="must fit into memory"):
            make()


def test_what_cannot_be_allocated_is_one_sentence(monkeypatch):
    def refuse(*arguments):
        raise MemoryError("Unable to allocate 15 GiB")

    monkeypatch.setattr(sys.modules["driftmdp.problems.bandit"], "blocks", refuse)
    with pytest.raises(InvalidInputError, match="bandit-v1 must fit into memory; Unable to allocate 15 GiB"):
        problems.bandit(drift="abrupt")


def test_bids_whose_chances_floats_cannot_hold_are_refused():
    assert problems.bidding(n_bids=1000, budget=2, horizon=2).space.n_states == 15
    with pytest.raises(InvalidInputError, match="n_bids must be at most 1000"):
        problems.bidding(n_bids=1001)
