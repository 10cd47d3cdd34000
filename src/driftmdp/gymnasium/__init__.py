"""Gymnasium, both ways: our problems as its environments, and our agents in any of its Discrete ones.

Importing this makes every problem known to ``gymnasium.make("driftmdp/TwoState-v1", horizon=1000)``. Gymnasium
loads no plugins since its version 1.0; without the import, name the module in the id:
``gymnasium.make("driftmdp.gymnasium:driftmdp/TwoState-v1")``.
"""

from importlib.util import find_spec

from driftmdp.errors import MissingPackageError

if find_spec("gymnasium") is None:
    raise MissingPackageError(
        "driftmdp.gymnasium needs the package 'gymnasium'. Run: pip install 'driftmdp[gymnasium]'", name="gymnasium"
    )

from driftmdp.gymnasium.environment import ProblemEnv
from driftmdp.gymnasium.learning import learn
from driftmdp.gymnasium.reachable import Reachable
from driftmdp.gymnasium.record import Learning
from driftmdp.gymnasium.registration import env_id, register_all
from driftmdp.gymnasium.walk import space_of

__all__ = ["Learning", "ProblemEnv", "Reachable", "env_id", "learn", "register_all", "space_of"]

register_all()
