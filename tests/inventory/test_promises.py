"""What the issue promises of the agent: regret, recovery, real sales, and the honest word on the paper's agent."""

from pathlib import Path

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.inventory import Costs, backtest, compare_rules, drawn_demand, read_sales
from driftmdp.inventory.shelf_rules import RuleSet
from driftmdp.problems.inventory import Abrupt, Poisson

REAL = Path(__file__).parents[3] / "shared" / "data" / "online_retail_daily_top100.csv"


def test_regret_under_seasonal_demand_is_a_quarter_of_the_best_fixed_rule_s():
    found = compare_rules(dm.problems.inventory(), range(20), ["optimist", "hindsight"])
    ratio = found.regret_ratio("optimist", "hindsight")
    assert ratio.high <= 0.25
    assert ratio.estimate == pytest.approx(0.129, abs=0.02)  # as docs/inventory.md says


@pytest.mark.parametrize(("levels", "most"), [([3, 9], 10), ([9, 3], 14)])
def test_it_comes_back_sooner_than_rolling_rules(levels, most):
    problem = dm.problems.inventory(horizon=900, demand=Poisson(Abrupt(levels, [601])))
    found = compare_rules(problem, range(60), ["optimist", "face-value", "uncensored"])
    ours = found.recovery("optimist", 601)
    assert ours.days <= most
    assert ours.high < found.recovery("face-value", 601).low
    assert ours.high < found.recovery("uncensored", 601).low


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason="the retailer's sales are not part of the project")
def test_real_sales():
    found = backtest(read_sales(REAL), Costs(), 20, pack="auto", rules=["driftmdp", "hindsight", "face-value"])
    assert found.ratio("driftmdp", "hindsight").estimate <= 1.015
    assert found.ratio("driftmdp", "face-value").high <= 0.97


def test_the_paper_s_agent_learns_nothing_in_5000_days():
    problem = dm.problems.inventory()
    gains = dm.planning.optimal_gains(problem.drifting)
    agent = dm.agents.SWUCRL2CW.for_problem(problem, rule="theorem-4")
    assert (agent.window, agent.widening) == (1110, 0.0)
    paper, chance, ours = (
        dm.simulate(agent, problem, seed=0),
        dm.simulate(dm.agents.Random.for_problem(problem), problem, seed=0),
        dm.simulate(dm.agents.InventoryOptimist.for_problem(problem), problem, seed=0),
    )
    regrets = [run.dynamic_regret(problem, gains)[-1] for run in (paper, chance, ours)]
    assert paper.vacuous_share == 1.0
    assert regrets[0] > regrets[1] > 40 * regrets[2]


@pytest.mark.parametrize("lead_time", [0, 1, 2])
def test_agent_and_backtest_are_one(lead_time):
    problem = dm.problems.inventory(capacity=6, horizon=200, demand=Poisson(2.5), lead_time=lead_time)
    agent = dm.agents.InventoryOptimist.for_problem(problem)
    run = dm.simulate(agent, problem, seed=3)
    path, weekdays = drawn_demand(problem, seed=3), (np.arange(200) % 7).astype(np.int32)
    trace = RuleSet(problem.costs, 6, lead_time).follow("optimist", path, weekdays)
    assert trace.orders.tolist() == run.actions.tolist()
    assert dm.simulate(agent, problem, seed=3, compiled=False).actions.tolist() == run.actions.tolist()


@pytest.mark.parametrize("lead_time", [1, 2])
def test_lead_times_are_worth_learning(lead_time):
    problem = dm.problems.inventory(capacity=10, horizon=1500, demand=Poisson(4), lead_time=lead_time)
    found = compare_rules(problem, range(3), ["optimist", "hindsight"])
    assert found.regret("optimist").mean() < 0.03 * found.clairvoyant.sum(axis=1).mean()


def test_it_keeps_looking_up():
    """Demand that always empties a small shelf, then a large one: the level climbs to what demand is."""
    agent = dm.agents.InventoryOptimist(dm.problems.inventory(capacity=20).costs, 20)
    for demand, days in ((2, 60), (12, 30)):
        for _ in range(days):
            order = agent.act(0)
            left = max(0, order - demand)
            agent.observe(0.0, left)
    assert agent.explain(0).order >= 12
    assert agent.explain(0).memory <= 45


def test_an_item_that_was_given_up_is_tried_again_with_one_lot():
    """Demand of 0.2 a day is not worth an order; when it comes back as 8, that must be seen."""
    problem = dm.problems.inventory(horizon=700, demand=Poisson(Abrupt([0.2, 8.0], [301])), zeta=0.0)
    for seed in range(5):
        run = dm.simulate(dm.agents.InventoryOptimist.for_problem(problem), problem, seed=seed)
        tries = run.actions[100:300]
        assert np.median(tries[tries > 0]) == 1  # one to see; more only after that was sold at once
        assert tries.max() <= 5
        assert 1 <= (tries > 0).sum() <= 15
        first = int(np.argmax(run.actions[300:] >= 8))
        assert 0 < first < 120
        assert run.actions[300 + first :].mean() > 4


def test_an_explanation_has_no_negative_cost_and_a_band_around_the_estimate():
    for costs in (Costs(4, 0.5, 100, 0.5), Costs(0, 0, 0, 0), Costs(1e6, 0, 4, 0.5), Costs(4, 5, 1, 0.5)):
        for lead_time in (0, 1):
            agent = dm.agents.InventoryOptimist(costs, 8, lead_time)
            for day in range(12):
                outlook = agent.explain(3)
                assert outlook.cost_per_day >= -1e-9
                assert (outlook.low <= outlook.tail + 1e-12).all()
                assert (outlook.tail <= outlook.high + 1e-12).all()
                assert (np.diff(outlook.planned) <= 1e-12).all()
                order = agent.act(3)
                left = 3 + (order if lead_time == 0 else 0) - day % 2
                agent.observe(0.0, left + (order if lead_time else 0))
            assert agent.explain(3).days == 12
