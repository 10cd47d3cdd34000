"""The compiled agent of the how-to, from outside the package: public names only, equal to its step-by-step run."""

import ast
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import driftmdp as dm
from tests.agents.worlds import random_problem
from tests.documents import ROOT, blocks

PUBLIC = {"typing", "numba", "numpy", "driftmdp", "driftmdp.compiled_agents"}


@pytest.fixture(scope="module")
def replay_q(tmp_path_factory):
    """The module as a user has it: a file in a folder of their own."""
    folder = tmp_path_factory.mktemp("own")
    first = next(block for block in blocks(ROOT / "docs/howto-compiled-agent.md") if block.language == "python")
    (folder / "replay_q.py").write_text(first.text)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("replay_q")
    sys.path.remove(str(folder))
    del sys.modules["replay_q"]


def test_it_imports_public_names_only(replay_q):
    tree = ast.parse(Path(replay_q.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names | {node.module for node in imports} <= PUBLIC
    used = {alias.name for node in imports if node.module == "driftmdp.compiled_agents" for alias in node.names}
    assert used <= set(importlib.import_module("driftmdp.compiled_agents").__all__)


@pytest.mark.parametrize("noise", ["none", "bernoulli"])
def test_its_compiled_run_equals_act_and_observe(replay_q, noise):
    problem = random_problem(3, horizon=300, noise=noise)  # the number of actions differs by state
    report = dm.testing.check_agent(replay_q.ReplayQ(problem, window=20), problem)
    assert "compiled equals step by step" not in [check.rule for check in report.skipped]


def test_a_run_fills_the_whole_record(replay_q):
    problem = dm.problems.two_state(horizon=500)
    run = dm.simulate(replay_q.ReplayQ(problem), problem, seed=7)
    assert run.states.shape == run.actions.shape == run.rewards.shape == (500,)
    steps = np.arange(500)
    means = [problem.drifting.at(t + 1).rewards[problem.space.pair(run.states[t], run.actions[t])] for t in steps]
    assert np.allclose(run.mean_rewards, means)
    assert run.plans == 0


def test_plans_of_an_agent_of_ones_own_are_recorded():
    """Through n_plans and last_plan, as of driftmdp.agents.PlanningAgent."""

    class Planner:
        n_plans = property(lambda self: (self.t + 9) // 10)
        last_plan = property(lambda self: dm.agents.Plan(self.t, 1.0, 0.0, 3, False, "own"))

        def reset(self, rng):
            self.t = 0

        def act(self, state):
            self.t += 1
            return 0

        def observe(self, reward, next_state, action=None):
            pass

    run = dm.simulate(Planner(), dm.problems.two_state(horizon=35), seed=1)
    assert run.episode_starts.tolist() == [1, 11, 21, 31]
    assert run.sweeps.tolist() == [3] * 4


def test_the_catalogue_is_made_from_what_agents_exports():
    """A built-in agent is a kernel file, an agent file and an export; specs and the command line find it there."""
    from driftmdp.experiments.catalogue import agent_maker, spec_agents

    exported = [getattr(dm.agents, name) for name in dm.agents.__all__]
    kinds = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, dm.agents.BuiltinAgent)]
    builtin = {kind.__name__: kind for kind in kinds if kind is not dm.agents.BuiltinAgent}
    assert dm.agents.builtin() == builtin
    assert set(spec_agents()) == set(builtin) - {"Optimist"}
    assert all(agent_maker(name).name == name for name in spec_agents())
