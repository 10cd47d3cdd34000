"""Whether every state can be reached from every other: [CSZ20] Definition 1, Assumption 1.

An MDP is *communicating* if for all states s, s' some policy leads from s to s'. Then one optimal gain
serves all states. It is *weakly communicating* if that holds within a closed set of states and all others
are transient under every policy. The optimal gain is one number there too [P94, Section 8.3.1].
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from driftmdp import kernels
from driftmdp.errors import NotCommunicatingError
from driftmdp.kernels.arrays import Model
from driftmdp.mdp import Mdp
from driftmdp.planning.inputs import as_mdp
from driftmdp.planning.sparse import strong_components
from driftmdp.validation import as_flag


def is_communicating(mdp: Mdp) -> bool:
    """Return whether every state can be reached from every other under some policy.

    Examples
    --------
    >>> from driftmdp.planning import is_communicating
    >>> import driftmdp as dm
    >>> is_communicating(dm.problems.perils(tau=3).drifting.at(1))
    True
    """
    return bool(kernels.graph.is_strongly_connected(as_mdp(mdp).arrays))


def check_communicating(mdp: Mdp, allow_transient: bool = False) -> None:
    """Raise if an MDP is not communicating, naming a state that cannot be reached from another.

    Parameters
    ----------
    mdp
        The MDP.
    allow_transient
        Accept states that are transient under every policy (weakly communicating).

    Raises
    ------
    NotCommunicatingError
        With the states ``source`` and ``target`` in question.

    Examples
    --------
    >>> from driftmdp.planning import check_communicating
    >>> import driftmdp as dm
    >>> trap = dm.Mdp.from_dense([[0], [0]], [[[0, 1]], [[0, 1]]])
    >>> check_communicating(trap)
    Traceback (most recent call last):
    driftmdp.errors.NotCommunicatingError: mdp must be communicating, but no policy leads from state 1 to ...
    >>> check_communicating(trap, allow_transient=True)
    """
    check_model(as_mdp(mdp).arrays, allow_transient)


def check_model(model: Model, allow_transient: bool, where: str = "mdp") -> None:
    """Raise if the MDP in a kernel's arrays is not communicating."""
    allow_transient = as_flag(allow_transient, "allow_transient")
    if kernels.graph.is_strongly_connected(model):
        return
    sources, targets = _edges(model)
    shape = model.offsets.size - 1, model.offsets.size - 1
    graph = sp.coo_array((np.ones(sources.size, bool), (sources, targets)), shape=shape)
    n_components, component = strong_components(graph.tocsr())
    leaves = np.zeros(n_components, bool)
    leaves[component[sources[component[sources] != component[targets]]]] = True
    closed = np.flatnonzero(~leaves)
    inside = component == closed[0]
    source = int(np.flatnonzero(inside)[0])
    target = int(np.flatnonzero(~inside)[0])
    if closed.size == 1 and allow_transient:
        stays = int(kernels.graph.find_avoiding_state(model, inside))
        if stays < 0:
            return
        raise NotCommunicatingError(
            f"{where} must be weakly communicating, but a policy can stay away from state {source} for "
            f"ever when it starts in state {stays}. Its optimal gain may differ from state to state: plan "
            "on each closed set of states by itself.",
            stays,
            source,
        )
    hint = (
        "If that state is transient under every policy, pass allow_transient=True."
        if closed.size == 1
        else "Its optimal gain may differ from state to state: plan on each closed set of states by itself."
    )
    raise NotCommunicatingError(
        f"{where} must be communicating, but no policy leads from state {source} to state {target}. {hint}",
        source,
        target,
    )


def _edges(model: Model) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return source and target of every successor with positive probability."""
    state_rows = model.indptr[model.offsets]  # a state's pairs are adjacent rows
    entries = slice(state_rows[0], state_rows[-1])
    positive = model.data[entries] > 0
    sources = np.repeat(np.arange(model.offsets.size - 1), np.diff(state_rows))
    return sources[positive], model.indices[entries][positive]
