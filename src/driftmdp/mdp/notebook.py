"""How notebooks show worlds: a table of a small one, the size of a large one, and how its weights move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from driftmdp.display import MOST_ROWS, Html, counted, facts, short, sparkline, table

if TYPE_CHECKING:
    from driftmdp.mdp import DriftingMdp, Mdp, Problem, Space
    from driftmdp.mdp.weights import Weights

SHOWN_SUCCESSORS = 4
SAMPLED_STEPS = 20_000  # of a longer world, the curve of weights is drawn from this many steps


def space_html(space: Space) -> str:
    """Return the names of a small space, the size of any other."""
    if space.n_states > MOST_ROWS or not (space.state_names or space.action_names):
        return facts("Space", **_size(space))
    rows = [(space.state_name(s), _action_names(space, s)) for s in range(space.n_states)]
    return table(["state", "actions"], rows, f"Space: {size_text(space)}")


def mdp_html(mdp: Mdp) -> str:
    """Return reward and successors of every pair, or the size if there are many pairs."""
    space, n_successors = mdp.space, mdp.transitions.nnz
    if space.n_pairs > MOST_ROWS:
        return facts("Mdp", **_size(space), successors=n_successors, rewards=_range(mdp.rewards))
    rows = []
    for pair in range(space.n_pairs):
        s, a = space.state_and_action(pair)
        rows.append((space.state_name(s), space.action_name(s, a), mdp.rewards[pair], _successors(mdp, pair)))
    size = f"{size_text(space)}, {counted(n_successors, 'successor')}"
    return table(["state", "action", "reward", "next states"], rows, f"Mdp: {size}")


def drifting_html(drifting: DriftingMdp) -> str:
    """Return the size of a drifting MDP, and how its weights move."""
    return facts("DriftingMdp", **_drift(drifting))


def problem_html(problem: Problem) -> str:
    """Return what a problem was made from, without solving it."""
    return facts(
        f"Problem {problem.name}",
        about=problem.description or None,
        made_from=", ".join(f"{name}={short(value)}" for name, value in problem.parameters.items()) or None,
        start=problem.space.state_name(problem.start),
        noise=str(problem.noise),
        reward_range=_range(np.array(problem.reward_range)),
        **_drift(problem.drifting),
    )


def size_text(space: Space) -> str:
    """Return the numbers of states and pairs in words."""
    return f"{counted(space.n_states, 'state')}, {counted(space.n_pairs, 'pair')}"


def _range(numbers: np.ndarray[Any, Any]) -> str:
    return f"{numbers.min():g} to {numbers.max():g}"


def _size(space: Space) -> dict[str, Any]:
    low, high = int(space.n_actions.min()), int(space.n_actions.max())
    actions = f"{low}" if low == high else f"{low} to {high}"
    return {"states": space.n_states, "actions": actions, "pairs": space.n_pairs}


def _drift(drifting: DriftingMdp) -> dict[str, Any]:
    own = None if drifting.rewards_follow_transitions else _weight_curve(drifting.reward_weights)
    return {
        "steps": drifting.horizon,
        "anchors": drifting.n_anchors,
        **_size(drifting.space),
        "rewards_of_anchors": _range(drifting.anchor_rewards),
        "weights": _weight_curve(drifting.weights),
        "weights_of_rewards": own,
    }


def _weight_curve(weights: Weights) -> Html | None:
    """Draw the anchor of each step, or the weight of the anchor whose weight moves most."""
    steps = np.unique(np.linspace(0, weights.horizon - 1, min(weights.horizon, SAMPLED_STEPS)).astype(int))
    if weights.index is not None:
        return sparkline(weights.index[steps], "the anchor of each step") or None
    rows = weights.arrays[steps]
    spread = (rows.max(axis=0) - rows.min(axis=0)).toarray().ravel()
    k = int(np.argmax(spread))
    return sparkline(rows[:, [k]].toarray(), f"the weight of anchor {k}, which moves most") or None


def _action_names(space: Space, state: int) -> str:
    count = int(space.n_actions[state])
    return _first([space.action_name(state, action) for action in range(min(count, MOST_ROWS))], count)


def _successors(mdp: Mdp, pair: int) -> str:
    """Return the most likely next states of a pair."""
    model = mdp.arrays
    row = slice(model.indptr[pair], model.indptr[pair + 1])
    likely = sorted(zip(-model.data[row], model.indices[row], strict=True))
    shown = [f"{mdp.space.state_name(s)}: {-chance:.4g}" for chance, s in likely[:SHOWN_SUCCESSORS]]
    return _first(shown, len(likely))


def _first(words: list[str], count: int) -> str:
    """Return the first words of a list of ``count``, and how many more there are."""
    return ", ".join(words + ([f"and {count - len(words)} more"] if count > len(words) else []))
