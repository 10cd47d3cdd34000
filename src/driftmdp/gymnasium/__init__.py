"""Gymnasium, both ways: our problems as its environments, and our agents in any of its Discrete ones.

Importing this makes every problem known to ``gymnasium.make("driftmdp/TwoState-v1", horizon=1000)``. Gymnasium
loads no plugins since its version 1.0; without the import, name the module in the id:
``gymnasium.make("driftmdp.gymnasium:driftmdp/TwoState-v1")``.
"""

from driftmdp.errors import InvalidInputError, install_hint

try:
    from driftmdp.gymnasium.environment import ProblemEnv
except ModuleNotFoundError as error:
    hint = f"driftmdp.gymnasium needs the package {error.name!r}. {install_hint('gymnasium')}"
    raise ModuleNotFoundError(hint, name=error.name) from None
from driftmdp.gymnasium.continuing_env import space_of
from driftmdp.gymnasium.learning import learn
from driftmdp.gymnasium.reachable import Reachable
from driftmdp.gymnasium.registration import env_id, register_all
from driftmdp.gymnasium.trajectory import Learning
from driftmdp.validation import warn

__all__ = ["Learning", "ProblemEnv", "Reachable", "env_id", "learn", "register_all", "space_of"]

try:
    register_all()
except InvalidInputError as error:  # a problem of the user's own is no reason to be without all others
    warn(str(error))
