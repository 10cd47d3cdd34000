"""Everything that MASTER learns, as arrays of a snapshot and back, trusted only after it is checked."""

import numpy as np

from driftmdp.agents.snapshot_checks import (
    LATEST,
    WHOLE_PLAN_ARRAYS,
    memory_arrays,
    require,
    restored_memory,
    restored_plan_state,
)
from driftmdp.kernels.arrays import new_counts
from driftmdp.kernels.master_arrays import (
    RESTART,
    MasterArrays,
    enlarge_restarts,
    part_of,
    stack_counts,
    stack_plan_states,
)
from driftmdp.kernels.plan_arrays import new_plan_state
from driftmdp.mdp import Space
from driftmdp.npz import Arrays


def instance_arrays(arrays: MasterArrays) -> Arrays:
    """Return what MASTER has learned, as arrays by name. Instances that have ended are left out."""
    block, orders = arrays.block[0], arrays.params.orders
    found: Arrays = {
        "block": arrays.block,
        "instances": arrays.instances,
        "last_plan": arrays.last_plan,
        "restarts": arrays.restarts[: int(block["n_restarts"])],
        "generator": arrays.generator,
    }
    for order in _kept(arrays):
        plan_state = part_of(arrays.plan_state, order, orders)
        of_one = memory_arrays(part_of(arrays.counts, order, orders))
        of_one |= {name: getattr(plan_state, name) for name in WHOLE_PLAN_ARRAYS}
        for name in ("touched", "reasons"):
            of_one[name] = getattr(plan_state, name)[: int(plan_state.clock[0][f"n_{name}"])]
        found |= {f"{order}/{name}": array for name, array in of_one.items()}
    return found


def _kept(arrays: MasterArrays) -> list[int]:
    """Return the orders whose instances still matter: those that go on, and the one that acted last."""
    lasts, active = arrays.instances["last"].tolist(), int(arrays.block["active"][0])
    return [order for order, last in enumerate(lasts) if last >= arrays.block["done"][0] or order == active]


def restored_records(new: MasterArrays, arrays: Arrays) -> MasterArrays:
    """Return a new agent's arrays with the block, the list of instances, restarts and generator of a snapshot."""
    for name in ("block", "instances", "last_plan", "restarts", "generator"):
        kind = getattr(new, name).dtype
        require(arrays[name].ndim == 1 and arrays[name].dtype.newbyteorder("=") == kind, f"{name} is wrong")
    restarts = enlarge_restarts(arrays["restarts"].astype(RESTART))
    new = new._replace(restarts=restarts)
    for name in ("block", "instances", "last_plan", "generator"):
        require(arrays[name].shape == getattr(new, name).shape, f"{name} has the wrong size")
        getattr(new, name)[:] = arrays[name]
    require(bool(new.generator.any()), "the generator is wrong")
    _check_block(new, arrays["restarts"].size)
    return new


def _check_block(new: MasterArrays, n_restarts: int) -> None:
    block, lasts, orders = new.block[0], new.instances["last"], new.params.orders
    require(bool(0 <= block["order"] < orders and 0 <= block["active"] < orders), "an order does not exist")
    require(bool(0 <= block["done"] < 1 << int(block["order"])), "the block is wrong")
    require(bool(0 < block["t"] < LATEST and block["done"] < block["t"]), "time is wrong")
    require(bool(block["n_restarts"] == n_restarts), "the restarts are wrong")
    require(bool(np.isin(new.restarts["cause"][:n_restarts], (1, 2, 3)).all()), "a cause does not exist")
    finite = all(np.isfinite(block[name]) for name in ("bound", "excess", "rewards"))
    require(
        bool(finite and not np.isnan(block["closest_1"]) and not np.isnan(block["closest_2"])), "a sum is wrong"
    )
    for name in ("rewards", "widening"):
        require(bool(np.isfinite(new.instances[name]).all()), "a sum is wrong")
    order, active = int(block["order"]), int(block["active"])
    # Blocks only double, so that compiled code never comes to an order that there is no place for.
    require(bool((1 << order) - 1 + block["done"] < block["t"]), "the block is too long")
    require(all(_is_whole(m, last, order) for m, last in enumerate(lasts.tolist())), "an instance is wrong")
    if block["done"] > 0 or block["begun"]:
        # the active one is found by looking for an instance that goes on
        require(bool(lasts[order] >= 0), "the block has no instance")
        require(bool(lasts[active] >= block["done"]) or not block["begun"], "the active instance has ended")


def _is_whole(order: int, last: int, longest: int) -> bool:
    """Return whether an instance of an order may end with a step of a block of 2^longest steps."""
    return last == -1 or (order <= longest and 0 <= last < 1 << longest and (last + 1) % (1 << order) == 0)


def restored_instances(space: Space, new: MasterArrays, arrays: Arrays) -> MasterArrays:
    """Return the arrays with the instances of a snapshot."""
    kept, counts, states = _kept(new), [], []
    for order in range(new.params.orders):
        empty = new_counts(space.n_pairs, 0)
        state = new_plan_state(space.n_states, space.n_pairs, empty.slots.size)
        if order in kept:
            prefix = f"{order}/"
            of_one = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            empty = restored_memory(space, empty, of_one)
            require(empty.tally["window"][0] == 0, "the window is wrong")
            state = restored_plan_state(space, state, empty, of_one)
            require(bool(state.clock["phase"][0] == 0 and state.clock["start"][0] == 0), "time is wrong")
        counts.append(empty)
        states.append(state)
    stacked = stack_counts(counts)
    slots = max(stacked.slots.size // new.params.orders, *(state.touched.size for state in states))
    if slots > stacked.slots.size // new.params.orders:
        stacked = stack_counts(counts, pairs=slots - 1)
    return new._replace(counts=stacked, plan_state=stack_plan_states(states, slots))
