import numpy as np
import pytest

import driftmdp as dm
from driftmdp.problems.queue import REGIMES
from tests.problems.tables import rewards_of, transitions_of

SMALL = {"capacity": 3, "arrivals": 0.2, "slow": 0.15, "fast": 0.45, "horizon": 9}
MONEY = {"fee": 2.0, "holding": 0.03, "fast_cost": 0.3, "refusal": 0.07}


def tick(customers, admits, is_fast, factor):
    """The mean reward and the next state's law, by going through everything that can happen in a tick."""
    comes, ends = 0.2 * factor.arrivals, 0.45 if is_fast else 0.15
    earned, following = 0.0, [0.0] * 4
    for event, chance in (("comes", comes), ("ends", ends), ("nothing", 1 - comes - ends)):
        money, after = -0.03 * customers, customers
        if is_fast:
            money -= 0.3 * factor.fast_cost
        if event == "comes" and admits:
            after += 1
        elif event == "comes":
            money -= 0.07
        elif event == "ends" and customers > 0:
            money += 2.0 * factor.fee
            after -= 1
        earned += chance * money
        following[after] += chance
    return earned, following


@pytest.mark.parametrize("regime", range(3))
def test_anchors_are_what_can_happen_in_a_tick(regime):
    factor = [*REGIMES.values()][regime]
    mdp = dm.problems.queue(**SMALL, **MONEY).drifting.anchor(regime)
    assert mdp.space.action_names[3] == ("refuse, slow", "refuse, fast")
    for customers in range(4):
        ways = [(admits, is_fast) for admits in (False, True) for is_fast in (False, True)]
        expected = [tick(customers, *way, factor) for way in ways[: 4 if customers < 3 else 2]]
        assert rewards_of(mdp)[customers] == pytest.approx([earned for earned, _ in expected], abs=1e-12)
        np.testing.assert_allclose(transitions_of(mdp)[customers], [law for _, law in expected], atol=1e-12)


@pytest.mark.parametrize("threshold", [1, 4, 12])
def test_a_fixed_threshold_earns_what_the_product_form_says(threshold):
    problem = dm.problems.queue()
    policy = [2 if customers < threshold else 0 for customers in range(13)]
    for factor, anchor in zip(REGIMES.values(), problem.drifting.anchors, strict=True):
        arrivals = 0.25 * factor.arrivals
        shares = (arrivals / 0.1) ** np.arange(threshold + 1)  # of an M/M/1/k queue
        shares /= shares.sum()
        costs = 0.01 * shares @ np.arange(threshold + 1) + 0.1 * arrivals * shares[-1]
        earned = factor.fee * 0.1 * (1 - shares[0]) - costs
        assert dm.planning.policy_gain(anchor, policy) == pytest.approx(earned, abs=1e-12)


@pytest.mark.parametrize(("slow", "holding", "refusal"), [(0.1, 0.01, 0.0), (0.2, 0.02, 0.0), (0.3, 0.02, 0.5)])
def test_without_fast_service_the_best_threshold_is_naors(slow, holding, refusal):
    problem = dm.problems.queue(30, slow=slow, fast_cost=100.0, holding=holding, refusal=refusal)
    for factor, anchor in zip(REGIMES.values(), problem.drifting.anchors, strict=True):
        load, worth = 0.25 * factor.arrivals / slow, (factor.fee + refusal) * slow / holding
        delays = [(n * (1 - load) - load * (1 - load**n)) / (1 - load) ** 2 for n in range(1, 31)]
        threshold = int(np.sum(np.array(delays) <= worth))  # Naor's social optimum [N69]
        admits = dm.planning.optimal_gain(anchor).policy // 2
        assert 0 < threshold < 30
        assert admits.tolist() == [1] * threshold + [0] * (31 - threshold)


def test_longer_queues_admit_less_and_are_served_faster_and_no_two_regimes_have_one_policy():
    policies = [dm.planning.optimal_gain(anchor).policy for anchor in dm.problems.queue().drifting.anchors]
    for policy in policies:
        admits, is_fast = np.divmod(policy, 2)
        assert (np.diff(admits) <= 0).all()
        assert (np.diff(is_fast) >= 0).all()
    assert [int((policy >= 2).sum()) for policy in policies] == [5, 2, 6]
    assert [int(np.argmax(policy % 2)) for policy in policies] == [2, 10, 1]


def test_the_default_drifts_and_knowing_the_regime_pays():
    problem = dm.problems.queue()
    assert problem.drifting.variation().reward > 1
    assert problem.drifting.variation().transition > 1
    low, high = problem.reward_range
    best = dm.planning.optimal_gains(problem.drifting).mean()
    random = dm.simulate(dm.agents.Random(problem.space), problem, seed=1).mean_rewards.mean()
    usual = dm.agents.FixedPolicy(problem.space, dm.planning.optimal_gain(problem.drifting.anchor(0)).policy)
    fixed = dm.simulate(usual, problem, seed=1).mean_rewards.mean()
    assert best - random > 0.15 * (high - low)
    assert best - fixed > 0.1 * (best - random)
    assert max(dm.planning.diameter(anchor) for anchor in problem.drifting.anchors) < 400


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"capacity": 0}, "capacity must be at least 1; got 0."),
        ({"arrivals": 0.3}, "arrivals must be at most 0.25; got 0.3."),
        ({"slow": 0.0}, "slow must be at least 0.01; got 0."),
        ({"slow": 0.45}, "slow must be at most 0.4; got 0.45."),
        ({"fast": 0.6}, "fast must be at most 0.5; got 0.6."),
        ({"fee": -1}, "fee must be at least 0; got -1."),
        ({"holding": float("inf")}, "holding must be a finite number; got inf."),
        ({"fast_cost": 1e7}, "fast_cost must be at most 1e+06; got 1e+07."),
        ({"refusal": "no"}, "refusal must be a finite number; got 'no'."),
        ({"cycles": -1}, "cycles must be at least 0; got -1."),
    ],
)
def test_a_wrong_value_is_answered_with_one_sentence(wrong, sentence):
    with pytest.raises(dm.errors.InvalidInputError) as caught:
        dm.problems.queue(**wrong)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("extreme", [{"capacity": 1}, {"arrivals": 0.01, "slow": 0.5, "fast": 0.5}, {"fee": 0.0}])
def test_extremes_communicate_and_have_a_gain(extreme):
    problem = dm.problems.queue(**({"capacity": 3, "horizon": 3} | extreme), noise="none")
    assert all(dm.planning.is_communicating(anchor) for anchor in problem.drifting.anchors)
    assert np.isfinite(dm.planning.optimal_gains(problem.drifting)).all()
