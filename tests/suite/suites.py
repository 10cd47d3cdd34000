"""A suite that runs in a second."""

from driftmdp.suite import parse_suite

TINY = """
name = "Tiny"
[seeds]
fresh = { first = 0, count = 2 }
tuning = { first = 1000, count = 2 }
[yardstick]
name = "SWUCRL2CW"
label = "Hindsight"
parameters = { widening = 0.0 }
windows = 3
shortest = 4
scales = [1.0, 0.02]
[quick]
fresh = { first = 0, count = 1 }
tuning = { first = 1000, count = 1 }
windows = 2
horizon = 200
problems = ["Bandit"]
[[agents]]
name = "UCRL2"
label = "Adaptive"
parameters = { scale = 0.1 }
[[agents]]
name = "UCRL2"
[[agents]]
name = "BORL"
label = "BORL raw"
parameters = { reward_range = "raw" }
groups = ["two-state"]
[[problems]]
name = "two-state"
family = "reported"
group = "two-state"
grid = { v_r = ["T^0.2"] }
horizons = [200]
[[problems]]
name = "bandit"
label = "Bandit"
family = "reported"
group = "bandit"
stationary = true
parameters = { drift = "stationary" }
horizons = [200, 400]
[[problems]]
name = "perils"
label = "Perils"
family = "tuning"
group = "perils"
parameters = { tau = 5 }
length = { cycles = 20 }
horizons = [200]
"""


def tiny_suite():
    """Return it."""
    return parse_suite(TINY)
