"""A drifting MDP: K ordinary MDPs, the anchors, and weights on them at every step.

    p_t(. | s, a) = sum_k weights[t, k] P_k(. | s, a),    r_t(s, a) = sum_k reward_weights[t, k] R_k(s, a)

So "draw an anchor, then a next state from it" is exactly a draw from p_t. A world that is different at every step
costs its anchors and its weights, never T x pairs x S numbers. The public t is 1 .. T, as in [CSZ20]. Arrays are
0-based.
"""

import copy
import functools
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp.display import counted, safely
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import WorldArrays
from driftmdp.mdp.mdp import Mdp
from driftmdp.mdp.notebook import drifting_html, size_text
from driftmdp.mdp.space import Space
from driftmdp.mdp.sparse import readonly_csr
from driftmdp.mdp.variation import Variation, as_norm, variation
from driftmdp.mdp.weights import Weights, as_horizon
from driftmdp.validation import as_flag, as_integer, as_list, check_type, readonly


class DriftingMdp:
    """A drifting MDP: anchor MDPs, mixed by weights that change with time.

    Parameters
    ----------
    anchors
        K MDPs with the same numbers of states and actions. Alone they need not communicate.
    weights
        A distribution on the anchors for each step: a (T, K) table, a CSR matrix, or the anchor of each step
        as T whole numbers.
    reward_weights
        Weights of the anchors' rewards, any real numbers. By default ``weights``.

    Examples
    --------
    >>> from driftmdp import DriftingMdp, Mdp
    >>> calm = Mdp.from_dense([[0.0], [1.0]], [[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> storm = Mdp.from_dense([[0.0], [1.0]], [[[0.9, 0.1]], [[0.9, 0.1]]])
    >>> world = DriftingMdp([calm, storm], [[1, 0], [0.75, 0.25], [0.5, 0.5]])
    >>> world.at(3).successors(0, 0)
    array([0.7, 0.3])
    >>> round(world.variation().transition, 12)
    0.4
    """

    def __init__(self, anchors: Sequence[Mdp], weights: Any, reward_weights: Any = None) -> None:
        _refuse_mdps(weights, "weights", "DriftingMdp(anchors, weights)")
        anchors = _checked_anchors(anchors)
        self._space = anchors[0].space
        self._weights = Weights.parse(weights, len(anchors), "weights", distribution=True)
        self._reward_weights = self._weights
        if reward_weights is not None:
            self._reward_weights = Weights.parse(reward_weights, len(anchors), "reward_weights", distribution=False)
            if self._reward_weights.horizon != self.horizon:
                rule = f"reward_weights must cover the {self.horizon} steps of weights"
                raise InvalidInputError(f"{rule}; got {self._reward_weights.horizon}.")
        self._anchor_rewards = np.stack([anchor.rewards for anchor in anchors])
        if not self.rewards_follow_transitions:
            _check_means(self._reward_weights, self._anchor_rewards)
        self._anchor_transitions = _stack(anchors)

    @classmethod
    def from_sequence(cls, mdps: Iterable[Mdp]) -> Self:
        """Return the world that is ``mdps[t - 1]`` at step t. Repeated objects are stored once."""
        anchors, index = _distinct(mdps)
        return cls(anchors, index)

    @classmethod
    def piecewise(cls, mdps: Sequence[Mdp], change_points: Sequence[int], horizon: int | None = None) -> Self:
        """Return the world that is ``mdps[i]`` until just before step ``change_points[i]``.

        The last MDP lasts to ``horizon``. Without a horizon, it lasts to just before the last change point.

        Examples
        --------
        >>> from driftmdp import DriftingMdp, Mdp, Space
        >>> one, two = (Mdp(Space.uniform(1, 1), [reward], [[1.0]]) for reward in (1, 2))
        >>> world = DriftingMdp.piecewise([one, two], [4], horizon=5)
        >>> [world.at(t).reward(0, 0) for t in range(1, 6)]
        [1.0, 1.0, 1.0, 2.0, 2.0]
        >>> DriftingMdp.piecewise([one, two], [4, 6]).horizon
        5
        """
        _refuse_mdps(change_points, "change_points", "DriftingMdp.piecewise(mdps, change_points)")
        anchors, index = _distinct(mdps)
        change_points = as_list(change_points, "change_points", "a list of steps")
        ends = [as_horizon(point, name="change_points") for point in change_points]
        if horizon is not None:
            ends.append(as_horizon(horizon) + 1)
        if len(ends) != index.size:
            rule = f"change_points must be {index.size - 1} with a horizon, or {index.size} without one"
            raise InvalidInputError(f"{rule} (the last ends the world); got {len(change_points)}.")
        lengths = np.diff([1, *ends])
        if (lengths < 1).any():
            raise InvalidInputError(f"change_points must increase and lie in 2 .. horizon; got {change_points}.")
        return cls(anchors, np.repeat(index, lengths))

    @classmethod
    def stationary(cls, mdp: Mdp, horizon: int) -> Self:
        """Return the world that never changes."""
        _refuse_mdps(horizon, "horizon", "DriftingMdp.stationary(mdp, horizon)")
        return cls([mdp], np.zeros(as_horizon(horizon), dtype=np.int32))

    @property
    def space(self) -> Space:
        """The states and actions."""
        return self._space

    @property
    def horizon(self) -> int:
        """The number of steps, T."""
        return self._weights.horizon

    @property
    def n_anchors(self) -> int:
        """The number of anchors, K."""
        return len(self._anchor_rewards)

    @property
    def weights(self) -> Weights:
        """The anchors' weights in the transitions."""
        return self._weights

    @property
    def reward_weights(self) -> Weights:
        """The anchors' weights in the rewards."""
        return self._reward_weights

    @property
    def rewards_follow_transitions(self) -> bool:
        """Whether rewards have no weights of their own."""
        return self._reward_weights is self._weights

    @property
    def anchor_rewards(self) -> NDArray[np.float64]:
        """Rewards of all anchors, shape (K, n_pairs), read-only."""
        return readonly(self._anchor_rewards)

    @property
    def anchor_transitions(self) -> sp.csr_array:
        """Transitions of all anchors, one below the other: CSR of shape (K n_pairs, S), read-only."""
        return readonly_csr(self._anchor_transitions)

    def anchor(self, k: int) -> Mdp:
        """Return anchor ``k``, whose arrays are views."""
        k = as_integer(k, "k", 0, self.n_anchors - 1)
        n_pairs = self._space.n_pairs
        indptr = self._anchor_transitions.indptr[k * n_pairs : (k + 1) * n_pairs + 1]
        entries = slice(indptr[0], indptr[-1])
        data, indices = self._anchor_transitions.data[entries], self._anchor_transitions.indices[entries]
        rows = sp.csr_array((data, indices, indptr - indptr[0]), shape=(n_pairs, self._space.n_states))
        return Mdp._trusted(self._space, self._anchor_rewards[k], rows)

    @property
    def anchors(self) -> tuple[Mdp, ...]:
        """All anchors."""
        return tuple(self.anchor(k) for k in range(self.n_anchors))

    def at(self, t: int) -> Mdp:
        """Return the MDP of step t, 1 <= t <= T."""
        step = as_integer(t, "t", 1, self.horizon) - 1
        return Mdp._trusted(self._space, self.rewards_at(t), self._transitions_at(step))

    def rewards_at(self, t: int) -> NDArray[np.float64]:
        """Return r_t of every pair."""
        anchors, weights = self._reward_weights.row(as_integer(t, "t", 1, self.horizon) - 1)
        return np.asarray(weights @ self._anchor_rewards[anchors])

    def _transitions_at(self, step: int) -> sp.csr_array:
        anchors, weights = self._weights.row(step)
        if anchors.size == 1:
            return self.anchor(int(anchors[0]))._transitions
        position, indptr, indices = self._union
        data = np.zeros(indices.size)
        n_pairs = self._space.n_pairs
        stacked = self._anchor_transitions
        for k, weight in zip(anchors, weights, strict=True):
            entries = slice(stacked.indptr[k * n_pairs], stacked.indptr[(k + 1) * n_pairs])
            data[position[entries]] += weight * stacked.data[entries]
        matrix = copy.copy(self._mixed)
        matrix.data, matrix.indices, matrix.indptr = data, indices.copy(), indptr.copy()
        if not data.all():
            matrix.eliminate_zeros()
        return matrix

    @functools.cached_property
    def _mixed(self) -> sp.csr_array:
        """A matrix with the union's pattern. To copy it takes a tenth of the time that scipy takes to make one."""
        _, indptr, indices = self._union
        return sp.csr_array(
            (np.zeros(indices.size), indices, indptr), shape=(self._space.n_pairs, self._space.n_states)
        )

    @functools.cached_property
    def _union(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Each anchor entry's index in the union of the anchors' sparsity patterns, and its indptr and indices."""
        n_pairs, n_states = self._space.n_pairs, self._space.n_states
        if self._weights.has_one_anchor_per_step:
            return np.empty(0, np.int32), np.zeros(n_pairs + 1, np.int32), np.empty(0, np.int32)
        stacked = self._anchor_transitions
        pair = np.repeat(np.arange(stacked.shape[0]) % n_pairs, np.diff(stacked.indptr))
        cells, position = np.unique(pair * n_states + stacked.indices, return_inverse=True)
        indptr = np.searchsorted(cells, np.arange(n_pairs + 1) * n_states)
        return position.astype(np.int32), indptr.astype(np.int32), (cells % n_states).astype(np.int32)

    @functools.cached_property
    def world(self) -> WorldArrays:
        """The whole world as plain arrays, for kernels."""
        return WorldArrays(
            self._space._offsets,
            self._anchor_rewards,
            *_csr_parts(self._anchor_transitions),
            *self._union,
            *_csr_parts(self._weights.arrays),
            *_csr_parts(self._reward_weights.arrays),
        )

    def between(self, first: int, last: int) -> Self:
        """Return the world from step ``first`` to step ``last``, both included, numbered from 1."""
        first = as_integer(first, "first", 1, self.horizon)
        last = as_integer(last, "last", first, self.horizon)
        part = copy.copy(self)  # without cached arrays, as __getstate__ drops them
        part._weights = part._reward_weights = self._weights.between(first - 1, last)
        if not self.rewards_follow_transitions:
            part._reward_weights = self._reward_weights.between(first - 1, last)
        return part

    def distinct_steps(self, rewards: bool = True) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Group the steps with equal weights.

        Parameters
        ----------
        rewards
            Whether the rewards' weights must be equal too.

        Returns
        -------
        steps
            The first 0-based step of each group, ascending.
        group
            The group of each step, shape (T,): ``at(t)`` equals ``at(steps[group[t - 1]] + 1)``.
        """
        compared = [self._weights]
        if as_flag(rewards, "rewards") and not self.rewards_follow_transitions:
            compared.append(self._reward_weights)
        keys = np.zeros(self.horizon, np.int64)
        for labels in (weights.labels() for weights in compared):
            keys = keys * (int(labels.max()) + 1) + labels
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        # Rows that differ by rounding may share a label: each of those is a group of its own.
        alone = np.any([weights.differ(first[inverse]) for weights in compared], axis=0)
        representative = np.where(alone, np.arange(self.horizon), first[inverse])
        steps, group = np.unique(representative, return_inverse=True)
        return steps.astype(np.int32), group

    def variation(self, reward_norm: float = np.inf, transition_norm: float = 1) -> Variation:
        """Return the exact variation budgets B_r and B_p, [CSZ20] eq:variation_budgets.

        Parameters
        ----------
        reward_norm
            The norm of r_{t+1} - r_t over pairs: ``inf`` (the paper's), 1 or 2.
        transition_norm
            The norm of p_{t+1}(.|s,a) - p_t(.|s,a): 1 (the paper's), 2 or ``inf``. The largest over pairs counts.
            The paper's remark on norms allows the others.
        """
        norms = as_norm(reward_norm, "reward_norm"), as_norm(transition_norm, "transition_norm")
        return self._paper_variation if norms == (np.inf, 1) else variation(self, *norms)

    @functools.cached_property
    def _paper_variation(self) -> Variation:
        return variation(self, np.inf, 1.0)

    def __repr__(self) -> str:
        size = f"{counted(self.horizon, 'step')}, {counted(self.n_anchors, 'anchor')}, {size_text(self._space)}"
        return f"<DriftingMdp: {size}>"

    _repr_html_ = safely(drifting_html)

    def __getstate__(self) -> dict[str, Any]:
        cached = ("world", "_union", "_mixed", "_paper_variation")
        return {name: value for name, value in self.__dict__.items() if name not in cached}


def _distinct(mdps: Iterable[Mdp]) -> tuple[list[Mdp], NDArray[np.int32]]:
    """Return each object once, and the index of the object at each position."""
    sequence = list(_checked_anchors(mdps))
    anchors = {id(mdp): mdp for mdp in sequence}
    index = {key: k for k, key in enumerate(anchors)}
    return list(anchors.values()), np.array([index[id(mdp)] for mdp in sequence], dtype=np.int32)


def _refuse_mdps(value: Any, name: str, call: str) -> None:
    """Raise if MDPs were passed where numbers belong."""
    first = value[0] if isinstance(value, Sequence) and value else value
    if isinstance(first, Mdp):
        raise InvalidInputError(f"{name} must be numbers; got an Mdp. The arguments look swapped: write {call}.")


def _checked_anchors(anchors: Iterable[Mdp]) -> Sequence[Mdp]:
    if isinstance(anchors, Mdp):
        raise InvalidInputError("anchors must be a list of Mdp; got one Mdp. Use DriftingMdp.stationary.")
    anchors = as_list(anchors, "anchors", "a list of Mdp")
    if not anchors:
        raise InvalidInputError("anchors must hold at least one Mdp; got none.")
    for k, anchor in enumerate(anchors):
        check_type(anchor, Mdp, f"anchors[{k}] must be an Mdp")
        if not np.array_equal(anchor.space.n_actions, anchors[0].space.n_actions):
            rule = f"anchors[{k}] must have the states and actions of anchors[0], {anchors[0].space!r}"
            raise InvalidInputError(f"{rule}; got {anchor.space!r}.")
    return anchors


def _check_means(weights: Weights, rewards: NDArray[np.float64]) -> None:
    """Raise if these weights could make some r_t infinite."""
    with np.errstate(over="ignore"):
        largest = float(abs(weights.arrays).sum(axis=1).max()) * float(np.abs(rewards).max())
    if not np.isfinite(largest):
        raise InvalidInputError("reward_weights must keep every r_t finite; times the rewards, they overflow.")


def _csr_parts(matrix: sp.csr_array) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    return matrix.indptr, matrix.indices, matrix.data


def _stack(anchors: Sequence[Mdp]) -> sp.csr_array:
    stored = sum(anchor.transitions.nnz for anchor in anchors)
    if stored >= 2**31:
        raise InvalidInputError(f"anchors must hold fewer than 2^31 successors in all; got {stored}.")
    stacked = sp.csr_array(sp.vstack([anchor.transitions for anchor in anchors], format="csr"))
    stacked.indptr, stacked.indices = stacked.indptr.astype(np.int32), stacked.indices.astype(np.int32)
    return stacked
