"""A suite that runs in a second."""

from driftmdp.suite import parse_suite

TINY = """
name = "Tiny"
[seeds]
fresh = { first = 0, count = 2 }
tuning = { first = 1000, count = 2 }
finals = { first = 2000, count = 3 }
long = { horizon = 400, fresh = 1, tuning = 1, finals = 1 }
[yardstick]
label = "Hindsight"
refinements = 1
finalists = 2
[[yardstick.arms]]
name = "SWUCRL2CW"
parameters = { widening = 0.0 }
windows = { shortest = 4, count = 3 }
scales = [1.0, 0.02]
[[yardstick.arms]]
name = "PSRL"
[quick]
fresh = { first = 0, count = 1 }
tuning = { first = 1000, count = 1 }
finals = { first = 2000, count = 1 }
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
[[agents]]
name = "PSRL"
label = "Posterior sampling"
longest = 200
[problems]
reported = [
  { name = "two-state", grid = { v_r = ["T^0.2"] }, horizons = [200] },
  { name = "bandit", label = "Bandit", parameters = { drift = "stationary" }, horizons = [200, 400] },
]
tuning = [
  { name = "perils", label = "Perils", parameters = { tau = 5 }, length = { cycles = 20 }, horizons = [200] },
]
"""


def tiny_suite():
    """Return it."""
    return parse_suite(TINY)
