"""quantecon's ``DiscreteDP``: by state-action pairs, or a product with minus infinity where there is no action."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Mdp, Space
from driftmdp.mdp.sparse import sound_csr
from driftmdp.planning.inputs import as_mdp
from driftmdp.validation import as_number, as_numbers, as_table, one_of, shown

FORMS = ("pairs", "product")


def from_quantecon(ddp: Any) -> Mdp:
    """Return the MDP of a ``quantecon.markov.DiscreteDP``, in any of its forms; the discount is left behind.

    Infeasible actions, whose reward is minus infinity, are not on offer; the others are numbered anew from 0.

    Parameters
    ----------
    ddp
        A ``DiscreteDP``, or any object with ``R``, ``Q``, ``s_indices`` and ``a_indices``.

    Examples
    --------
    >>> from quantecon.markov import DiscreteDP
    >>> from_quantecon(DiscreteDP([[0, -np.inf], [1, 2]], [[[0, 1], [0, 0]], [[1, 0], [0, 1]]], 0.9))
    <Mdp: 2 states, 3 pairs, 3 successors, rewards in [0, 2]>
    """
    for name in ("R", "Q", "s_indices", "a_indices"):
        if not hasattr(ddp, name):
            raise InvalidInputError(f"ddp must be a quantecon DiscreteDP; got {shown(ddp)}, which has no {name}.")
    rewards = as_numbers(ddp.R, "ddp.R")
    if ddp.s_indices is None:
        return Mdp.from_dense(np.where(rewards == -np.inf, 0.0, rewards), ddp.Q, rewards > -np.inf)
    rows = sound_csr(ddp.Q, "ddp.Q")
    states, actions = (as_table(getattr(ddp, name), f"ddp.{name}") for name in ("s_indices", "a_indices"))
    if not rewards.shape == states.shape == actions.shape == rows.shape[:1] or states.dtype.kind not in "iu":
        raise InvalidInputError(
            f"ddp must have a reward, a state and an action for each of its {rows.shape[0]} pairs; got "
            f"{rewards.shape}, {states.shape} and {actions.shape}."
        )
    if not ((states >= 0) & (states < rows.shape[1])).all():
        raise InvalidInputError(f"ddp.s_indices must be states in 0 .. {rows.shape[1] - 1}.")
    order = np.lexsort((actions, states))
    order = order[rewards[order] > -np.inf]
    counts = np.bincount(states[order], minlength=rows.shape[1])
    return Mdp(Space(counts), rewards[order], rows[order])


def to_quantecon(mdp: Mdp, beta: float, form: str = "pairs") -> Any:
    """Return a ``quantecon.markov.DiscreteDP``; ``from_quantecon`` gives the same MDP back, without names.

    Parameters
    ----------
    mdp
        The MDP.
    beta
        The discount factor, in [0, 1): quantecon has no average reward.
    form
        ``"pairs"``, sparse; or ``"product"``, dense arrays (S, A) and (S, A, S).

    Raises
    ------
    InvalidInputError
        If an argument is wrong.
    ModuleNotFoundError
        If quantecon is not installed.

    Examples
    --------
    >>> from driftmdp import Space
    >>> ddp = to_quantecon(Mdp(Space.uniform(1, 2), [0, 1], [[1], [1]]), beta=0.5)
    >>> ddp.solve(method="policy_iteration").v
    array([2.])
    """
    known = one_of(form, "form", FORMS)
    discount = as_number(beta, "beta", 0.0, 1.0)
    if discount == 1.0:
        raise InvalidInputError("beta must be below 1, as quantecon has no average reward; got 1.")
    try:
        from quantecon.markov import DiscreteDP
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_quantecon needs the package 'quantecon'. Run: pip install quantecon"
        ) from None
    if known == "product":
        rewards, transitions, _ = as_mdp(mdp).to_dense()
        return DiscreteDP(rewards, transitions, discount)
    states = as_mdp(mdp).space.pair_states
    actions = np.arange(mdp.space.n_pairs) - mdp.space.offsets[states]
    return DiscreteDP(mdp.rewards.copy(), sp.csr_matrix(mdp.transitions.copy()), discount, states, actions)
