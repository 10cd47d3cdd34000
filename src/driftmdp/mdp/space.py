"""States, the actions that each offers, and the flat index of their pairs.

===========  ==============  ==========  ==========================================
symbol       name here       shape       where
===========  ==============  ==========  ==========================================
S            n_states        int         [CSZ20] Section 2.2
|A_s|        n_actions       (S,)        [CSZ20] Section 2.2, may differ by state
sum |A_s|    n_pairs         int         S times [CSZ20]'s average A
(s, a)       offsets[s] + a  int         the flat pair index used by every per-pair array
===========  ==============  ==========  ==========================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from driftmdp.display import counted, safely
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Ints
from driftmdp.mdp.notebook import space_html
from driftmdp.system import require_memory
from driftmdp.validation import as_integer, as_table, check_type, readonly, shown

ActionNames = Sequence[str] | Sequence[Sequence[str]] | None  # for all states, or for each
BYTES_PER_STATE = 20  # while a space is made


class Space:
    """States and the actions that each offers. The number of actions may differ by state.

    Parameters
    ----------
    n_actions
        How many actions each state offers, at least one.
    state_names
        A name per state, for display only.
    action_names
        Names per state, or one list that every state takes its first names from.

    Examples
    --------
    >>> from driftmdp import Space
    >>> shop = Space([3, 2, 1])  # a shelf for two: with s units on it, order 0 .. 2 - s
    >>> shop.n_states, shop.n_pairs, shop.pair(1, 1)
    (3, 6, 4)
    >>> shop.state_and_action(4)
    (1, 1)
    """

    __slots__ = ("_action_names", "_n_actions", "_offsets", "_state_names")

    def __init__(
        self, n_actions: ArrayLike, state_names: Sequence[str] | None = None, action_names: ActionNames = None
    ) -> None:
        self._n_actions = _checked_counts(n_actions)
        self._offsets = np.concatenate([[0], np.cumsum(self._n_actions)]).astype(np.int32)
        self._state_names = _checked_state_names(state_names, self.n_states)
        self._action_names = _checked_action_names(action_names, self._n_actions)

    @classmethod
    def uniform(cls, n_states: int, n_actions: int) -> Space:
        """Return a space in which every state offers the same number of actions."""
        states, count = as_integer(n_states, "n_states", minimum=1), as_integer(n_actions, "n_actions", minimum=1)
        _check_size(states * count)
        require_memory(BYTES_PER_STATE * states, f"n_states = {states:,}")
        return cls(np.full(states, count, dtype=np.int32))

    @property
    def n_states(self) -> int:
        """The number of states, S."""
        return self._n_actions.size

    @property
    def n_pairs(self) -> int:
        """The number of state-action pairs."""
        return int(self._offsets[-1])

    @property
    def n_actions(self) -> Ints:
        """How many actions each state offers, shape (S,), read-only."""
        return readonly(self._n_actions)

    @property
    def mean_actions(self) -> float:
        """The paper's A: pairs per state."""
        return self.n_pairs / self.n_states

    @property
    def offsets(self) -> Ints:
        """Where each state's pairs begin, shape (S + 1,), read-only. The last entry is ``n_pairs``."""
        return readonly(self._offsets)

    @property
    def state_names(self) -> tuple[str, ...] | None:
        """A name per state, if given."""
        return self._state_names

    @property
    def action_names(self) -> tuple[tuple[str, ...], ...] | None:
        """The names of each state's actions, if given."""
        return self._action_names

    def state_name(self, state: int) -> str:
        """Return what a state is called: its name, or else its number."""
        s = as_integer(state, "state", 0, self.n_states - 1)
        return self._state_names[s] if self._state_names else str(s)

    def action_name(self, state: int, action: int) -> str:
        """Return what an action of a state is called: its name, or else its number."""
        s, a = self.state_and_action(self.pair(state, action))
        return self._action_names[s][a] if self._action_names else str(a)

    def pair(self, state: int, action: int) -> int:
        """Return the flat index of a pair."""
        s = as_integer(state, "state", 0, self.n_states - 1)
        return int(self._offsets[s]) + as_integer(action, f"action of state {s}", 0, int(self._n_actions[s]) - 1)

    def state_and_action(self, pair: int) -> tuple[int, int]:
        """Return the state and action of a flat pair index."""
        index = as_integer(pair, "pair", 0, self.n_pairs - 1)
        s = int(np.searchsorted(self._offsets, np.int32(index), side="right")) - 1  # int32: no copy of the offsets
        return s, index - int(self._offsets[s])

    def where(self, pair: int) -> str:
        """Return ``s=3, a=1`` for messages."""
        s, a = self.state_and_action(pair)
        return f"s={s}, a={a}"

    @property
    def pair_states(self) -> Ints:
        """The state of every pair, shape (n_pairs,)."""
        return np.repeat(np.arange(self.n_states, dtype=np.int32), self._n_actions)

    def _key(self) -> tuple[object, ...]:
        return self._n_actions.tobytes(), self._state_names, self._action_names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        counts = np.unique(self._n_actions)
        if counts.size == 1:
            return f"Space.uniform({self.n_states}, {counts[0]})"
        return f"<Space: {self.n_states} states, {counts[0]} to {counts[-1]} actions, {self.n_pairs} pairs>"

    _repr_html_ = safely(space_html)

    def __reduce__(self) -> tuple[type[Space], tuple[object, ...]]:
        return Space, (np.array(self._n_actions), self._state_names, self._action_names)


def _checked_counts(n_actions: ArrayLike) -> Ints:
    counts = as_table(n_actions, "n_actions")
    if counts.ndim != 1 or counts.size == 0:
        rule = "n_actions must list at least one state's number of actions"
        hint = "For equal numbers use Space.uniform(n_states, n_actions)."
        raise InvalidInputError(f"{rule}; got {shown(n_actions)}. {hint}")
    if counts.dtype.kind not in "iu":
        raise InvalidInputError(f"n_actions must be whole numbers; got {shown(n_actions)}.")
    if (counts < 1).any():
        s = int(np.flatnonzero(counts < 1)[0])
        raise InvalidInputError(f"n_actions[s={s}] must be at least 1; got {counts[s]}.")
    _check_size(int(counts.sum(dtype=np.float64)))  # a sum of floats cannot wrap
    return counts.astype(np.int32)


def _check_size(n_pairs: int) -> None:
    if n_pairs >= 2**31:
        raise InvalidInputError(f"n_actions must sum to less than 2^31; got {n_pairs}.")


def _checked_state_names(names: Sequence[str] | None, n_states: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != n_states:
        rule = f"state_names must have {counted(n_states, 'name')}, one per state"
        raise InvalidInputError(f"{rule}; got {shown(names)}.")
    return tuple(map(str, names))


def _checked_action_names(names: ActionNames, n_actions: Ints) -> tuple[tuple[str, ...], ...] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InvalidInputError(f"action_names must be a list of names; got {shown(names)}.")
    is_shared = all(isinstance(name, str) for name in names)
    if not is_shared and len(names) != n_actions.size:
        raise InvalidInputError(f"action_names must have {n_actions.size} lists, one per state; got {len(names)}.")
    result = []
    for s, count in enumerate(n_actions):
        own = names[:count] if is_shared else names[s]
        if not isinstance(own, Sequence) or len(own) != count:
            rule = f"action_names[s={s}] must have {counted(int(count), 'name')}"
            raise InvalidInputError(f"{rule}; got {shown(own)}.")
        result.append(tuple(map(str, own)))
    return tuple(result)


def as_space(space: Any) -> Space:
    """Validate that ``space`` is a Space."""
    if isinstance(getattr(space, "space", None), Space):  # a problem, a world or an agent
        raise InvalidInputError(f"space must be a Space; got a {type(space).__name__}. Pass its .space.")
    check_type(space, Space, "space must be a Space", " Write Space.uniform(n_states, n_actions).")
    return cast(Space, space)
