"""Gymnasium's toy-text tables: ``P[s][a]`` is a list of (probability, next state, reward, terminated)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import Mdp, Space
from driftmdp.planning.inputs import as_mdp
from driftmdp.validation import as_flag, as_integer, as_list, as_number, as_table, as_vector, shown

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


class ToyOutcome(NamedTuple):
    """One outcome of a state and an action."""

    probability: float
    next_state: int
    reward: float
    terminated: bool


def from_toy_text(table: Mapping[int, Any] | Sequence[Any], start: int | ArrayLike | None = None) -> Mdp:
    """Return the MDP of a toy-text environment, ``env.unwrapped.P``.

    A reward that depends on the next state becomes its mean.

    Parameters
    ----------
    table
        ``P[s][a]``, dicts or lists. A state may offer fewer actions, which are then numbered from 0.
    start
        Where an episode starts: a state, or a probability for each, such as
        ``env.unwrapped.initial_state_distrib``. Outcomes that terminate then lead to the start, as in
        ``driftmdp.gymnasium.learn`` (except for time limits). Without a start, states in which an episode may
        terminate are absorbing, with reward 0.

    Raises
    ------
    InvalidInputError
        If an entry does not have that form.

    Examples
    --------
    >>> from driftmdp.interchange import from_toy_text
    >>> coin = {0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    >>> from_toy_text(coin).successors(0, 0), from_toy_text(coin, start=0).successors(0, 0)
    (array([0.5, 0.5]), array([1., 0.]))
    """
    rows = [list(_items(actions, f"P[{s}]")) for s, actions in _items(table, "P")]
    if not rows or not all(rows):
        raise InvalidInputError("P must have at least one state, and each at least one action; got none.")
    n_states = len(rows)
    entries = {f"P[{s}][{a}]": lines for s, row in enumerate(rows) for a, lines in row}
    pairs = [_outcomes(lines, where, n_states) for where, lines in entries.items()]
    space = Space([len(row) for row in rows])
    if start is None:
        pairs = _absorbed(space, pairs)
    for where, outcomes in zip(entries, pairs, strict=True):
        if not outcomes:
            raise InvalidInputError(f"{where} must have at least one outcome; got none.")
    return _mdp(space, pairs, None if start is None else _distribution(start, n_states))


def to_toy_text(mdp: Mdp) -> Table:
    """Return the toy-text table of an MDP, in which nothing terminates.

    ``from_toy_text`` returns the same MDP, without names.

    Examples
    --------
    >>> from driftmdp import Mdp, Space
    >>> from driftmdp.interchange import to_toy_text
    >>> to_toy_text(Mdp(Space.uniform(1, 2), [0, 1], [[1], [1]]))
    {0: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 0, 1.0, False)]}}
    """
    offsets, rewards, indptr, indices, data = as_mdp(mdp).arrays

    def lines(pair: int) -> list[tuple[float, int, float, bool]]:
        entries = range(indptr[pair], indptr[pair + 1])
        return [(float(data[z]), int(indices[z]), float(rewards[pair]), False) for z in entries]

    counts = mdp.space.n_actions
    return {s: {a: lines(int(offsets[s]) + a) for a in range(count)} for s, count in enumerate(counts)}


def _items(container: Any, name: str) -> Iterator[tuple[int, Any]]:
    """Return the entries by number. States must be 0, 1, ..., and actions may leave numbers out."""
    if isinstance(container, Mapping):
        keys = sorted(as_integer(key, f"A key of {name}", minimum=0) for key in container)
        if name == "P" and keys != list(range(len(keys))):
            raise InvalidInputError(f"P must have the states 0 .. {len(keys) - 1}; got {keys[-1]} as the last.")
        return ((key, container[key]) for key in keys)
    if isinstance(container, Sequence) and not isinstance(container, str):
        return enumerate(container)
    raise InvalidInputError(f"{name} must be a dict or a list; got {shown(container)}.")


def _outcomes(lines: Any, where: str, n_states: int) -> list[ToyOutcome]:
    rule = "a list of (probability, next state, reward, terminated)"
    outcomes = []
    for line in as_list(lines, where, rule):
        try:
            p, state, reward, terminated = line
        except (TypeError, ValueError):
            raise InvalidInputError(f"{where} must be {rule}; got {shown(lines)}.") from None
        p = as_number(p, f"probability at {where}", minimum=0.0)
        state = as_integer(state, f"next state at {where}", 0, n_states - 1)
        reward, ended = as_number(reward, f"reward at {where}"), as_flag(terminated, f"terminated at {where}")
        outcomes.append(ToyOutcome(p, state, reward, ended))
    return outcomes


def _absorbed(space: Space, pairs: list[list[ToyOutcome]]) -> list[list[ToyOutcome]]:
    """Make the states in which an episode ends absorbing."""
    states = space.pair_states
    ends = {o.next_state for outcomes in pairs for o in outcomes if o.terminated and o.probability > 0}
    stays = {s: [ToyOutcome(1.0, s, 0.0, False)] for s in ends}
    return [stays.get(int(states[pair]), outcomes) for pair, outcomes in enumerate(pairs)]


def _mdp(space: Space, pairs: list[list[ToyOutcome]], start: NDArray[np.float64] | None) -> Mdp:
    """Return the MDP of outcomes, where those that terminate lead to the start."""
    lines = [(pair, *o) for pair, outcomes in enumerate(pairs) for o in outcomes]
    row, p, column, _, ended = (np.array(values) for values in zip(*lines, strict=True))
    ended = ended.astype(bool) & (start is not None)
    shape = (space.n_pairs, space.n_states)
    kept = sp.csr_array((p[~ended], (row[~ended], column[~ended])), shape=shape)
    if start is not None:
        ending = np.bincount(row[ended], weights=p[ended], minlength=space.n_pairs)
        kept = sp.csr_array(kept + sp.csr_array(ending[:, None]) @ sp.csr_array(start[None, :]))
    return Mdp(space, [_mean_reward(outcomes) for outcomes in pairs], kept)


def _mean_reward(outcomes: list[ToyOutcome]) -> float:
    if len({o.reward for o in outcomes}) == 1:
        return outcomes[0].reward  # exact, where a sum would round
    return sum(o.probability * o.reward for o in outcomes)


def _distribution(start: Any, n_states: int) -> NDArray[np.float64]:
    if as_table(start, "start").ndim == 0:
        return np.asarray(np.eye(1, n_states, as_integer(start, "start", 0, n_states - 1))[0])
    chances = as_vector(start, "start", n_states)
    if (chances < 0).any() or abs(chances.sum() - 1.0) > 1e-9:
        raise InvalidInputError(f"start must be a state or a distribution; got a sum of {chances.sum():.12g}.")
    return np.asarray(chances / chances.sum())
