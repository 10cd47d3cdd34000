"""What agents say of their actions and alarms when they are printed: a line for each."""

import re

import pytest

import driftmdp as dm
from driftmdp.agents import Alarm, DetectingSummary

SPACE = dm.Space.uniform(2, 2)


@pytest.mark.parametrize(
    ("agent", "tried"),
    [
        (
            dm.agents.Adaptive(SPACE),
            r"promises [\d.]+, reward 0.5, hoped [\d.]+, tried once, 1 step ago, worth 1 .*",
        ),
        (dm.agents.IMEDRL(SPACE), r"index 0, divergence 0, promises [\d.]+, tried once"),
        (dm.agents.OptimisticQ(SPACE, 100), r"at most 2, tried once, the last time with a bonus of [\d.]+"),
        (
            dm.agents.RestartQ(SPACE, 100, episode=1),
            r"at most 1, tried once at this .*, learns after 2 more visits",
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_an_explanation_is_printed_with_a_line_per_action(agent, tried):
    action = agent.act(0)
    agent.observe(0.5, 1)
    lines = str(agent.explain(0)).splitlines()
    assert re.fullmatch(f"action {action}: {tried}", lines.pop(action))
    assert re.match(r"action \d: .*never tried", lines[0])
    assert len(agent.explain(0)) == 2


def test_a_summary_of_alarms_fits_on_a_screen():
    alarm = Alarm(506, 1, 0, "next-states", 15.25, 14.5, 5)
    line = "t=506: next states of action 0 in state 1, 15.25 above 14.5, 5 visits after the change"
    assert str(alarm) == line
    assert str(DetectingSummary((alarm,), None)) == f"1 alarm:\n  {line}"
    assert str(DetectingSummary((), "plain")) == "0 alarms\nlearner: plain"
    assert str(DetectingSummary((alarm,) * 100, None)).splitlines()[-1] == "  and 80 more"
    assert len(repr(DetectingSummary((alarm,) * 100, None))) < 500
