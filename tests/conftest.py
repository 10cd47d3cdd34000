"""Shared settings: property-based tests are deterministic, and not stopped by a kernel that compiles."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "driftmdp",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("driftmdp")
