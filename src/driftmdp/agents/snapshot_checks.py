"""Everything that agents learn, as arrays of a snapshot and back, trusted only after every index is checked.

Compiled code does not check indices, so a damaged file must be noticed here. Wrong content raises ValueError.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.agents.reward_range import RangeMonitor
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import TALLY, TransitionCounts, new_counts, record_type
from driftmdp.kernels.plan_arrays import CLOCK, PLAN_FACTS, PlanState, enlarge_plan_state
from driftmdp.mdp import Space
from driftmdp.npz import Arrays

LATEST = 2**62  # a time from which compiled code can still count on
ROUNDING = 1e-6  # allowed in sums that are read from a file
WHOLE_PLAN_ARRAYS = "clock", "in_force", "visits", "policy", "bias"  # those of a PlanState that never grow
CLOCK_OF_VERSION_2 = record_type(
    "i8 t start tau episode phase planned sweeps is_vacuous accelerated",
    "f8 gain residual widening",
    "i8 tried_sweeps tried_vacuous tried_accelerated",
    "f8 tried_gain tried_residual",
    "i8 n_reasons n_touched need",
    "f8 unseen top",
)
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def memory_arrays(memory: TransitionCounts) -> Arrays:
    """Return the content of a memory, as arrays by name for a snapshot."""
    facts = memory.tally[0]
    return {
        "slots": memory.slots[: facts["n_slots"]],
        "entries": memory.entries[: facts["n_entries"]],
        "steps": memory.steps[: facts["remembered"] if facts["window"] else 0],
        "tally": memory.tally,
    }


def restored_memory(space: Space, empty: TransitionCounts, arrays: Arrays) -> TransitionCounts:
    """Return the memory of a snapshot, with no less space than ``empty``, a new one of the same agent."""
    slots, entries, steps, tally = (_typed(arrays, empty, name) for name in ("slots", "entries", "steps", "tally"))
    for records in (slots, entries, steps):
        require(within(records["pair"], space.n_pairs), "a pair does not exist")
    require(all(np.isfinite(slots[name]).all() for name in ("count", "total", "squares")), "a sum is not finite")
    require(bool(np.isfinite(steps["reward"]).all()), "a reward is not finite")
    require(within(entries["next_state"], space.n_states), "a next state does not exist")
    places = entries["pair"].astype(np.int64) * space.n_states + entries["next_state"]
    places = places[entries["count"] > 0]
    require(np.unique(places).size == places.size, "a next state is counted twice")
    require(tally.size == 1 and np.unique(slots["pair"]).size == slots.size, "a pair has two slots")
    facts = {name: int(tally[name][0]) for name in TALLY.names or ()}
    window = facts["window"]
    require(0 <= window <= empty.steps.size, "the window is wrong")
    require(facts["n_slots"] == slots.size and facts["n_entries"] == entries.size, "the tally is wrong")
    require(steps.size == (facts["remembered"] if window else 0), "steps are missing")
    require(0 <= facts["cursor"] < max(1, window) and 0 <= facts["since"] < max(1, window), "the tally is wrong")
    # some kernels rely on the space that their agent allocated, and never ask for more
    pairs, successors = max(slots.size, empty.slots.size - 1), max(entries.size, empty.entries.size - 1)
    memory = new_counts(space.n_pairs, window, pairs, successors, empty.steps.size)
    memory.slots[: slots.size], memory.entries[: entries.size] = slots, entries
    memory.steps[: steps.size] = steps
    memory.tally[:] = tally
    owner = np.searchsorted(space.offsets, slots["pair"], side="right").astype(np.int32) - np.int32(1)
    require(kernels.transition_counts.is_sound(memory, owner), "the counts do not agree")
    agrees = window == 0 or kernels.transition_counts.has_sound_window(memory)
    require(agrees, "the window does not agree with the counts")
    memory.slot_of[slots["pair"]] = np.arange(slots.size)
    kernels.transition_counts.fill_table(memory)
    return memory


def restored_plan_state(space: Space, new: PlanState, memory: TransitionCounts, arrays: Arrays) -> PlanState:
    """Return the plan state of a snapshot; ``new`` is that of a new agent."""
    if arrays["clock"].dtype == CLOCK_OF_VERSION_2:
        arrays = arrays | _split_clock(arrays["clock"])
    clock, in_force, visits, policy, bias, touched, reasons = (
        _typed(arrays, new, name) for name in PlanState._fields
    )
    require(clock.size == in_force.size == 1 and visits.size == space.n_pairs, "an array has the wrong size")
    require(policy.size == bias.size == space.n_states, "an array has the wrong size")
    require(bool(((policy >= 0) & (policy < space.n_actions)).all()), "an action does not exist")
    require(within(touched, space.n_states) and within(reasons["pair"], space.n_pairs), "a pair does not exist")
    facts = clock[0]
    require(facts["n_touched"] == touched.size and facts["n_reasons"] == reasons.size, "the clock is wrong")
    require(bool(0 <= facts["start"] < facts["t"] < LATEST and 0 <= facts["tau"] <= facts["t"]), "time is wrong")
    plan_state = enlarge_plan_state(new, max(memory.slots.size, touched.size, reasons.size))
    for name in WHOLE_PLAN_ARRAYS:
        getattr(plan_state, name)[:] = arrays[name]
    plan_state.touched[: touched.size], plan_state.reasons[: reasons.size] = touched, reasons
    return plan_state


def _split_clock(old: NDArray[Any]) -> Arrays:
    """Return clock and plan in force of a snapshot of version 2, whose clock had the facts of two plans too."""
    clock, in_force = np.zeros(old.shape, CLOCK), np.zeros(old.shape, PLAN_FACTS)
    for name in ("t", "start", "tau", "episode", "phase", "n_reasons", "n_touched", "unseen", "top"):
        clock[name] = old[name]
    clock["worst_residual"] = old["tried_residual"]  # posterior sampling kept it there
    for name in ("sweeps", "gain", "residual", "widening", "accelerated"):
        in_force[name] = old[name]
    in_force["t"], in_force["vacuous"] = old["planned"], old["is_vacuous"]
    return {"clock": clock, "in_force": in_force}


def generator_text(rng: np.random.Generator) -> NDArray[Any]:
    """Return the state of a generator as an array that holds one text."""
    kind = type(rng.bit_generator).__name__
    if kind not in GENERATORS:
        rule = f"rng must be one of numpy's own generators to be saved, {', '.join(GENERATORS)}"
        raise InvalidInputError(f"{rule}; got {kind}.")
    return np.array(json.dumps(rng.bit_generator.state, default=lambda array: array.tolist()))


def restored_generator(text: NDArray[Any]) -> np.random.Generator:
    """Return the generator of a text, which draws what the saved one would have drawn."""
    state = json.loads(str(text))
    kind = state["bit_generator"]
    require(kind in GENERATORS, f"unknown generator {kind!r}")
    # numpy does not check these
    require(kind != "MT19937" or 0 <= state["state"]["pos"] <= 624, "the generator's position is wrong")
    require(kind != "Philox" or 0 <= state["buffer_pos"] <= 4, "the generator's position is wrong")
    rng = np.random.Generator(getattr(np.random, kind)())
    rng.bit_generator.state = state
    return rng


def _typed(arrays: Arrays, new: TransitionCounts | PlanState, name: str) -> NDArray[Any]:
    """Return an array of a snapshot, which must have the type that it has in a new agent."""
    array, kind = arrays[name], getattr(new, name).dtype
    require(array.ndim == 1 and array.dtype.newbyteorder("=") == kind, f"{name} has the wrong type")
    return array.astype(kind)


def numbers(arrays: Arrays, name: str) -> NDArray[Any]:
    """Return an array of numbers as doubles."""
    array = arrays[name]
    require(array.dtype.kind in "fi" and bool(np.isfinite(array).all()), f"{name} has the wrong type")
    return np.ascontiguousarray(array, dtype=np.float64)


def monitor_array(monitor: RangeMonitor) -> NDArray[np.float64]:
    """Return what a monitor has seen of the rewards, for a snapshot."""
    return np.array([monitor.n_rewards, monitor.total])


def restore_monitor(monitor: RangeMonitor, t: int, arrays: Arrays) -> None:
    """Let a new monitor go on with the rewards of a snapshot, fewer than ``t``."""
    n_rewards, monitor.total = numbers(arrays, "rewards")
    require(0 <= n_rewards < t, "the rewards are wrong")
    monitor.n_rewards = int(n_rewards)


def within(values: NDArray[Any], limit: int) -> bool:
    """Tell whether all values are indices below a limit."""
    return bool(((values >= 0) & (values < limit)).all())


def within_one(values: NDArray[Any]) -> bool:
    """Tell whether all values lie in [0, 1], up to rounding."""
    return bool(((values >= -ROUNDING) & (values <= 1.0 + ROUNDING)).all())


def is_finite(records: NDArray[Any]) -> bool:
    """Tell whether every field of all records is finite."""
    return all(bool(np.isfinite(records[name]).all()) for name in records.dtype.names or ())


def require(condition: bool, fault: str) -> None:
    """Raise ValueError with a fault unless a condition holds."""
    if not condition:
        raise ValueError(fault)


def restored_bits(bits: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the state of the compiled random generator, which must not be all zeros."""
    require(bits.shape == (4,) and bits.dtype.kind == "u" and bool(bits.any()), "the generator is wrong")
    return bits.astype(np.uint64)
