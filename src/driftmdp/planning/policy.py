"""Evaluation of a given policy: its gain from each state, its recurrent classes, its hitting times.

A policy is an action per state, shape (S,), or a probability per pair, shape (n_pairs,).
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from driftmdp import kernels
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.arrays import Model
from driftmdp.mdp import Mdp
from driftmdp.planning.inputs import as_mdp
from driftmdp.planning.reward_scale import scaled, unit_exponent
from driftmdp.planning.sparse import leaving_rates, solve_leaving, solve_sparse, strong_components
from driftmdp.validation import as_integer, as_table

DENSE_LIMIT = 500  # larger classes are solved by sparse elimination


def policy_gain(mdp: Mdp, policy: ArrayLike) -> NDArray[np.float64]:
    """Return the long-term average reward of a policy from each state, shape (S,).

    The policy may have several recurrent classes. A transient state gets the mean over the classes where it ends.

    Examples
    --------
    >>> from driftmdp.planning import policy_gain
    >>> import driftmdp as dm
    >>> mdp = dm.problems.two_state(horizon=10).drifting.at(10)
    >>> policy_gain(mdp, [0, 0]).round(3).tolist()  # stay wherever one is
    [3.116, -0.772]
    """
    chain, rewards = _chain(mdp, policy)
    unit = unit_exponent(mdp.rewards)
    return np.asarray(scaled(_gain(chain, scaled(rewards, unit)), -unit))


def stationary_distributions(mdp: Mdp, policy: ArrayLike) -> NDArray[np.float64]:
    """Return the stationary distribution of each recurrent class of a policy, shape (classes, S).

    Examples
    --------
    >>> from driftmdp.planning import stationary_distributions
    >>> import driftmdp as dm
    >>> mdp = dm.problems.two_state(horizon=10).drifting.at(10)
    >>> stationary_distributions(mdp, [0, 0]).tolist(), stationary_distributions(mdp, [1, 1]).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]])
    """
    chain, _ = _chain(mdp, policy)
    classes = _recurrent_classes(chain)
    distributions = np.zeros((len(classes), mdp.space.n_states))
    for row, members in zip(distributions, classes, strict=True):
        row[members] = _stationary(chain[members][:, members])
    return distributions


def hitting_times(mdp: Mdp, policy: ArrayLike, target: int) -> NDArray[np.float64]:
    """Return the expected number of steps until a policy reaches a state, shape (S,).

    Zero at the target itself, and infinite where the target is not reached with certainty.

    Examples
    --------
    >>> from driftmdp.planning import hitting_times
    >>> import driftmdp as dm
    >>> mdp = dm.problems.perils(tau=1).drifting.at(1)
    >>> hitting_times(mdp, [1, 0], target=1), hitting_times(mdp, [0, 0], target=1)
    (array([1., 0.]), array([inf,  0.]))
    """
    target = as_integer(target, "target", 0, as_mdp(mdp).space.n_states - 1)
    chain, _ = _chain(mdp, policy)
    certain = _surely_reach(chain, target)
    times = np.full(mdp.space.n_states, np.inf)
    times[target] = 0.0
    if certain.size:
        times[certain] = solve_leaving(chain, certain, np.ones(certain.size))
    return times


def _chain(mdp: Mdp, policy: ArrayLike) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return the transition matrix and the mean rewards under a policy."""
    choice = _choice_matrix(as_mdp(mdp), policy)
    chain = sp.csr_array(choice @ mdp.transitions)
    chain.eliminate_zeros()
    return chain, np.asarray(choice @ mdp.rewards)


def _choice_matrix(mdp: Mdp, policy: ArrayLike) -> sp.csr_array:
    """Return the (S, n_pairs) matrix of the probability that each state chooses each of its pairs."""
    space, given = mdp.space, as_table(policy, "policy")
    shape = (space.n_states, space.n_pairs)
    if given.shape == (space.n_states,) and given.dtype.kind in "iu":
        wrong = np.flatnonzero((given < 0) | (given >= space.n_actions))
        if wrong.size:
            s = wrong[0]
            raise InvalidInputError(
                f"policy[s={s}] must be an action in 0 .. {space.n_actions[s] - 1}; got {given[s]}."
            )
        pairs = space.offsets[:-1] + given
        return sp.csr_array((np.ones(space.n_states), pairs, np.arange(space.n_states + 1)), shape=shape)
    if given.shape == (space.n_pairs,) and given.dtype.kind == "f":
        sums = np.add.reduceat(given, space.offsets[:-1])
        if not np.isfinite(given).all() or (given < 0).any() or (np.abs(sums - 1) > 1e-9).any():
            raise InvalidInputError(
                "policy must give each state a distribution over its actions: non-negative, summing to 1."
            )
        return sp.csr_array((given, np.arange(space.n_pairs), space.offsets), shape=shape)
    raise InvalidInputError(
        f"policy must be whole numbers of shape (S,) = ({space.n_states},) or probabilities of shape "
        f"(n_pairs,) = ({space.n_pairs},); got {given.dtype} of shape {given.shape}."
    )


def _recurrent_classes(chain: sp.csr_array) -> list[NDArray[np.int64]]:
    n_components, component = strong_components(chain)
    sources = np.repeat(np.arange(chain.shape[0]), np.diff(chain.indptr))
    leaving = component[sources] != component[chain.indices]
    closed = np.setdiff1d(np.arange(n_components), component[sources[leaving]])
    return [np.flatnonzero(component == c) for c in closed]


def _stationary(chain: sp.csr_array) -> NDArray[np.float64]:
    """Return the stationary distribution of an irreducible chain."""
    if chain.shape[0] <= DENSE_LIMIT:
        return np.asarray(kernels.policy_iteration.stationary_distribution(chain.toarray()))
    # Fix the mass of one state at 1 and solve the balance of the others.
    others = np.arange(1, chain.shape[0])
    entered = chain[[0]][:, others].toarray().ravel()
    balance = leaving_rates(chain)[others][:, others].T
    mass = np.append(1.0, solve_sparse(balance, entered))
    return np.asarray(mass / mass.sum())


def _gain(chain: sp.csr_array, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    gains = np.full(chain.shape[0], np.nan)
    for members in _recurrent_classes(chain):
        gains[members] = _stationary(chain[members][:, members]) @ rewards[members]
    transient = np.flatnonzero(np.isnan(gains))
    if transient.size:
        recurrent = np.flatnonzero(~np.isnan(gains))
        entered = chain[transient][:, recurrent] @ gains[recurrent]
        gains[transient] = solve_leaving(chain, transient, entered)
    return gains


def _surely_reach(chain: sp.csr_array, target: int) -> NDArray[np.int64]:
    """Return the states other than the target that reach it with probability 1.

    With the target made absorbing, these states cannot reach a state from which the target is out of reach.
    """
    n_states = chain.shape[0]
    data = chain.data.copy()
    data[chain.indptr[target] : chain.indptr[target + 1]] = 0.0
    offsets = np.arange(n_states + 1, dtype=np.int32)
    indptr, indices = chain.indptr.astype(np.int32), chain.indices.astype(np.int32)
    stopped = Model(offsets, np.zeros(n_states), indptr, indices, data)
    states = np.arange(n_states)
    out_of_reach = np.setdiff1d(states, reaching(stopped, np.array([target])))
    return np.setdiff1d(states, np.append(reaching(stopped, out_of_reach), target))


def reaching(model: Model, goals: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the states that can reach one of the goals, the goals included."""
    order, policy = np.empty(model.offsets.size - 1, np.int32), np.zeros(model.offsets.size - 1, np.int32)
    order[: goals.size] = goals
    pointer, pairs = kernels.graph.reverse(model)
    return order[: kernels.graph.reach(model.offsets, pointer, pairs, order, goals.size, policy)]
