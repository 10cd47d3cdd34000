"""Agents of one's own in the suite."""

import pytest

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.suite import parse_agent
from tests.suite.suites import tiny_suite


@pytest.mark.parametrize(
    ("text", "name", "label", "parameters"),
    [
        ("UCRL2", "UCRL2", "UCRL2", {}),
        ("UCRL2()", "UCRL2", "UCRL2", {}),
        (
            "UCRL2( scale=.3,ties = 'first' )",
            "UCRL2",
            "UCRL2(scale=0.3, ties='first')",
            {"scale": 0.3, "ties": "first"},
        ),
        ("fractions:Fraction(denominator=2)", "fractions:Fraction", "Fraction(denominator=2)", {"denominator": 2}),
    ],
)
def test_a_call_is_read(text, name, label, parameters):
    agent = parse_agent(text)
    assert (agent.name, agent.label, agent.parameters) == (name, label, parameters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a name, or a name with parameters"),
        ("UCRL2(scale=", "a name, or a name with parameters"),
        ("UCRL2(scale=1)(2)", "a name, or a name with parameters"),
        ("UCRL2(0.3)", "parameters by name"),
        ("UCRL2(**{'scale': 1})", "parameters by name"),
        ("UCRL2(scale=1, scale=2)", "each parameter once"),
        ("UCRL2(scale=one)", "plain values as parameters.*; got one in"),
        ("UCRL2(scale=1e999)", "agent.scale must be finite"),
        ("UCRL2(scal=1)", "Did you mean 'scale'"),
        ("UCRL9", "Did you mean 'UCRL"),
        ("nowhere_at_all:Mine", "No module named 'nowhere_at_all'"),
        ("driftmdp.agents:Mine", "has no attribute 'Mine'"),
        ("BORL(reward_range='raw')", "is the same as 'BORL raw'"),
        ("UCRL2", "a label that the suite does not have yet"),
    ],
)
def test_mistakes_are_one_sentence(text, message):
    with pytest.raises((InvalidInputError, UnknownNameError), match=message):
        tiny_suite().tasks(agents=[text])


def test_an_own_agent_joins_every_task():
    for task in tiny_suite().tasks(agents=["Random", "UCRL2(scale=0.3)"]):
        assert [agent.label for agent in task.agents][-2:] == ["Random", "UCRL2(scale=0.3)"]
