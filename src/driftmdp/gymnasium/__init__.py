"""Gymnasium: problems as environments, and agents in any environment with Discrete spaces.

Importing this registers every problem for ``gymnasium.make("driftmdp/TwoState-v1", horizon=1000)``. Gymnasium loads
no plugins since version 1.0. Without the import, name the module in the id:
``gymnasium.make("driftmdp.gymnasium:driftmdp/TwoState-v1")``.
"""

from driftmdp.errors import InvalidInputError, missing_package

try:
    from driftmdp.gymnasium.environment import ProblemEnv, env_id, register_all
except ModuleNotFoundError as error:
    raise missing_package(error, "driftmdp.gymnasium", "gymnasium") from None
from driftmdp.gymnasium.learning import Learning, learn
from driftmdp.gymnasium.wrappers import Reachable, space_of
from driftmdp.validation import warn

__all__ = ["Learning", "ProblemEnv", "Reachable", "env_id", "learn", "register_all", "space_of"]

try:
    register_all()
except InvalidInputError as error:  # one bad problem of a user must not hide all others
    warn(str(error))
