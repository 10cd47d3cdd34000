"""What notebooks show of worlds: a table of a small one, the size of a large one, how its weights move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from driftmdp.display import MOST_ROWS, Html, counted, facts, short, sparkline, table

if TYPE_CHECKING:
    from driftmdp.mdp.drifting import DriftingMdp
    from driftmdp.mdp.mdp import Mdp
    from driftmdp.mdp.problem import Problem
    from driftmdp.mdp.space import Space
    from driftmdp.mdp.weights import Weights

SHOWN_SUCCESSORS = 4
MOST_STEPS = 20_000  # of which the weights are looked at


def space_view(space: Space) -> str:
    """Return the names of a small space, the size of any other."""
    if space.n_states > MOST_ROWS or not (space.state_names or space.action_names):
        return facts("Space", **_size(space))
    rows = [(space.state_name(s), _actions_of(space, s)) for s in range(space.n_states)]
    return table(["state", "actions"], rows, f"Space: {_counts(space)}")


def mdp_view(mdp: Mdp) -> str:
    """Return reward and successors of every pair, or the size if there are many pairs."""
    space, n_successors = mdp.space, mdp.transitions.nnz
    if space.n_pairs > MOST_ROWS:
        rewards = f"{mdp.rewards.min():g} to {mdp.rewards.max():g}"
        return facts("Mdp", **_size(space), successors=n_successors, rewards=rewards)
    rows = [_pair_row(mdp, pair) for pair in range(space.n_pairs)]
    size = f"{_counts(space)}, {counted(n_successors, 'successor')}"
    return table(["state", "action", "reward", "next states"], rows, f"Mdp: {size}")


def _counts(space: Space) -> str:
    return f"{counted(space.n_states, 'state')}, {counted(space.n_pairs, 'pair')}"


def drifting_view(drifting: DriftingMdp) -> str:
    """Return its size, and how its weights move."""
    return facts("DriftingMdp", **_drift(drifting))


def problem_view(problem: Problem) -> str:
    """Return what is known of a problem without solving it."""
    low, high = problem.reward_range
    noise = problem.noise
    return facts(
        f"Problem {problem.name}",
        about=problem.description or None,
        made_from=", ".join(f"{name}={short(value)}" for name, value in problem.parameters.items()) or None,
        start=problem.space.state_name(problem.start),
        noise=f"gaussian({noise.sigma:g})" if noise.kind == "gaussian" else noise.kind,
        reward_range=f"{low:g} to {high:g}",
        **_drift(problem.drifting),
    )


def _size(space: Space) -> dict[str, Any]:
    low, high = int(space.n_actions.min()), int(space.n_actions.max())
    actions = f"{low}" if low == high else f"{low} to {high}"
    return {"states": space.n_states, "actions": actions, "pairs": space.n_pairs}


def _drift(drifting: DriftingMdp) -> dict[str, Any]:
    rewards = drifting.anchor_rewards
    own = None if drifting.rewards_follow_transitions else _sketch(drifting.reward_weights)
    return {
        "steps": drifting.horizon,
        "anchors": drifting.n_anchors,
        **_size(drifting.space),
        "rewards_of_anchors": f"{rewards.min():g} to {rewards.max():g}",
        "weights": _sketch(drifting.weights),
        "weights_of_rewards": own,
    }


def _sketch(weights: Weights) -> Html | None:
    """Return the anchor of each step, or the weight of the anchor whose weight moves most, as a line."""
    steps = np.unique(np.linspace(0, weights.horizon - 1, min(weights.horizon, MOST_STEPS)).astype(int))
    if weights.index is not None:
        return sparkline(weights.index[steps], "the anchor of each step") or None
    rows = weights.arrays[steps]
    spread = (rows.max(axis=0) - rows.min(axis=0)).toarray().ravel()
    k = int(np.argmax(spread))
    return sparkline(rows[:, [k]].toarray(), f"the weight of anchor {k}, which moves most") or None


def _actions_of(space: Space, state: int) -> str:
    count = int(space.n_actions[state])
    names = [space.action_name(state, action) for action in range(min(count, MOST_ROWS))]
    return ", ".join(names + ([f"and {count - MOST_ROWS} more"] if count > MOST_ROWS else []))


def _pair_row(mdp: Mdp, pair: int) -> tuple[Any, ...]:
    s, a = mdp.space.state_and_action(pair)
    return mdp.space.state_name(s), mdp.space.action_name(s, a), mdp.rewards[pair], _successors(mdp, pair)


def _successors(mdp: Mdp, pair: int) -> str:
    """Return the likeliest next states of a pair."""
    model = mdp.arrays
    row = slice(model.indptr[pair], model.indptr[pair + 1])
    likely = sorted(zip(-model.data[row], model.indices[row], strict=True))
    words = [f"{mdp.space.state_name(s)}: {-chance:.4g}" for chance, s in likely[:SHOWN_SUCCESSORS]]
    more = [f"and {len(likely) - SHOWN_SUCCESSORS} more"] if len(likely) > SHOWN_SUCCESSORS else []
    return ", ".join(words + more)
