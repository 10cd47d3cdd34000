"""Agents in other people's environments."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit, TransformObservation

import driftmdp as dm
from driftmdp import Callback
from driftmdp.errors import InvalidInputError, VacuousPlansWarning
from driftmdp.gymnasium import ProblemEnv, Reachable, learn, space_of
from driftmdp.progress import Silent


class Corridor(gymnasium.Env):
    """States 5, 6, 7; action 2 goes right, 3 stays, and 4 ends an episode in state 7 and is masked elsewhere."""

    def __init__(self, masks=True):
        self.observation_space, self.action_space = Discrete(3, start=5), Discrete(3, start=2)
        self.masks, self.asked = masks, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state = 5
        return self.state, self.info()

    def info(self):
        return {"action_mask": np.array([1, 1, self.state == 7], np.int8)} if self.masks else {}

    def step(self, action):
        self.asked.append((self.state, action))
        ended = self.state == 7 and action == 4
        self.state = min(7, self.state + 1) if action == 2 else self.state
        return self.state, float(ended), ended, False, self.info()


def test_our_own_problems_give_the_run_of_simulate():
    problem = dm.problems.inventory(capacity=5, horizon=300)
    agent = dm.agents.UCRL2.for_problem(problem, scale=0.1)
    run = dm.simulate(agent, problem, seed=7)
    learning = learn(ProblemEnv(problem), agent, 300, progress=False, seed=7)
    np.testing.assert_array_equal(learning.states, run.states)
    np.testing.assert_array_equal(learning.actions, run.actions)
    np.testing.assert_array_equal(learning.rewards, run.rewards)
    assert learning.episode_ends.tolist() == [300]
    assert agent.t == 1  # it was copied


def test_numbers_may_start_anywhere_and_masks_are_honoured():
    env = Corridor()
    learning = learn(env, dm.agents.PSRL, 3000, progress=False, seed=1)
    assert all(action != 4 or state == 7 for state, action in env.asked)
    assert env.asked == list(zip(learning.states.tolist(), learning.actions.tolist(), strict=True))
    assert learning.average_reward(300) == pytest.approx(1 / 3, abs=0.01)  # right, right, end
    assert learning.learning_curve(1500).shape == (2,)


@pytest.mark.parametrize("agent", [dm.agents.Adaptive, dm.agents.PSRL])
def test_a_masked_action_does_not_keep_an_agent_for_ever(agent):
    # If the agent observed that it stayed, an optimist would try the masked action for ever.
    learning = learn(Corridor(), agent, 2000, progress=False, seed=0)
    assert learning.average_reward(500) > 0.3


def test_the_end_of_an_episode_leads_to_the_next_start():
    class Diary:
        def __init__(self):
            self.lines = []

        def reset(self, rng):
            self.choices = iter([0, 0, 2, 1])

        def act(self, state):
            self.state = state
            return next(self.choices)

        def observe(self, reward, next_state, action=None):
            self.lines.append((self.state, reward, next_state))

    learning = learn(Corridor(), Diary(), 4, progress=False)
    assert learning.agent.lines == [(0, 0.0, 1), (1, 0.0, 2), (2, 1.0, 0), (0, 0.0, 0)]
    assert learning.episode_ends.tolist() == learning.episode_lengths.tolist() == [3]
    assert learning.episode_returns.tolist() == [1.0]
    assert repr(learning) == (
        "Learning(agent='Diary', environment='Corridor', seed=None, steps=4, episodes=1, average_reward=0.25)"
    )


def test_learning_goes_on_with_what_was_learned():
    env = Corridor()
    first = learn(env, dm.agents.PSRL, 1000, progress=False, seed=1)
    again = learn(env, first.agent, 300, progress=False, seed=2, fresh=False)
    assert again.average_reward() == pytest.approx(1 / 3, abs=0.02)
    assert first.agent.t == 1001
    assert again.agent.t == 1301


def test_the_same_seed_gives_the_same_learning():
    one, two = (
        learn(Reachable(gymnasium.make("FrozenLake-v1")), dm.agents.PSRL, 500, progress=False, seed=3) for _ in "12"
    )
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.rewards, two.rewards)


def test_callbacks_are_told_every_step_once():
    class Recorder(Callback):
        every = 400

        def __init__(self):
            self.heard = []

        def on_start(self, agent, problem, seed):
            self.heard.append(("start", type(agent).__name__, problem, seed))

        def on_steps(self, steps):
            self.heard.append((steps.first, steps.rewards.copy(), steps.mean_rewards))

        def on_end(self, run):
            self.heard.append(run)

    env, recorder = Corridor(), Recorder()
    learning = learn(env, dm.agents.PSRL, 1000, progress=True, seed=1, callbacks=[recorder])
    assert recorder.heard[0] == ("start", "PSRL", env, 1)
    assert [first for first, *_ in recorder.heard[1:-1]] == [1, 401, 801]
    np.testing.assert_array_equal(np.concatenate([chunk[1] for chunk in recorder.heard[1:-1]]), learning.rewards)
    assert recorder.heard[-1] is learning


def test_states_in_which_nobody_decides_are_left_out():
    lake = Reachable(gymnasium.make("FrozenLake-v1", is_slippery=False))
    assert space_of(lake) == dm.Space.uniform(11, 4)
    learning = learn(lake, dm.agents.Adaptive, 4000, progress=False, seed=0)
    assert learning.average_reward(1000) > 0.15  # the best is 1/6
    with pytest.raises(InvalidInputError, match="states must be given"):
        Reachable(Corridor())
    with pytest.raises(InvalidInputError, match="states must be distinct and ascend"):
        Reachable(Corridor(), [6, 5])
    with pytest.raises(InvalidInputError, match="states must be a list of states; got 5"):
        Reachable(Corridor(), 5)
    narrow = Reachable(Corridor(), [5, 6])
    narrow.reset()
    narrow.step(2)
    with pytest.raises(InvalidInputError, match="got to 7"):
        narrow.step(2)


def test_ragged_actions_are_known_only_where_states_keep_their_numbers():
    env = ProblemEnv("inventory-v1", capacity=5, horizon=50)
    mirrored = TransformObservation(env, lambda state: 5 - state, env.observation_space)
    assert space_of(TimeLimit(RecordEpisodeStatistics(env), 20)) == env.problem.space
    assert space_of(TimeLimit(mirrored, 20)) == dm.Space.uniform(6, 6)
    learning = learn(mirrored, dm.agents.Random, 300, progress=False, seed=0)
    assert (learning.actions <= learning.states).all()  # what is free on the shelf may be ordered
    assert set(learning.actions[learning.states == 5]) == set(range(6))


def test_a_table_behind_other_numbers_is_not_looked_at():
    lake = gymnasium.make("FrozenLake-v1")
    mirrored = TransformObservation(lake, lambda state: 15 - state, lake.observation_space)
    with pytest.raises(InvalidInputError, match="states must be given, as TransformObservation may renumber them"):
        Reachable(mirrored)
    found = Reachable(mirrored, np.sort(15 - Reachable(mirrored.unwrapped).states))
    assert found.reset(seed=0)[0] == 10


class Wise:
    """An agent that does what the test says."""

    def __init__(self, action=0):
        self.action = action

    def reset(self, rng):
        pass

    def act(self, state):
        return self.action

    def observe(self, reward, next_state, action=None):
        pass


def test_numbers_may_be_large_and_without_axes():
    env = Corridor(masks=False)
    env.observation_space = Discrete(3, start=2**40)
    far = TransformObservation(env, lambda state: np.array(state - 5 + 2**40), env.observation_space)
    learning = learn(far, Wise(np.array(0)), 3, progress=False)
    assert (learning.states - 2**40).tolist() == [0, 1, 2]
    assert learning.actions.tolist() == [2, 2, 2]


def test_without_a_seed_an_agent_keeps_its_own():
    def actions(own, seed=None):
        agent = dm.agents.Random(dm.Space.uniform(3, 3), own)
        return learn(Corridor(), agent, 50, False, seed).actions.tolist()

    assert actions(5) == actions(5) != actions(6)
    assert actions(None) != actions(None)
    assert actions(5, seed=1) == actions(6, seed=1)


class RecordingProgress(Silent):
    def __init__(self):
        self.words = []

    def advance(self, failed=False, by=1):
        self.words.append(by)

    def end(self):
        self.words.append("end")


def test_slow_steps_are_told_at_once_and_the_last_also_before_an_error(monkeypatch):
    clock, seconds, recorder = [0.0], iter([0.01] * 30 + [1.0] * 5 + [0.01] * 3), RecordingProgress()
    monkeypatch.setattr("driftmdp.progress.time.monotonic", lambda: clock[0])

    def act(state):
        clock[0] += next(seconds)  # after 38 steps, StopIteration
        return 0

    agent = Wise()
    agent.act = act
    with pytest.raises(RuntimeError):
        learn(Corridor(), agent, 100, recorder)
    *words, rest, end = recorder.words
    assert words[-5:] == [words[-5], 1, 1, 1, 1]
    assert (sum(words), rest, end) == (35, 3, "end")


def test_a_learning_shows_itself():
    learning = learn(Corridor(), Wise(), 10, progress=False, seed=3)
    shown = learning._repr_html_()
    assert "Learning of Wise in Corridor" in shown
    assert "polyline" in shown


class Odd(Corridor):
    """Shows what the test says."""

    def __init__(self, **shown):
        super().__init__()
        self.shown = shown

    def reset(self, *, seed=None, options=None):
        state, info = super().reset(seed=seed)
        return self.shown.get("state", state), {"action_mask": self.shown.get("mask", info["action_mask"])}


class Unique(Wise):
    def __deepcopy__(self, memo):
        raise TypeError("there is only one")


class Boxed(Corridor):
    def __init__(self):
        super().__init__()
        self.observation_space = Box(0.0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"env": 3}, "env must be a gymnasium.Env"),
        ({"env": Boxed()}, "observation_space of env must be Discrete"),
        ({"agent": 3}, "agent must have reset, act and observe"),
        ({"agent": dm.agents.UCRL2}, "Pass the other arguments: lambda space: UCRL2"),
        ({"agent": dm.agents.Random(dm.Space.uniform(2, 2))}, "Make it with space_of"),
        ({"agent": lambda space: dm.agents.UCRL2(space, horizon=5)}, "steps must fit the agent's horizon of 5"),
        ({"agent": lambda space: "nobody"}, "it returned 'nobody'"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"agent": Unique()}, "agent must be copyable, .* there is only one. Give Unique a __deepcopy__"),
        ({"env": Odd(mask=[1, 1])}, r"entry for each of the 3 actions; got shape \(2,\) in state 5"),
        ({"env": Odd(mask=[1, 1, 1, 1])}, r"entry for each of the 3 actions; got shape \(4,\)"),
        *(({"env": Odd(state=odd)}, "observation must be") for odd in (None, "a", np.array([1]), 5.7, 4, 8)),
    ],
)
def test_what_does_not_fit_gets_a_sentence(arguments, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        learn(**{"env": Corridor(), "agent": dm.agents.Random, "steps": 10, "progress": False} | arguments)


@pytest.mark.parametrize("agent", [dm.agents.Adaptive, dm.agents.PSRL], ids=["Adaptive", "PSRL"])
def test_states_in_which_nobody_decides_are_named_to_who_explores(agent):
    lake = gymnasium.make("FrozenLake-v1")
    with pytest.warns(
        UserWarning, match=r"5 of the 16 states of FrozenLake-v1, such as 5, are never decided in.*Reachable"
    ):
        learn(lake, agent, 20, progress=False, seed=1)
    learn(Reachable(lake), agent, 20, progress=False, seed=1)  # warnings are errors here
    learn(lake, dm.agents.Random, 20, progress=False, seed=1)


def test_an_agent_that_has_learned_nothing_says_so():
    def made(space):
        return dm.agents.SWUCRL2CW(space, horizon=300, window=50, widening=0.1)

    with pytest.warns(VacuousPlansWarning, match="The last plan of SWUCRL2CW was vacuous: .* take Adaptive"):
        learn(Reachable(gymnasium.make("FrozenLake-v1")), made, 300, progress=False, seed=1)
