"""Machine code for everything that the library can need, made ahead of need: for images and clusters.

What is needed shows when it runs. So each agent, solver and ordering rule meets a tiny instance that leads to its
kernels, on all cores at once. A test compares the kernels that were reached with those that Python calls anywhere
in this package.
"""

import contextlib
import functools
import importlib.util
import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from driftmdp import agents, engines, inventory, planning, problems
from driftmdp.agents import BuiltinAgent
from driftmdp.compiler import cache
from driftmdp.errors import InvalidInputError, NotConvergedError, StorageError
from driftmdp.inventory import order_engine, user_forecaster
from driftmdp.inventory.shared_order import SharedOrder
from driftmdp.mdp import Mdp, Problem, Space
from driftmdp.planning.gain import sparse_policy_iteration
from driftmdp.problems.garnet import garnet_mdp
from driftmdp.simulation import simulate
from driftmdp.validation import quietly

__all__ = ["Warmed", "warm"]

Task = Callable[[], object]
HORIZON = 60
LARGE = 301  # states, more than dense elimination is for


@dataclass(frozen=True)
class Warmed:
    """What :func:`warm` did.

    Attributes
    ----------
    kernels
        How many compiled kernels are kept now.
    compiled
        How many of them were compiled by this call.
    folder
        Where they are kept.
    seconds
        How long it took.
    """

    kernels: int
    compiled: int
    folder: Path
    seconds: float


def warm(workers: int | None = None) -> Warmed:
    """Compile all kernels for this machine and keep them on disk, so that nobody waits for the compiler later.

    Parameters
    ----------
    workers
        Processes to compile with, by default one per core.

    Raises
    ------
    InvalidInputError
        If compiling is turned off.
    StorageError
        If there is no folder to keep machine code in.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") == "1":
        raise InvalidInputError(
            "NUMBA_DISABLE_JIT must not be 1 to compile kernels; it turns compiling off. Unset it."
        )
    if not cache.is_kept():
        raise StorageError(
            "Kernels must be kept in a folder that you can write to; none was found. Set NUMBA_CACHE_DIR to one."
        )
    began, before = time.perf_counter(), _kept()
    # Processes, as LLVM is used by one thread of a process at a time.
    with contextlib.closing(engines.make("processes", workers).map(_run_quietly, tasks())) as outcomes:
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
    return Warmed(len(_kept()), len(_kept() - before), cache.cache_directory(), time.perf_counter() - began)


def _kept() -> set[str]:
    return {path.name for path in cache.cache_directory().iterdir() if "-" in path.name}


def _run_quietly(task: Task) -> None:
    with quietly():
        task()


def tasks() -> Iterator[Task]:
    """Give small pieces of work that lead to every kernel, the longest to compile first."""
    for name, kind in agents.builtin().items():
        if name != "Optimist":  # UCRL2 and its kin
            yield functools.partial(_use_agent, kind)
    yield from (_detect_changes, _plan_past_plain_sweeps, _plan_optimistically, _solve_gains, _solve_long_chains)
    yield from (_measure_diameters, _sell, _keep_shop, _draw_steps)
    if importlib.util.find_spec("gymnasium") is not None:
        yield _play_environment


# agents --------------------------------------------------------------------------------------------------


def _use_agent(kind: type[BuiltinAgent]) -> None:
    """Run an agent compiled and step by step, ask it for reasons, save it and load it."""
    problem = _problem_for(kind)
    for planner in ({"planner": "fast"}, {}) if "planner" in inspect.signature(kind).parameters else ({},):
        agent = kind.for_problem(problem, **planner)
        simulate(agent, problem, seed=1).dynamic_regret(problem)
        simulate(agent, problem, seed=1, compiled=False)
    agent.act(problem.start)
    agent.observe(0.0, problem.start)
    if hasattr(agent, "explain"):
        for state in range(problem.space.n_states):
            agent.explain(state)
    if hasattr(agent, "indices"):
        agent.indices()
    with tempfile.TemporaryDirectory() as folder:
        agent.save(Path(folder) / "agent.npz")
        agents.load(Path(folder) / "agent.npz")


def _problem_for(kind: type[BuiltinAgent]) -> Problem:
    if kind.only_for == "inventory":
        return problems.inventory(capacity=4, horizon=HORIZON)
    return problems.bandit(horizon=HORIZON) if kind.only_for == "bandits" else problems.two_state(horizon=HORIZON)


def _detect_changes() -> None:
    """Let a detector that cries wolf make its learner forget pairs. Adaptive has a watched run of its own."""
    problem, detector = problems.two_state(horizon=HORIZON), agents.PageHinkleyDetector(1e-3, 1e-3, 1)
    for learner, restart in (("PSRL", "pairs"), ("Adaptive", "all"), ("AdaptiveV1", "all")):
        agent = agents.Detecting.for_problem(problem, learner=learner, restart=restart, detector=detector)
        simulate(agent, problem, seed=1)
        simulate(agent, problem, seed=1, compiled=False)


def _plan_past_plain_sweeps() -> None:
    """Run an optimist without optimism on a chain: plain sweeps are too slow, and its plan is accelerated."""
    problem = problems.river_swim(horizon=600)
    simulate(agents.UCRL2.for_problem(problem, scale=1e-6), problem, seed=3)


# planning ------------------------------------------------------------------------------------------------


def _plan_optimistically() -> None:
    mdp = garnet_mdp(10, 2, 3, 0.5, np.random.default_rng(0))
    centres = mdp.transitions
    for p_hat in (centres, centres.toarray()):
        for method in ("fast", "paper"):
            radius = np.full(mdp.space.n_pairs, 0.1)
            _ = planning.extended_value_iteration(
                mdp.space, mdp.rewards, p_hat, radius, 1e-3, method=method
            ).transitions
    upper = np.minimum(1.0, centres.toarray() + 0.1)
    planning.extended_value_iteration_over_intervals(mdp.space, mdp.rewards, centres, upper, 1e-3)


def _solve_gains() -> None:
    drifting = problems.two_state(horizon=HORIZON).drifting
    planning.gain_path(drifting)
    planning.optimal_gains(drifting, tolerance=0.01)
    drifting.variation()
    policy = planning.plan_finite_horizon(drifting).policy
    planning.total_reward(drifting, policy, 0)
    first = drifting.at(1)
    planning.optimal_gain(first)
    planning.policy_gain(first, [0, 0])
    planning.hitting_times(first, [0, 0], 1)
    planning.is_communicating(first)
    planning.check_communicating(_trap(), allow_transient=True)


def _trap() -> Mdp:
    return Mdp.from_dense([[0.0], [0.0]], [[[0.0, 1.0]], [[0.0, 1.0]]])


def _solve_long_chains() -> None:
    """Solve chains with more states than dense elimination is for, in their own order and in another."""
    mdp = problems.river_swim(n_states=LARGE).drifting.at(1)
    planning.optimal_gain(mdp)
    planning.optimal_gain(_shuffled(mdp))
    planning.extended_value_iteration(mdp.space, mdp.rewards, mdp.transitions, np.zeros(mdp.space.n_pairs), 1e-6)
    # What elimination in order cannot solve. The first policy stays, so each state is a class of its own.
    sparse_policy_iteration(_ring(10).arrays, np.zeros(10, np.int32), np.zeros(10), 1e-9)


def _shuffled(mdp: Mdp) -> Mdp:
    """Return an MDP of two actions per state with its states in another order."""
    order = np.random.default_rng(0).permutation(mdp.space.n_states)
    pairs = (2 * order[:, None] + np.arange(2)).ravel()
    return Mdp(mdp.space, mdp.rewards[pairs], mdp.transitions[pairs][:, order])


def _ring(n: int) -> Mdp:
    """Stay, which pays, or go on."""
    places = np.arange(n)
    targets = np.stack([places, (places + 1) % n], axis=1).ravel()
    transitions = sp.csr_array((np.ones(2 * n), targets, np.arange(2 * n + 1)), shape=(2 * n, n))
    rewards = np.stack([np.random.default_rng(0).random(n), np.zeros(n)], axis=1)
    return Mdp(Space.uniform(n, 2), rewards.ravel(), transitions)


def _measure_diameters() -> None:
    planning.diameter(problems.river_swim().drifting.at(1))
    with contextlib.suppress(NotConvergedError):  # so far that the first policy never arrives
        planning.diameter(_climb(30, 0.1), targets=[29])


def _climb(n: int, chance: float) -> Mdp:
    """Give up, or try to climb and mostly slip back."""
    rungs = np.arange(n)
    transitions = np.zeros((n, 2, n))
    transitions[rungs, 0, 0] = 1.0
    transitions[rungs, 1, np.minimum(rungs + 1, n - 1)] += chance
    transitions[rungs, 1, np.maximum(rungs - 1, 0)] += 1.0 - chance
    return Mdp.from_dense(np.zeros((n, 2)), transitions)


# inventory -----------------------------------------------------------------------------------------------


def _sell() -> None:
    dates = np.datetime64("2026-01-01") + np.arange(2 * HORIZON)
    series = inventory.Series("A", dates, np.arange(dates.size) % 4)
    for lead_time, capacity in ((0, 4), (1, None)):
        inventory.backtest(inventory.Sales((series,)), inventory.Costs(), capacity, lead_time, workers=1)
    items = [inventory.ItemSettings("A", {"supplier": "Mill"})]
    mill = inventory.Supplier("Mill", {"order_cost": 1.0, "minimum_units": 2})
    inventory.backtest(inventory.Sales((series,)), inventory.Costs(), 9, workers=1, items=items, suppliers=[mill])
    inventory.compare_rules(problems.inventory(capacity=4, horizon=HORIZON), [0])


def _keep_shop() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shop = inventory.Shop.create(Path(folder) / "shop.db", inventory.Costs(), capacity=4)
        own, supplier = inventory.ItemSettings("A", {"supplier": "S"}), inventory.Supplier("S", {"order_cost": 1.0})
        for day in (date(2026, 1, 1), date(2026, 1, 2)):
            shop.decide([inventory.Count("A", 2)], day, items=[own], suppliers=[supplier])
            shop.record([inventory.Sold("A", day, 1)])
        shop.explain("A")
        shop.close()
        _receive(Path(folder) / "late.db")
    engine = order_engine.OrderEngine("driftmdp.warm:forecast_zeros")
    terms = inventory.ItemTerms(inventory.Costs(), None, lead_time=2, supplier="S", shared_order=SharedOrder(1.0))
    engine.add_items(["A", "B"], [terms, replace(terms, service=0.9)])
    nothing = np.zeros(2, np.int64)
    engine.decide(date(2026, 1, 1).toordinal(), np.arange(2), nothing, nothing.reshape(2, 1), None)


def _receive(path: Path) -> None:
    """Keep shops of which deliveries are told, with our forecaster and with another."""
    monday = date(2026, 1, 5)
    north = inventory.Supplier("North", {"order_cost": 1.0})
    mine = inventory.ItemSettings("A", {"supplier": "North"}), inventory.ItemSettings("B", {"service": 0.9})
    for place, forecaster in enumerate((None, "driftmdp.warm:forecast_zeros")):
        where, costs = path.with_name(f"{place}.db"), inventory.Costs()
        with inventory.Shop.create(where, costs, capacity=4, lead_time=1, forecaster=forecaster) as shop:
            sold = [inventory.Sold(sku, monday, 1, ordered=2, stock=2) for sku in "AB"]
            shop.record(sold, items=mine, suppliers=[north])
            shop.receive([inventory.Delivery(sku, monday + timedelta(1), 0) for sku in "AB"])
            shop.decide([inventory.Count(sku, 0) for sku in "AB"], monday + timedelta(1))


def forecast_zeros(history: object, days: np.ndarray) -> np.ndarray:
    """Forecast no demand: the smallest forecaster of one's own."""
    return np.zeros((days.size, len(user_forecaster.LEVELS)))


# single steps --------------------------------------------------------------------------------------------


def _draw_steps() -> None:
    problem = problems.two_state(horizon=HORIZON)
    problem.sample(1, 0, 0, problem.draw_noise(np.random.default_rng(0)))


def _play_environment() -> None:
    from driftmdp.gymnasium import ProblemEnv

    environment = ProblemEnv(problems.two_state(horizon=HORIZON))
    environment.reset(seed=0)
    environment.step(0)
