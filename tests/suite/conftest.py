import pytest


@pytest.fixture(scope="module", autouse=True)
def _short_timing():
    """Time each agent a few times only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("driftmdp.suite.timing.FAST_AGENT_SECONDS", 0.0)
        yield
