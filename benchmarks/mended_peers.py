"""Five bandits of ``SMPyBandits`` that watch for changes: as published, and with their slips mended.

Parameters are given in our words and put into its words here. A slip is mended in a subclass. The files of the
package stay as they are. Its AdSwitchNew adds up the rewards of an interval again for each of K t^3 comparisons: in
both versions they come from running sums, which have the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from benchmarks.bandit_peers import import_policy, quiet

__all__ = ["SLIPS", "make_mended", "make_published"]

SLIPS = {
    "GLRklUCB": "an alarm keeps the last reward",
    "MUCB": "each full window is an alarm: the test returns (False, None), and a tuple is true",
    "CUSUMUCB": "the last arm is never explored: randint(0, K - 1) leaves out K - 1. The sums also contain the M "
    "rewards that made the mean, and an alarm keeps the last reward",
    "AdSwitch": "checks of bad arms have the sizes 2^-i >= gap, not gap / 16",
    "DiscountedThompson": "a step fades the arm that was played K times, and no other arm",
}
"""What was mended, by our names."""

Policy = Any
Parameters = Mapping[str, Any]


def make_published(name: str, n_arms: int, horizon: int, given: Parameters) -> Policy:
    """Return its bandit as published, with our parameters. Raises ImportError."""
    return _make(_published(), name, n_arms, horizon, given)


def make_mended(name: str, n_arms: int, horizon: int, given: Parameters) -> Policy:
    """Return its bandit without its slips, with our parameters. Raises ImportError."""
    return _make(_mended(), name, n_arms, horizon, given)


def _make(kinds: Mapping[str, Any], name: str, n_arms: int, horizon: int, given: Parameters) -> Policy:
    with quiet():
        return kinds[name](n_arms, **_in_its_words(name, horizon, given))


def _in_its_words(name: str, horizon: int, given: Parameters) -> dict[str, Any]:
    if name == "GLRklUCB":
        return {
            "horizon": horizon,
            "policy": import_policy("klUCB_forGLR").klUCB_forGLR,  # its level is 3 ln t / N: our xi = 3
            "alpha0": given["alpha"],
            "delta": 3 * given["delta"],  # its threshold is ln(3 n^1.5 / delta)
            "lazy_detect_change_only_x_steps": given["test_every"],
            "lazy_try_value_s_only_x_steps": given["split_every"],
            "use_localization": False,
        }
    if name == "MUCB":
        return {
            "horizon": horizon,
            "policy": import_policy("UCB").UCB,
            "w": given["window"],
            "b": given["threshold"],
            "gamma": given["gamma"],
        }
    if name == "CUSUMUCB":
        return {
            "horizon": horizon,
            "policy": import_policy("UCB").UCB,
            "max_nb_random_events": given["changes"],
            "epsilon": given["epsilon"],
            "min_number_of_observation_between_change_point": given["warmup"],
            "lazy_detect_change_only_x_steps": 1,
        }
    if name == "AdSwitch":
        every = given["test_every"]
        return {"horizon": horizon, "C1": given["c1"], "delta_t": every, "delta_s": every}
    return {"gamma": given["discount"]}


def _published() -> dict[str, Any]:
    """Return its classes."""
    return {
        "GLRklUCB": import_policy("GLR_UCB").BernoulliGLR_IndexPolicy_WithDeterministicExploration,
        "MUCB": import_policy("Monitored_UCB").Monitored_IndexPolicy,
        "CUSUMUCB": import_policy("CUSUM_UCB").CUSUM_IndexPolicy,
        "AdSwitch": _with_running_sums(import_policy("AdSwitchNew").AdSwitchNew),
        "DiscountedThompson": import_policy("DiscountedThompson").DiscountedThompson,
    }


def _mended() -> dict[str, Any]:
    """Return its classes without their slips."""
    its = _published()
    glr: Any = its["GLRklUCB"]
    monitored: Any = its["MUCB"]
    cusum: Any = its["CUSUMUCB"]
    switch: Any = its["AdSwitch"]
    thompson: Any = its["DiscountedThompson"]

    class MUCB(monitored):  # type: ignore[misc]
        def startGame(self, createNewPolicy: bool = True) -> None:  # noqa: N802, N803, its own names
            super().startGame(createNewPolicy)
            self.last_update_time_tau = 0  # its clock begins at 0 again, too

        def detect_change(self, arm: int) -> bool:
            found = super().detect_change(arm)
            return bool(found[0]) if isinstance(found, tuple) else bool(found)

    class CUSUMUCB(cusum):  # type: ignore[misc]
        def choice(self) -> int:
            if np.random.random() < self.proba_random_exploration:  # noqa: NPY002, what it draws from
                return int(np.random.randint(self.nbArms))  # noqa: NPY002
            return int(self.policy.choice())

        def detect_change(self, arm: int, verbose: bool = False) -> tuple[bool, None]:
            rewards = self.all_rewards[arm]
            first = np.mean(rewards[: self.M])
            up = down = 0.0
            for reward in rewards[self.M :]:
                up = max(0.0, up + reward - first - self.epsilon)
                down = max(0.0, down + first - reward - self.epsilon)
            return max(up, down) > self.threshold_h, None

        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            restarted = self.last_restart_times[arm]
            super().getReward(arm, reward)
            if self.last_restart_times[arm] != restarted:
                _forget(self, arm)
                self.policy.t = np.sum(self.last_pulls)

    class GLRklUCB(glr):  # type: ignore[misc]
        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            restarted = self.last_restart_times[arm]
            super().getReward(arm, reward)
            if self.last_restart_times[arm] != restarted:
                _forget(self, arm)

    class AdSwitch(switch):  # type: ignore[misc]
        def find_max_i(self, gap: float) -> int:
            return int(np.floor(4 - np.log2(gap)))

    class DiscountedThompson(thompson):  # type: ignore[misc]
        def getReward(self, arm: int, reward: float) -> None:  # noqa: N802
            self.t += 1
            for other, posterior in enumerate(self.posterior):
                if other == arm:
                    posterior.update(reward)
                else:
                    posterior.discount()

    kinds = (GLRklUCB, MUCB, CUSUMUCB, AdSwitch, DiscountedThompson)
    return {kind.__name__: kind for kind in kinds}


def _forget(policy: Policy, arm: int) -> None:
    """Let an arm forget the last reward as well."""
    policy.all_rewards[arm] = []
    policy.last_pulls[arm] = policy.policy.pulls[arm] = 0
    policy.policy.rewards[arm] = 0.0


def _with_running_sums(its: Any) -> Any:
    """Return its AdSwitchNew with the counts and sums of an interval from running ones, made once a test."""

    class RunningSums(its):  # type: ignore[misc]
        made_at = -1
        made_for: Any = None

        def n_s_t(self, arm: int, s: int, t: int) -> int:
            counts, _ = self.running(arm)
            return int(counts[t] - counts[max(s - 1, 0)])

        def mu_hat_s_t(self, arm: int, s: int, t: int) -> float:
            _, totals = self.running(arm)
            return float((totals[t] - totals[max(s - 1, 0)]) / max(1, self.n_s_t(arm, s, t)))

        def running(self, arm: int) -> tuple[list[int], list[float]]:
            if self.made_at != self.t or self.made_for is not self.all_rewards:
                self.made_at, self.made_for = self.t, self.all_rewards
                times = range(self.t + 1)
                self.made = [
                    (
                        list(accumulate(int(u in kept) for u in times)),
                        list(accumulate(kept.get(u, 0.0) for u in times)),
                    )
                    for kept in self.all_rewards
                ]
            counts, totals = self.made[arm]
            return counts, totals

    return RunningSums
