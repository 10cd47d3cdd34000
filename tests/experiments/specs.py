"""Small specs that tests run."""

from driftmdp.experiments import Spec, parse_spec

SMALL = """
name = "small"
seeds = 4
[curve]
points = 10
[[problems]]
name = "two-state"
label = "V_r = {v_r}"
parameters = { horizon = 120 }
grid = { v_r = ["T^0.2", "T^0.5"] }
[[agents]]
name = "SWUCRL2CW"
label = "SWUCRL2-CW"
grid = { scale = [1.0, 0.1] }
[[agents]]
name = "BORL"
[[agents]]
name = "Random"
[report]
baseline = "Random"
"""


def small(**changes: object) -> Spec:
    """Return the small spec with some top-level keys changed."""
    content = parse_spec(SMALL).model_dump()
    return Spec.model_validate(content | changes)
