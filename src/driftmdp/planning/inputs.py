"""Type checks of the arguments ``mdp`` and ``drifting``, with a hint on how to convert the wrong one."""

from typing import Any

from driftmdp.errors import InvalidInputError
from driftmdp.mdp import DriftingMdp, Mdp, Problem


def as_mdp(value: Any) -> Mdp:
    """Validate that ``value`` is an Mdp."""
    if isinstance(value, Mdp):
        return value
    hint = {DriftingMdp: " Take one step's: drifting.at(t).", Problem: " Take one step's: problem.drifting.at(t)."}
    raise _wrong("mdp must be an Mdp", value, hint)


def as_drifting(value: Any) -> DriftingMdp:
    """Validate that ``value`` is a DriftingMdp."""
    if isinstance(value, DriftingMdp):
        return value
    hint = {Problem: " Take its world: problem.drifting.", Mdp: " Wrap it: DriftingMdp.stationary(mdp, horizon)."}
    raise _wrong("drifting must be a DriftingMdp", value, hint)


def _wrong(rule: str, value: Any, hints: dict[type, str]) -> InvalidInputError:
    hint = next((text for kind, text in hints.items() if isinstance(value, kind)), "")
    return InvalidInputError(f"{rule}; got {type(value).__name__}.{hint}")
