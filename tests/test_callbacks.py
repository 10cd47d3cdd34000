import numpy as np
import pytest

import driftmdp as dm
from driftmdp.errors import InvalidInputError
from tests.agents.worlds import problem_for, random_problem

PROBLEM = random_problem(2, 100, n_states=3)


class Notes(dm.Callback):
    """Writes everything down."""

    def __init__(self, every):
        self.every, self.told, self.started, self.run = every, [], [], None

    def on_start(self, agent, problem, seed):
        self.started.append((agent.t if hasattr(agent, "t") else None, problem.name, seed))

    def on_steps(self, steps):
        self.told.append((steps, getattr(steps.agent, "t", None)))

    def on_end(self, run):
        self.run = run

    def all_of(self, field):
        return np.concatenate([getattr(steps, field) for steps, _ in self.told]).tolist()


def of_all_kinds():
    for name, kind in dm.agents.builtin().items():
        problem = problem_for(kind, 100)
        if name in {"FixedPolicy"}:
            yield pytest.param(kind(problem.space, [0] * problem.space.n_states), problem, id=name)
        elif name in {"Optimist"}:
            continue  # UCRL2 and its kin are Optimists
        else:
            yield pytest.param(_made(name, kind, problem), problem, id=name)


def _made(name, kind, problem):
    more = {
        "SWUCRL2CW": {"window": 10, "widening": 0.1},
        "SlidingWindowUCRL2": {"window": 10},
        "UCRL2S": {"period": 20},
        "SWUCRL": {"window": 10},
        "SWUCB": {"window": 10},
        "DUCB": {"discount": 0.9},
    }
    return kind.for_problem(problem, **more.get(name, {}))


@pytest.mark.parametrize(("agent", "problem"), list(of_all_kinds()))
def test_the_run_is_the_same_and_every_step_is_told_once(agent, problem):
    plain = dm.simulate(agent, problem, 5)
    for compiled in (None, False):
        notes, rare = Notes(7), Notes(1000)
        run = dm.simulate(agent, problem, 5, compiled=compiled, callbacks=[notes, rare])
        for field in ("states", "actions", "rewards", "mean_rewards"):
            assert notes.all_of(field) == rare.all_of(field) == getattr(plain, field).tolist()
            assert getattr(run, field).tolist() == getattr(plain, field).tolist()
        for field in ("episode_starts", "sweeps", "vacuous"):
            assert getattr(run, field).tolist() == getattr(plain, field).tolist()
        assert [(steps.first, steps.last) for steps, _ in notes.told] == [
            (first, min(first + 6, 100)) for first in range(1, 101, 7)
        ]
        assert [t for _, t in notes.told] == [steps.last + 1 for steps, _ in notes.told]
        assert notes.run is rare.run is run
        assert notes.started == [(1, problem.name, 5)]


def test_borl_keeps_its_blocks_when_it_is_stopped_within_them():
    agent = dm.agents.BORL.for_problem(PROBLEM)
    plain, told = dm.simulate(agent, PROBLEM, 3), dm.simulate(agent, PROBLEM, 3, callbacks=[Notes(3)])
    for field in ("chosen", "feedback", "probabilities"):
        assert getattr(told.summary, field).tolist() == getattr(plain.summary, field).tolist()


class Alternating:
    """A user's agent, with a compiled run that cannot stop."""

    def reset(self, rng):
        self.t = 1

    def act(self, state):
        return self.t % int(PROBLEM.space.n_actions[state])

    def observe(self, reward, next_state, action=None):
        self.t += 1

    def play(self, context):
        raise AssertionError("it is played step by step")


def test_an_agent_that_cannot_stop_is_played_step_by_step():
    notes = Notes(30)
    run = dm.simulate(Alternating(), PROBLEM, 3, callbacks=[notes])
    assert notes.all_of("actions") == run.actions.tolist()
    assert len(notes.told) == 4
    with pytest.raises(InvalidInputError, match="False for Alternating, whose compiled run cannot stop for callb"):
        dm.simulate(Alternating(), PROBLEM, 3, compiled=True, callbacks=[notes])


def test_an_optimist_with_its_own_play_is_played_step_by_step():
    class Own(dm.agents.UCRL2):
        def play(self, context):
            raise AssertionError("it is played step by step")

    run = dm.simulate(Own.for_problem(PROBLEM), PROBLEM, 3, callbacks=[Notes(30)])
    assert run.actions.tolist() == dm.simulate(dm.agents.UCRL2.for_problem(PROBLEM), PROBLEM, 3).actions.tolist()


def test_a_chunk_can_be_kept_and_not_written_to():
    notes = Notes(10)
    dm.simulate(dm.agents.UCRL2.for_problem(PROBLEM), PROBLEM, 3, callbacks=(one for one in [notes]))
    steps, _ = notes.told[0]
    assert len(steps) == 10
    assert repr(steps).startswith("<Steps 1 to 10: mean reward ")
    with pytest.raises(ValueError, match="read-only"):
        steps.rewards[0] = 1.0


def test_an_error_stops_the_run_and_is_seen_as_it_is():
    class TooMuch(dm.Callback):
        every = 10

        def on_steps(self, steps):
            if steps.last == 30:
                raise ZeroDivisionError("enough")

    notes = Notes(10)
    with pytest.raises(ZeroDivisionError, match="enough"):
        dm.simulate(dm.agents.UCRL2.for_problem(PROBLEM), PROBLEM, 3, callbacks=[notes, TooMuch()])
    assert [steps.last for steps, _ in notes.told] == [10, 20, 30]
    assert notes.run is None


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        (Notes, "callbacks must be a list; got"),
        (dm.Callback(), "callbacks must be a list; got"),
        ("tensorboard", r"must be a list; got 'tensorboard'\. Write callbacks=\[\.\.\.\]\."),
        (None, "must be a list; got None"),
        ([Notes], r"callbacks\[0\] must be made from its class first; got the class Notes\. Write Notes\(\)\."),
        ([Notes(1), print], r"callbacks\[1\] must be a driftmdp\.Callback; got <built-in"),
        ([Notes(0)], r"callbacks\[0\]\.every must be at least 1; got 0"),
        ([Notes(2.5)], r"callbacks\[0\]\.every must be a whole number; got 2\.5"),
    ],
)
def test_what_is_no_callback(callbacks, message):
    with pytest.raises(InvalidInputError, match=message):
        dm.simulate(dm.agents.Random(PROBLEM.space), PROBLEM, 3, callbacks=callbacks)


def test_a_misspelled_method_is_found_at_once():
    with pytest.raises(InvalidInputError, match=r"got 'on_step' in Typo\. Did you mean 'on_steps'\?"):
        type("Typo", (dm.Callback,), {"on_step": print})
    with pytest.raises(InvalidInputError, match=r"got 'on_step' in Mixed\."):
        type("Mixed", (type("Mixin", (), {"on_step": print}), dm.Callback), {})
