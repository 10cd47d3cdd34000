"""Every registered problem under an id of gymnasium's: ``two-state-v1`` is ``driftmdp/TwoState-v1``."""

from __future__ import annotations

import gymnasium

from driftmdp import problems
from driftmdp.errors import InvalidInputError
from driftmdp.problems import ProblemEntry

RESERVED = ("problem", "strict", "render_mode")  # what ProblemEnv takes for itself


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

    Raises
    ------
    InvalidInputError
        If a problem's id is that of another, as of ``two2-v1`` and ``two-2-v1``, or a parameter of it is called
        ``problem``, ``strict`` or ``render_mode``, which the environment takes itself. All others are known.

    Examples
    --------
    >>> "driftmdp/TwoState-v1" in register_all()
    True
    >>> env = gymnasium.make("driftmdp/TwoState-v1", horizon=1000)
    >>> env.unwrapped.problem.horizon
    1000
    """
    entries = problems.list()
    complaints = [complaint for entry in entries if (complaint := _register(entry))]
    if complaints:
        raise InvalidInputError(complaints[0])
    return [env_id(entry.name) for entry in entries]


def _register(entry: ProblemEntry) -> str | None:
    """Make a problem known, or return what speaks against it."""
    key, instead = env_id(entry.name), "Rename it, or use ProblemEnv(problem); all others are known."
    reserved = [parameter for parameter in RESERVED if parameter in entry.parameters]
    if reserved:
        return f"Parameters of {entry.name!r} must not be called {reserved[0]!r}, ProblemEnv's. {instead}"
    if key not in gymnasium.registry:
        gymnasium.register(
            key,
            entry_point="driftmdp.gymnasium.environment:ProblemEnv",
            kwargs={"problem": entry.name},
            order_enforce=False,  # the environment says it itself, and truncates itself
            disable_env_checker=True,  # the tests run the full checker on every problem
        )
    known = gymnasium.registry[key].kwargs.get("problem")
    if known == entry.name:
        return None
    return f"{entry.name!r} must have an id of its own; got {key!r}, that of {known!r}. {instead}"
