"""One lock per agent: held by every method, kept out of copies, and there for several calls together."""

import copy
import pickle
import threading
from types import FunctionType

import pytest

import driftmdp as dm


@pytest.mark.parametrize("name", sorted(dm.agents.builtin()))
def test_every_public_method_holds_the_lock(name):
    kind = dm.agents.builtin()[name]
    for base in kind.__mro__[:-1]:
        for method, found in vars(base).items():
            if isinstance(found, FunctionType) and not method.startswith("_"):
                assert found.__code__.co_name == "holding", f"{base.__name__}.{method}"


def test_a_subclass_holds_the_lock_too():
    class Mine(dm.agents.Random):
        def act(self, state):
            assert self.lock._is_owned()
            return super().act(state)

    Mine(dm.Space.uniform(2, 2)).act(0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a)), lambda a: a.copy()])
def test_a_copy_has_a_lock_and_a_memory_of_its_own(copied):
    agent = dm.agents.UCRL2(dm.Space.uniform(2, 2), horizon=100)
    agent.act(0)
    agent.observe(0.5, 1)
    with agent.lock:
        fresh = copied(agent)
    assert fresh.lock is not agent.lock
    fresh.act(0)
    fresh.observe(0.5, 1)
    assert agent.counts().sum() == 1
    assert fresh.counts().sum() == fresh.t - 1


def test_a_thread_that_holds_the_lock_keeps_act_and_observe_together():
    """Each stream has a state of its own: no thread may learn from the state of another."""
    agent = dm.agents.UCRL2(dm.Space.uniform(4, 2), horizon=1000)

    def stream(state):
        for _ in range(100):
            with agent.lock:
                agent.act(state)
                agent.observe(0.5, state)

    threads = [threading.Thread(target=stream, args=(state,)) for state in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.t == 401
    assert agent.counts().reshape(4, 2).sum(axis=1).tolist() == [100] * 4
