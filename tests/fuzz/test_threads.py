"""Threads that share an agent or a problem."""

import pytest

from tests.fuzz.harness import assert_survives


def test_threads_may_share_an_agent_and_a_problem():
    assert_survives("threads", 6)


@pytest.mark.slow
def test_threads_may_share_any_agent_and_any_problem():
    assert_survives("threads", 400, seed=1)
