"""One ordinary Markov decision process: a reward and a next-state distribution per pair.

===========  ===========  ===============  ==========================
symbol       name here    shape            where
===========  ===========  ===============  ==========================
r(s, a)      rewards      (n_pairs,)       [CSZ20] Section 2.2
p(s'|s, a)   transitions  (n_pairs, S)     [CSZ20] Section 2.2
===========  ===========  ===============  ==========================

Transitions are kept as one CSR matrix, whatever form they came in: every kernel reads the same three
arrays, and a pair costs its successors (docs/decisions/0002).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp.display import counted, safely
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Model
from driftmdp.mdp.notebook import mdp_html, size_text
from driftmdp.mdp.space import Space
from driftmdp.mdp.sparse import check_distributions, readonly_csr, sound_csr
from driftmdp.system import require_memory
from driftmdp.validation import as_numbers, as_table, check_type, readonly, shown


class Mdp:
    """Rewards and transitions per state-action pair.

    Parameters
    ----------
    space
        The states and actions.
    rewards
        Mean reward of each pair, shape (n_pairs,). Entry ``space.pair(s, a)`` is r(s, a).
    transitions
        Next-state distribution of each pair, shape (n_pairs, n_states), dense or any scipy sparse form.
        A row that misses 1 by more than rounding, but by at most 1e-9, is divided by its sum.

    Raises
    ------
    InvalidInputError
        If a shape is wrong, a number is not finite, a probability is negative, or a row does not sum to
        1 within 1e-9. The message names the state and the action.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> switch = Mdp(Space.uniform(2, 2), [0, 0, 1, 0], [[1, 0], [0, 1], [0, 1], [1, 0]])
    >>> switch
    <Mdp: 2 states, 4 pairs, 4 successors, rewards in [0, 1]>
    >>> Mdp(Space.uniform(1, 1), [0], [[0.982]])
    Traceback (most recent call last):
    driftmdp.errors.InvalidInputError: transitions[s=0, a=0] must sum to 1; got 0.982.
    """

    __slots__ = ("_rewards", "_space", "_transitions")

    def __init__(self, space: Space, rewards: ArrayLike, transitions: Any) -> None:
        check_type(space, Space, "space must be a Space", " Write Mdp(space, rewards, transitions).")
        _refuse_swapped(rewards, transitions, 1, "Mdp(space, rewards, transitions)")
        self._space = space
        self._rewards = _checked_rewards(space, rewards)
        self._transitions = _checked_transitions(space, transitions)

    @classmethod
    def from_dense(cls, rewards: ArrayLike, transitions: ArrayLike, available: ArrayLike | None = None) -> Mdp:
        """Build an MDP from [S, A] rewards and [S, A, S] transitions.

        Parameters
        ----------
        rewards, transitions
            Tables by state and action. Entries of unavailable pairs are ignored.
        available
            Which actions each state offers, boolean [S, A]. All by default. The available actions of a
            state are numbered from 0.

        Examples
        --------
        >>> from driftmdp import Mdp
        >>> mdp = Mdp.from_dense([[0, 9], [1, 0]], [[[0, 1], [0, 0]], [[0, 1], [1, 0]]],
        ...                      available=[[True, False], [True, True]])
        >>> mdp.space.n_actions
        array([1, 2], dtype=int32)
        """
        _refuse_swapped(rewards, transitions, 2, "Mdp.from_dense(rewards, transitions)")
        r, p = _as_table(rewards, "rewards", 2), _as_table(transitions, "transitions", 3)
        n_states, n_actions = r.shape
        shape = n_states, n_actions, n_states
        if p.shape != shape:
            raise InvalidInputError(f"transitions must have shape [S, A, S] = {shape}, as rewards; got {p.shape}.")
        mask = as_mask(available, r.shape)
        return cls(Space(mask.sum(axis=1)), r[mask], p[mask])

    @classmethod
    def _trusted(cls, space: Space, rewards: NDArray[np.float64], transitions: sp.csr_array) -> Mdp:
        """Wrap arrays that are known to be valid, without a copy."""
        mdp = object.__new__(cls)
        mdp._space, mdp._rewards, mdp._transitions = space, rewards, transitions
        return mdp

    @property
    def space(self) -> Space:
        """The states and actions."""
        return self._space

    @property
    def rewards(self) -> NDArray[np.float64]:
        """Mean reward per pair, shape (n_pairs,), read-only."""
        return readonly(self._rewards)

    @property
    def transitions(self) -> sp.csr_array:
        """Next-state distribution per pair, CSR of shape (n_pairs, n_states), read-only."""
        return readonly_csr(self._transitions)

    @property
    def arrays(self) -> Model:
        """The arrays themselves, as kernels take them. Never write to them."""
        p = self._transitions
        return Model(self._space._offsets, self._rewards, p.indptr, p.indices, p.data)

    def reward(self, state: int, action: int) -> float:
        """Return r(s, a)."""
        return float(self._rewards[self._space.pair(state, action)])

    def successors(self, state: int, action: int) -> NDArray[np.float64]:
        """Return p(. | s, a) as a dense vector of length S."""
        pair = self._space.pair(state, action)
        _, _, indptr, indices, data = self.arrays
        row = np.zeros(self._space.n_states)
        entries = slice(indptr[pair], indptr[pair + 1])
        row[indices[entries]] = data[entries]
        return row

    def to_dense(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return [S, A] rewards, [S, A, S] transitions and the [S, A] mask of available actions.

        Unavailable pairs have reward minus infinity and no successors.
        """
        n_states, width = self._space.n_states, int(self._space.n_actions.max())
        available = np.arange(width) < self._space.n_actions[:, None]
        rewards = np.full((n_states, width), -np.inf)
        require_memory(8 * n_states * width * n_states, f"A dense table of {n_states:,} states")
        transitions = np.zeros((n_states, width, n_states))
        rewards[available] = self._rewards
        transitions[available] = self._transitions.toarray()
        return rewards, transitions, available

    def __repr__(self) -> str:
        size = f"{size_text(self._space)}, {counted(self._transitions.nnz, 'successor')}"
        return f"<Mdp: {size}, rewards in [{self._rewards.min():g}, {self._rewards.max():g}]>"

    _repr_html_ = safely(mdp_html)

    def __reduce__(self) -> tuple[Any, ...]:
        return Mdp._trusted, (self._space, self._rewards, self._transitions)


def as_mask(available: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Validate which actions are available. None means all."""
    mask = np.ones(shape, bool) if available is None else as_table(available, "available")
    if mask.shape != shape or mask.dtype != bool:
        raise InvalidInputError(f"available must be a boolean table of shape {shape}; got {shown(mask)}.")
    return mask


def _refuse_swapped(rewards: Any, transitions: Any, n_axes: int, call: str) -> None:
    """Raise if rewards have the number of axes of transitions, and transitions that of rewards."""
    try:
        r, p = np.shape(rewards), np.shape(transitions)
    except (TypeError, ValueError):  # not tables: reported elsewhere
        return
    if (len(r), len(p)) == (n_axes + 1, n_axes):
        rule = f"rewards must have {n_axes} and transitions {n_axes + 1} axes"
        raise InvalidInputError(f"{rule}; got shapes {r} and {p}. The arguments look swapped: write {call}.")


def _as_table(values: ArrayLike, name: str, n_axes: int) -> NDArray[np.float64]:
    numbers = as_numbers(values, name, "a regular table of real numbers")
    if numbers.ndim != n_axes or numbers.size == 0:
        hints = {
            "transitions": " For an [S, A, S] table use Mdp.from_dense.",
            "rewards": " For rewards by next state, take their means: (transitions * rewards).sum(axis=2).",
        }
        hint = hints[name] if (n_axes, numbers.ndim) == (2, 3) else ""
        rule = f"{name} must be a table with {n_axes} axes, none empty"
        raise InvalidInputError(f"{rule}; got shape {numbers.shape}.{hint}")
    return numbers


def _checked_rewards(space: Space, rewards: ArrayLike) -> NDArray[np.float64]:
    values = as_numbers(rewards, "rewards", f"numbers of shape (n_pairs,) = ({space.n_pairs},)")
    if values.shape != (space.n_pairs,):
        rule = f"rewards must have shape (n_pairs,) = ({space.n_pairs},)"
        raise InvalidInputError(f"{rule}; got {values.shape}. For an [S, A] table use Mdp.from_dense.")
    if not np.isfinite(values).all():
        pair = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInputError(f"rewards[{space.where(pair)}] must be finite; got {values[pair]}.")
    return values


def _checked_transitions(space: Space, transitions: Any) -> sp.csr_array:
    if not sp.issparse(transitions):
        transitions = _as_table(transitions, "transitions", 2)
    shape = space.n_pairs, space.n_states
    if transitions.shape != shape:
        rule = f"transitions must have shape (n_pairs, n_states) = {shape}"
        raise InvalidInputError(f"{rule}; got {transitions.shape}. For an [S, A, S] table use Mdp.from_dense.")
    matrix = sound_csr(transitions, "transitions")
    check_distributions(matrix, lambda pair: f"transitions[{space.where(pair)}]", "state")
    matrix.eliminate_zeros()
    return matrix
