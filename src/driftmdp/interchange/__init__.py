"""Convert an Mdp from and to the forms of other libraries, and store worlds in files.

====================  =======================================================  ============================
form                  what it is                                               ragged actions
====================  =======================================================  ============================
toy text              gymnasium's ``P[s][a] = [(p, next, reward, terminated)]``  kept
scipy                 one sparse S x S matrix per action, rewards [S, A]      kept: a row without entries
pymdptoolbox          arrays (A, S, S) and (S, A)                              filled with the last action
quantecon             ``DiscreteDP``, by pairs or as a product                 kept
NS-Gym                an environment whose table drifts, read step by step     kept
file                  npz or JSON                                              kept
====================  =======================================================  ============================

Only files keep the names of states and actions. Only ``to_quantecon`` needs the other library to be installed.
"""

from driftmdp.interchange.matrices import (
    from_mdptoolbox,
    from_quantecon,
    from_scipy,
    to_mdptoolbox,
    to_quantecon,
    to_scipy,
)
from driftmdp.interchange.ns_gym import from_ns_gym
from driftmdp.interchange.toy_text import from_toy_text, to_toy_text
from driftmdp.interchange.world_files import load, save

__all__ = [
    "from_mdptoolbox", "from_ns_gym", "from_quantecon", "from_scipy", "from_toy_text", "load", "save",
    "to_mdptoolbox", "to_quantecon", "to_scipy", "to_toy_text",
]  # fmt: skip
