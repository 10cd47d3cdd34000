"""Every registered problem under an id of gymnasium's: ``two-state-v1`` is ``driftmdp/TwoState-v1``."""

from __future__ import annotations

import gymnasium

from driftmdp import problems

__all__ = ["env_id", "register_all"]


def env_id(name: str) -> str:
    """Return gymnasium's id of a problem.

    Examples
    --------
    >>> env_id("two-state-v1")
    'driftmdp/TwoState-v1'
    """
    words, _, version = problems.describe(name).name.rpartition("-v")
    return f"driftmdp/{''.join(word.capitalize() for word in words.split('-'))}-v{version}"


def register_all() -> list[str]:
    """Make every registered problem known to ``gymnasium.make``, and return their ids.

    ``import driftmdp.gymnasium`` calls it; call it again after ``problems.register``.

    Returns
    -------
    list of str
        All ids, those that were known before too.

    Examples
    --------
    >>> "driftmdp/TwoState-v1" in register_all()
    True
    >>> env = gymnasium.make("driftmdp/TwoState-v1", horizon=1000)
    >>> env.unwrapped.problem.horizon
    1000
    """
    ids = {env_id(entry.name): entry.name for entry in problems.list()}
    for key, name in ids.items():
        if key not in gymnasium.registry:
            gymnasium.register(
                key,
                entry_point="driftmdp.gymnasium.environment:ProblemEnv",
                kwargs={"problem": name},
                order_enforce=False,  # the environment says it itself, and truncates itself
                disable_env_checker=True,  # the tests run the full checker on every problem
            )
    return list(ids)
