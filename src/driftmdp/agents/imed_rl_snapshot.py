"""What IMED-RL learned, from the arrays of a snapshot, trusted only after every index is checked."""

import numpy as np

from driftmdp import kernels
from driftmdp.agents.snapshot_checks import LATEST, ROUNDING, numbers, require
from driftmdp.kernels.arrays import TransitionCounts
from driftmdp.kernels.imed_rl_arrays import LAW_SIZE, ImedPlan, RewardLaws, new_reward_laws
from driftmdp.npz import Arrays


def restored_laws(memory: TransitionCounts, arrays: Arrays) -> RewardLaws:
    """Return the laws of rewards of a snapshot."""
    n, laws = int(memory.tally["n_slots"][0]), new_reward_laws(memory.slots.size)
    values, weights, sizes = (numbers(arrays, f"law_{name}") for name in RewardLaws._fields)
    require(values.shape == weights.shape == (n, LAW_SIZE) and sizes.shape == (n,), "the laws have the wrong shape")
    require(bool(((sizes >= 1) & (sizes <= LAW_SIZE + 1) & (sizes % 1 == 0)).all()), "the size of a law is wrong")
    require(bool(((values >= 0) & (values <= 1) & (weights >= 0)).all()), "a reward is wrong")
    used = np.arange(LAW_SIZE) < sizes[:, None]
    slots = memory.slots[:n]
    require(np.allclose((weights * used).sum(1), slots["count"] + 1, ROUNDING), "the weights do not agree")
    require(
        np.allclose((weights * values * used).sum(1), slots["total"] + 0.5, ROUNDING), "the rewards do not agree"
    )
    laws.values[:n], laws.weights[:n], laws.sizes[:n] = values, weights, sizes
    return laws


def restored_plan(new: ImedPlan, memory: TransitionCounts, arrays: Arrays) -> ImedPlan:
    """Return the plan of a snapshot, in the arrays of a new agent."""
    facts, touched, bias, n_states = arrays["facts"], arrays["touched"], numbers(arrays, "bias"), new.bias.size
    require(facts.dtype.newbyteorder("=") == new.facts.dtype and facts.shape == (1,), "the facts are wrong")
    require(all(np.isfinite(facts[name]).all() for name in facts.dtype.names or ()), "a fact is not finite")
    t = int(facts["t"][0])
    require(0 < t < LATEST and 0 <= int(facts["planned"][0]) <= t, "time is wrong")
    require(bias.shape == (n_states,), "the values have the wrong shape")
    require(touched.dtype.kind == "i" and touched.ndim == 1, "the states are wrong")
    require(touched.size == facts["n_touched"][0] == np.unique(touched).size, "a state is listed twice")
    require(bool(((touched >= 0) & (touched < n_states)).all()), "a state does not exist")
    slots = memory.slots[: int(memory.tally["n_slots"][0])]
    new.facts[:], new.bias[:], new.touched[: touched.size], new.is_met[touched] = facts, bias, touched, True
    new.tried[:] = np.bincount(slots["state"], minlength=n_states)
    for slot in slots:
        kernels.imed_rl.note_visits(new, int(slot["state"]), float(slot["count"]))
    met = np.concatenate([slots["state"], memory.entries["next_state"][: int(memory.tally["n_entries"][0])]])
    require(bool(new.is_met[met].all()), "a state is missing")
    return new
