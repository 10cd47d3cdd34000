"""Which state can follow which: reachability and recurrent classes on the positive entries of CSR rows.

An entry that is stored but not positive is no edge: a mixture keeps the union of its anchors' patterns,
and a weight may be zero.
"""

import numpy as np

from driftmdp.compiler import kernel
from driftmdp.kernels.arrays import Bools, Ints, Model


@kernel
def reverse(model: Model) -> tuple[Ints, Ints]:
    """Return, as (pointer, pairs), the pairs that lead to each state with positive probability."""
    indptr, indices, data = model.indptr, model.indices, model.data
    n_states = model.offsets.size - 1
    pointer = np.zeros(n_states + 1, np.int32)
    # A counting sort by state: sizes, then starts, then the pairs in order.
    for z in range(indptr[0], indptr[-1]):
        if data[z] > 0.0:
            pointer[indices[z] + 1] += 1
    for s in range(n_states):
        pointer[s + 1] += pointer[s]
    fill = pointer.copy()
    pairs = np.empty(pointer[-1], np.int32)
    for pair in range(indptr.size - 1):
        for z in range(indptr[pair], indptr[pair + 1]):
            if data[z] > 0.0:
                pairs[fill[indices[z]]] = pair
                fill[indices[z]] += 1
    return pointer, pairs


@kernel
def pair_states(offsets: Ints) -> Ints:
    """Return the state of every pair."""
    owner = np.empty(offsets[-1], np.int32)
    for s in range(offsets.size - 1):
        for pair in range(offsets[s], offsets[s + 1]):
            owner[pair] = s
    return owner


@kernel
def reach(offsets: Ints, pointer: Ints, pairs: Ints, order: Ints, n_reached: int, policy: Ints) -> int:
    """Extend ``order[:n_reached]`` by every state that can reach it, nearest first. Return how many.

    ``policy`` gets, for each added state, an action that leads one step nearer with positive probability.
    """
    owner = pair_states(offsets)
    inside = np.zeros(offsets.size - 1, np.bool_)
    for i in range(n_reached):
        inside[order[i]] = True
    # Breadth first, so that the action that first meets a state leads one step nearer.
    head = 0
    while head < n_reached:
        target = order[head]
        head += 1
        for z in range(pointer[target], pointer[target + 1]):
            s = owner[pairs[z]]
            if not inside[s]:
                inside[s] = True
                policy[s] = pairs[z] - offsets[s]
                order[n_reached] = s
                n_reached += 1
    return n_reached


@kernel
def is_strongly_connected(model: Model) -> bool:
    """Return whether every state can reach every other by some actions: from and to state 0 suffices."""
    return _n_reached_from(model, 0) == model.offsets.size - 1 and _all_reach(model, 0)


@kernel
def _n_reached_from(model: Model, start: int) -> int:
    """Return how many states can be reached from one, itself included."""
    n = model.offsets.size - 1
    seen = np.zeros(n, np.bool_)
    order = np.empty(n, np.int32)
    seen[start] = True
    order[0] = start
    head, n_seen = 0, 1
    while head < n_seen and n_seen < n:
        s = order[head]
        head += 1
        for z in range(model.indptr[model.offsets[s]], model.indptr[model.offsets[s + 1]]):
            j = model.indices[z]
            if model.data[z] > 0.0 and not seen[j]:
                seen[j] = True
                order[n_seen] = j
                n_seen += 1
    return n_seen


@kernel
def _all_reach(model: Model, target: int) -> bool:
    """Return whether every state can reach the target."""
    n = model.offsets.size - 1
    marked = np.zeros(n, np.bool_)
    marked[target] = True
    n_marked = 1
    # A few passes up and down are enough for most MDPs, and need no reversed edges, which cost more.
    for sweep in range(6):
        for i in range(n):
            s = i if sweep % 2 == 0 else n - 1 - i
            if not marked[s] and _leads_to_marked(model, marked, model.offsets[s], model.offsets[s + 1]):
                marked[s] = True
                n_marked += 1
        if n_marked == n:
            return True
    pointer, pairs = reverse(model)
    order = np.empty(n, np.int32)
    order[0] = target
    return reach(model.offsets, pointer, pairs, order, 1, np.empty(n, np.int32)) == n


@kernel
def _leads_to_marked(model: Model, marked: Bools, first: int, last: int) -> bool:
    """Return whether one of the pairs ``first .. last - 1`` has a marked successor."""
    for z in range(model.indptr[first], model.indptr[last]):
        if marked[model.indices[z]] and model.data[z] > 0.0:
            return True
    return False


@kernel
def all_lead_to(model: Model, policy: Ints, target: int) -> bool:
    """Return whether a few passes show that every state leads to the target under ``policy``.

    True is certain. False is not, and the caller asks ``recurrent_classes``, which costs ten times as much.
    """
    n = model.offsets.size - 1
    marked = np.zeros(n, np.bool_)
    marked[target] = True
    n_marked = 1
    for sweep in range(4):
        for i in range(n):
            s = i if sweep % 2 == 0 else n - 1 - i
            pair = model.offsets[s] + policy[s]
            if not marked[s] and _leads_to_marked(model, marked, pair, pair + 1):
                marked[s] = True
                n_marked += 1
        if n_marked == n:
            return True
    return False


@kernel
def recurrent_classes(model: Model, policy: Ints, labels: Ints) -> int:
    """Label each state with its recurrent class under ``policy``, or -1 if transient. Return the count.

    Tarjan's strongly connected components, without recursion. A component is recurrent when no edge
    leaves it.
    """
    offsets, indptr, indices, data = model.offsets, model.indptr, model.indices, model.data
    n = offsets.size - 1
    number = np.zeros(n, np.int32)  # 0: not yet seen
    low = np.zeros(n, np.int32)
    component = np.empty(n, np.int32)
    for s in range(n):
        component[s] = -1
    stack = np.empty(n, np.int32)
    path = np.empty(n, np.int32)
    cursor = np.empty(n, np.int32)
    n_stack, counter, n_components = 0, 0, 0
    for root in range(n):
        entered, depth = root, 0
        while number[root] == 0 or depth > 0:
            if number[entered] == 0:
                counter += 1
                number[entered] = low[entered] = counter
                stack[n_stack], path[depth] = entered, entered
                cursor[depth] = indptr[offsets[entered] + policy[entered]]
                n_stack += 1
                depth += 1
            s, z = path[depth - 1], cursor[depth - 1]
            if z < indptr[offsets[s] + policy[s] + 1]:
                cursor[depth - 1] += 1
                if data[z] > 0.0:
                    entered = indices[z]
                    # A state that is entered already, and still on the stack, closes a cycle.
                    if number[entered] != 0 and component[entered] < 0:
                        low[s] = min(low[s], number[entered])
            else:
                depth -= 1
                if depth > 0:
                    low[path[depth - 1]] = min(low[path[depth - 1]], low[s])
                # No way leads further up: s and all above it on the stack are one component.
                while low[s] == number[s] and component[s] < 0:
                    n_stack -= 1
                    component[stack[n_stack]] = n_components
                n_components += low[s] == number[s]
    class_of = np.zeros(n_components, np.int32)
    for s in range(n):
        pair = offsets[s] + policy[s]
        for z in range(indptr[pair], indptr[pair + 1]):
            if data[z] > 0.0 and component[indices[z]] != component[s]:
                class_of[component[s]] = -1
    n_classes = 0
    for c in range(n_components):
        if class_of[c] == 0:
            class_of[c] = n_classes
            n_classes += 1
    for s in range(n):
        labels[s] = class_of[component[s]]
    return n_classes


@kernel
def find_avoiding_state(model: Model, inside: Bools) -> int:
    """Return a state from which some policy never enters ``inside``, or -1 if there is none."""
    offsets, indptr, indices, data = model.offsets, model.indptr, model.indices, model.data
    n = offsets.size - 1
    outside = np.empty(n, np.bool_)
    for s in range(n):
        outside[s] = not inside[s]
    # The largest set outside where every state keeps an action that stays in the set: states without one are
    # removed until nothing changes.
    changed = True
    while changed:
        changed = False
        for s in range(n):
            if not outside[s]:
                continue
            can_stay = False
            for pair in range(offsets[s], offsets[s + 1]):
                stays = True
                for z in range(indptr[pair], indptr[pair + 1]):
                    stays &= data[z] <= 0.0 or outside[indices[z]]
                can_stay |= stays
            if not can_stay:
                outside[s] = False
                changed = True
    for s in range(n):
        if outside[s]:
            return s
    return -1
