"""Gymnasium: problems as environments, and agents in any environment with Discrete spaces.

Importing this registers every problem for ``gymnasium.make("driftmdp/TwoState-v1", horizon=1000)``. Gymnasium loads
no plugins since version 1.0. Without the import, name the module in the id:
``gymnasium.make("driftmdp.gymnasium:driftmdp/TwoState-v1")``.
"""

from driftmdp.errors import InvalidInputError, install_hint

try:
    from driftmdp.gymnasium.environment import ProblemEnv, env_id, register_all
except ModuleNotFoundError as error:
    hint = f"driftmdp.gymnasium needs the package {error.name!r}. {install_hint('gymnasium')}"
    raise ModuleNotFoundError(hint, name=error.name) from None
from driftmdp.gymnasium.continuing_env import space_of
from driftmdp.gymnasium.learning import Learning, learn
from driftmdp.gymnasium.reachable import Reachable
from driftmdp.validation import warn

__all__ = ["Learning", "ProblemEnv", "Reachable", "env_id", "learn", "register_all", "space_of"]

try:
    register_all()
except InvalidInputError as error:  # one bad problem of a user must not hide all others
    warn(str(error))
