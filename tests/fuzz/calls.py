"""Every public callable, with arguments of every kind, returns a result or raises one sentence.

Callables are discovered: the functions and classes of the modules below, and the methods of objects made here. A
case is one call. Most calls have one wrong argument, some have many. Calls that Python itself could not bind are
left out.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import fractions
import functools
import importlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import driftmdp as dm
from tests.fuzz.harness import answered

MODULES = (
    *("agents", "problems", "formulas", "formulas.bounds", "formulas.lemmas"),
    *("planning", "mdp", "statistics", "simulation", "interchange"),
)
NOT_FOR_USERS = {"play", "RunContext"}  # the engine's side of an agent
OWN_CODE = {"bound"}  # functions of the caller: what they raise goes through
T, S, A = 30, 3, 2


class Target(NamedTuple):
    """A function or a class, or the method of an object, and whether it is about bandits or inventories."""

    name: str
    call: Callable[..., Any]
    world: str = ""


def case(rng: np.random.Generator, folder: Path) -> None:
    """Make one call in an empty folder."""
    found = targets()[rng.integers(2)]  # functions and classes, or methods
    target = found[rng.integers(len(found))]
    arguments = drawn_arguments(target, rng)
    owner = getattr(target.call, "__self__", None)
    is_live = isinstance(owner, dm.agents.BuiltinAgent)  # a case must not depend on those before it
    call = getattr(copy.deepcopy(owner), target.call.__name__) if is_live else target.call
    try:
        inspect.signature(call).bind(**arguments)
    except TypeError:
        return
    with contextlib.chdir(folder):
        try:
            answered(lambda: exhausted(call(**arguments)))
        except Exception as error:
            error.add_note(f"{target.name}({', '.join(f'{k}={v!r:.300}' for k, v in arguments.items())})")
            raise


def exhausted(answer: Any) -> Any:
    """Return an answer, having asked an iterator for all of it."""
    return list(itertools.islice(answer, 1000)) if isinstance(answer, Iterator) else answer


@functools.cache
def targets() -> tuple[list[Target], list[Target]]:
    """Return everything that can be called: functions and classes, and methods."""
    found: list[Target] = []
    methods: list[Target] = []
    for module in MODULES:
        home = importlib.import_module(f"driftmdp.{module}")
        for name in home.__all__:
            thing = getattr(home, name)
            if name not in NOT_FOR_USERS and callable(thing) and not is_result(thing):
                found.append(Target(f"{module}.{name}", thing, getattr(thing, "only_for", "")))
    for thing, world in objects():
        for name, method in callables(thing):
            if type(thing) is dm.agents.Optimist and name == "for_problem":
                method = functools.partial(method, **composition(type(thing)))
            if not name.startswith("_") and name not in NOT_FOR_USERS and not isinstance(method, type):
                methods.append(Target(f"{type(thing).__name__}.{name}", method, world))
    return found, methods


def callables(thing: Any) -> Iterator[tuple[str, Any]]:
    """Give what can be called of an object, by name, without what it refuses, such as a plan not yet made."""
    for name in dir(thing):
        with contextlib.suppress(AttributeError, dm.errors.InvalidInputError):
            if callable(found := getattr(thing, name)):
                yield name, found


def is_result(thing: Any) -> bool:
    """Return whether a class is only made by this package, which does not check what it gives itself."""
    if not isinstance(thing, type):
        return False
    if dataclasses.is_dataclass(thing):
        return not hasattr(thing, "__post_init__")
    unmade = dm.agents.Agent, dm.agents.PlanningAgent, dm.planning.Diameter
    return issubclass(thing, tuple) or inspect.isabstract(thing) or thing in unmade


@functools.cache
def objects() -> list[tuple[Any, str]]:
    """Return objects whose methods are called, with the world that each is about."""
    problem, problems = world_of("").problem, dm.problems
    run = dm.simulate(dm.agents.Random(problem.space), problem, seed=1)
    things: list[tuple[Any, str]] = [
        (thing, "")
        for thing in (problem.space, problem.drifting.at(1), problem.drifting, problem, problem.noise, run)
    ]
    things += [(dm.planning.gain_path(problem.drifting), ""), (dm.formulas.exp3p_parameters(3, 100), "")]
    laws = problems.Poisson(2.0), problems.Geometric(2.0), problems.Gamma(2.0, 2.0), problems.Costs()
    paths = (
        problems.Constant(1.0),
        problems.Trend(1.0, 2.0),
        problems.Seasonal(1.0, 0.5, 7),
        problems.Given([1.0] * T),
    )
    things += [(thing, "inventory") for thing in (*laws, *paths)]
    things += [(world_of("inventory").problem, "inventory"), (problems.perils(3), "")]
    for kind in dm.agents.builtin().values():
        agent = kind.for_problem(world_of(kind.only_for).problem, **composition(kind))
        for _ in range(2):
            agent.observe(0.0, agent.act(0) if kind.only_for == "inventory" else 0 * agent.act(0))
        things.append((agent, kind.only_for))
    return things


def composition(kind: type[dm.agents.BuiltinAgent]) -> dict[str, Any]:
    """Return what an agent cannot be made without."""
    parts = dm.agents
    return {"memory": parts.Everything(), "confidence": parts.JakschRadii()} if kind is parts.Optimist else {}


class World(NamedTuple):
    """A problem and what fits it."""

    problem: dm.Problem
    values: dict[str, Any]


@functools.cache
def world_of(kind: str) -> World:
    """Return a small world for bandits, inventories or others, and arguments that fit it, by name."""
    if kind == "inventory":
        problem: dm.Problem = dm.problems.inventory(capacity=4, horizon=T)
    elif kind == "bandits":
        problem = dm.problems.bandit(n_arms=4, horizon=T)
    else:
        problem = dm.problems.garnet(n_states=S, n_actions=A, branching=2, horizon=T)
    return World(problem, usual_values(problem))


def usual_values(problem: dm.Problem) -> dict[str, Any]:
    """Return arguments that fit a problem, by the name of the parameter."""
    mdp, space, parts = problem.drifting.at(1), problem.space, dm.agents
    pairs, states = space.n_pairs, space.n_states
    tables = np.full((1, 5), 0.2)
    ones = {"state": 0, "next_state": 0, "action": 0, "pair": 0, "k": 0, "t": 2, "first": 1, "last": 3, "seed": 1}
    sizes = {"horizon": T, "n_states": S, "n_actions": A, "n_arms": 4, "capacity": 4, "rounds": 50, "branching": 2}
    shares = {"delta": 0.1, "discount": 0.9, "gamma": 0.5, "level": 0.9, "stay": 0.9, "probability": 0.5, "xi": 0.6}
    texts = {"path": "file.npz", "name": "two-state-v1", "text": "bernoulli", "form": "primal", "kind": "none"}
    arrays = {
        "rewards": mdp.rewards,
        "transitions": mdp.transitions,
        "weights": np.ones((T, 1)),
        "policy": np.zeros(states, int),
        "policies": np.zeros((1, states), int),
        "policy_index": np.zeros(T, int),
        "counts": np.arange(pairs),
        "variances": np.full(pairs, 0.1),
        "radius": np.full(pairs, 0.1),
        "reward_upper": np.full(pairs, 0.9),
        "p_hat": mdp.transitions,
        "lower": mdp.transitions * 0.5,
        "upper": mdp.transitions,
        "upper_elsewhere": np.full(pairs, 0.1),
        "visits": np.arange(1, 5),
        "values": np.arange(6.0).reshape(3, 2),
        "a": np.arange(4.0),
        "b": np.ones(4),
        "numerator": np.arange(4.0),
        "denominator": np.ones(4),
        "differences": np.arange(4.0),
        "p_values": [0.1, 0.5],
        "horizons": [10, 100],
        "samples": [[1.0, 2.0], [3.0, 4.0]],
        "gains": np.zeros(T),
        "demand": np.ones(3),
        "order": np.ones(3, int),
        "sales": np.ones(3, int),
        "stock": np.ones(3, int),
        "mean": np.ones(3),
        "tables": tables,
        "position": np.zeros(T),
        "numbers": [1.0] * T,
        "levels": [1.0, 2.0],
        "change_points": [10],
        "starts": [1, 10],
        "reward_steps": np.zeros(T - 1),
        "transition_steps": np.zeros(T - 1),
        "available": np.ones((S, A), bool),
    }
    objects = {
        "space": space,
        "mdp": mdp,
        "mdps": [mdp] * 2,
        "anchors": [mdp],
        "drifting": problem.drifting,
        "problem": problem,
        "world": problem,
        "agent": parts.Random(space),
        "rng": np.random.default_rng(1),
        "draws": problem.draw_noise(np.random.default_rng(1)),
        "costs": dm.problems.Costs(),
        "memory": parts.SlidingWindow(5),
        "confidence": parts.JakschRadii(),
        "schedule": parts.Doubling(),
        "bound": lambda horizon: 5.0 * horizon**0.5,
        "reward_range": (0.0, 1.0),
        "matrices": [sp.csr_array(np.eye(S))] * A,
        "table": {0: {0: [(1.0, 0, 0.5, False)]}},
    }
    numbers = {"b_r": 1.0, "b_p": 1.0, "diameter": 2.0, "window": 5, "widening": 0.1, "zeta": 0.5, "factor": 2.0}
    special = {
        "Space.n_actions": [2, 2, 2],
        "simulate_until.agent": parts.UCRL2(space, T),
        "simulate_until.steps": [2, 5],
        "to_quantecon.beta": 0.9,
        "from_dense.rewards": np.ones((S, A)),
        "from_dense.transitions": np.full((S, A, S), 1 / S),
        "from_mdptoolbox.transitions": np.full((A, S, S), 1 / S),
        "from_mdptoolbox.rewards": np.ones((S, A)),
        "from_scipy.rewards": np.ones((S, A)),
        "piecewise.change_points": [10, T],
        "save.world": problem.drifting,
        "true_cost.stock": 1,
        "true_cost.order": 1,
        "true_cost.demand": 1,
        "Seasonal.mean": 2.0,
        "median_interval.values": np.arange(4.0),
        "bernstein_radii.p_hat": mdp.transitions.toarray(),
    }
    return {**ones, **sizes, **shares, **texts, **arrays, **objects, **numbers, **special}


def drawn_arguments(target: Target, rng: np.random.Generator) -> dict[str, Any]:
    """Return arguments by name, of which some are wrong."""
    known = {
        name: parameter
        for name, parameter in inspect.signature(target.call).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    if not known:
        return {}
    share = rng.choice([0.0, 0.3, 0.7])  # of wrong arguments
    wrong = {name for name in known if rng.random() < share} or {list(known)[rng.integers(len(known))]}
    usual, arguments, last = world_of(target.world).values, {}, target.name.rpartition(".")[2]
    for name, parameter in known.items():
        optional = parameter.default is not parameter.empty
        if name in wrong and name not in OWN_CODE:
            arguments[name] = anything(rng)
        elif not (optional and rng.random() < 0.7):
            arguments[name] = usual.get(f"{last}.{name}", usual.get(name, parameter.default if optional else 2))
    return arguments


def anything(rng: np.random.Generator) -> Any:
    """Return one of many things."""
    pool = things()
    return pool[rng.integers(len(pool))]()


class Odd:
    """A thing that is nothing of use."""

    def __repr__(self) -> str:
        return "Odd()"


@functools.cache
def things() -> list[Callable[[], Any]]:
    """Return makers of all kinds of things."""
    problem, bandit = world_of("").problem, world_of("bandits").problem
    mdp = problem.drifting.at(1)
    whole = [0, 1, 2, 3, 7, -1, -5, 2**40 + 1, 2**62, 2**63 - 1, 2**63, -(2**63), 10**30, True, False]
    # nothing that fits into some memories, and takes minutes there
    real = [0.0, 0.5, 1.0, 1.5, -0.5, 1e-320, 1e-12, 1e150, 1e300, -1e300, np.nan, np.inf, -np.inf]
    texts = ["", "x", "nan", "0.5", "none", "bernoulli", "T^0.5", "é\x1b[31m", "a\nb", "\ud800", "../x", b"x", b""]
    plain = [None, ..., Ellipsis, 1j, fractions.Fraction(1, 3), datetime.date(2026, 1, 5), Odd(), object(), len]
    holders = [
        [],
        [0],
        [0, 1],
        [0.5, 0.5],
        [[0.5, 0.5]],
        [[1], [1, 2]],
        (),
        (0, 1),
        (1, 0),
        (0.0, np.inf),
        (0, 1, 2),
    ]
    more = [{}, {"a": 1}, {0: 0.5}, {1, 2}, frozenset(), range(3), slice(3), "abc".split, [None, 1], ["a", "b"]]
    scalars = [
        np.int64(3),
        np.float32(0.5),
        np.bool_(True),
        np.uint8(20),
        np.str_("x"),
        np.datetime64("2026-01-05"),
    ]
    arrays = [
        np.zeros(0),
        np.array(2),
        np.array(0.5),
        np.array(True),
        np.array("x"),
        np.array(None),
        np.ones(1),
        np.arange(3),
        np.ones(6),
        np.full(6, np.nan),
        np.full(3, -1),
        np.ones(T),
        np.arange(T),
        np.ones((2, 2)),
        np.ones((3, 3)) / 3,
        np.ones((6, 3)) / 3,
        np.ones((T, 1)),
        np.ones((3, 2, 3)) / 3,
        np.ones((2, 3, 3), bool),
        np.array([None, "a", 3], object),
        np.array(["a", "b", "c"]),
        np.array([b"a", b"b"]),
        np.array(["2026-01-05"] * 3, "M8[D]"),
        np.array([1, 2, 3], "m8[s]"),
        np.array([1 + 1j] * 3),
        np.ma.masked_array([0.5, 0.5, 0.5], [0, 1, 0]),
        np.ma.masked_array(np.ones((6, 3)) / 3, np.eye(6, 3)),
        np.ones(3, "f2"),
        np.ones(3, "f4")[::-1],
        np.zeros(3, [("a", "i4")]),
        np.full(3, 2**62),
        np.full(3, 1e300),
    ]
    sparse = [mdp.transitions, sp.csr_array((6, 3)), sp.csc_array(np.eye(3)), sp.coo_array(np.ones((6, 3)) / 3)]
    own = [
        *(
            problem.space,
            bandit.space,
            dm.Space([1, 3]),
            mdp,
            bandit.drifting.at(1),
            problem.drifting,
            problem,
            bandit,
        ),
        *(world_of("inventory").problem, dm.problems.Costs(), dm.problems.Poisson(2.0), dm.problems.Constant(1.0)),
        *(dm.agents.UCRL2(problem.space, 50), dm.agents.UCB1(bandit.space), dm.agents.SlidingWindow(3)),
        *(dm.agents.JakschRadii(scale=0.5), dm.agents.Doubling(2), dm.agents.Everything(), problem.noise),
        *(dm.agents.UCRL2, dm.Space, dm.Problem, dm.agents.SlidingWindow, dm.agents.PaperRadii, int, dict, Odd),
        *(dm.problems.two_state, lambda *a, **k: None, lambda t: "x"),
    ]
    makers: list[Callable[[], Any]] = [
        functools.partial(lambda value: value, value)
        for value in (*whole, *real, *texts, *plain, *holders, *more, *scalars, *sparse, *own)
    ]
    makers += [array.copy for array in arrays]
    makers += [lambda: np.random.default_rng(1), lambda: iter([1, 2]), lambda: (i for i in range(3))]
    return makers
