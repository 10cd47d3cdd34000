"""Detecting: any learner, restarted when a detector finds that the world has changed.

The spirit is that of DAL [GHBV25] and GLR-klUCB [BKMS22] for bandits: a learner for a world that does not change, a
detector beside it, and, if wanted, a little forced exploration, so that changes elsewhere are seen too.

each step
    ask the learner for an action. At every ``1 / exploration``-th visit of a state take its next action in turn,
    let the learner learn from the step,
    add the reward and the next state to the streams of the pair, and let the detector compare old with new.
    If it fires, restart the learner, or let it forget the pair.

kernels/detection.py has the formulas of the detectors.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from driftmdp import kernels
from driftmdp.agents.alarms import Alarm, DetectingSummary
from driftmdp.agents.base import Agent, BuiltinAgent, ResumableAgent, RunContext
from driftmdp.agents.detectors import SMALLEST_DELTA, Detector, as_detector, default_delta, watch_params
from driftmdp.agents.inner_learner import as_mapping, fresh_learner, made_learner, restarted_learner
from driftmdp.agents.model_based import EpisodicAgent
from driftmdp.agents.plan_explanation import Plan
from driftmdp.agents.reward_range import Range, required_range, span_of
from driftmdp.agents.snapshot_checks import generator_text, require, restored_generator
from driftmdp.agents.watch_snapshot import restored_watch, watch_arrays
from driftmdp.agents.watchable import WatchableAgent
from driftmdp.errors import InvalidInputError
from driftmdp.kernels.detection_arrays import (
    ALARM,
    ALARM_FACTS,
    QUIET,
    WATCH_FULL,
    WatchParams,
    enlarge_watch,
    new_watch,
)
from driftmdp.mdp import Space
from driftmdp.npz import Arrays
from driftmdp.validation import as_fraction, as_integer, as_number, one_of

STREAMS = ("rewards", "next-states", "both")
RESTARTS = ("all", "pairs")
STREAM_NAMES = ("rewards", "next-states")
LEAST_EXPLORATION = 1e-12  # below, nothing is explored in 10^12 steps


class Detecting(ResumableAgent):
    """A learner that restarts when a detector fires on the rewards or next states of a pair.

    Parameters
    ----------
    space
        States and actions.
    horizon
        T, the number of steps. Only the default of delta and the learner depend on it.
    learner
        The name of an agent, or an agent. One that needs more than space, horizon and reward range is made first:
        ``learner=SWUCRL2CW.for_problem(problem)``. One of your own, with ``reset``, ``act`` and ``observe``, is run
        step by step, and cannot be saved.
    learner_parameters
        Parameters of a learner that is given by name, beyond space, horizon and reward range.
    detector
        ``"glr"``, ``"run-length"``, ``"cusum"`` or ``"page-hinkley"``, or one of the detectors with its constants.
    detector_parameters
        Constants of a detector that is given by name, such as margin and warmup of ``"cusum"``.
    watch
        What is watched: ``"rewards"``, ``"next-states"`` or ``"both"``.
    restart
        ``"all"``: the learner starts from scratch. ``"pairs"``: it forgets the pair only, and plans again.
        A learner with a window then fills it with steps of other pairs, some older than the window.
    exploration
        The share of the steps in a state that goes to its actions in turn.
    delta
        How easily the detector fires. For ``"glr"`` it is about the probability of a false alarm of all pairs
        together, 1/sqrt(T) by default. The others fire more often than that, and have 1/T.
    reward_range
        Bounds (lo, hi) on the rewards.
    seed
        Of the generator used until ``reset(rng)`` gives another. None is a fresh one.

    Examples
    --------
    >>> import driftmdp as dm
    >>> problem = dm.problems.garnet(n_states=5, drift="abrupt", horizon=3000)
    >>> run = dm.simulate(dm.agents.Detecting.for_problem(problem, learner="PSRL"), problem, seed=7)
    >>> [alarm.stream for alarm in run.summary.alarms][:1]
    ['rewards']
    """

    horizon: int
    reward_range: Range

    def __init__(
        self,
        space: Space,
        horizon: int,
        learner: str | Agent = "PSRL",
        learner_parameters: Mapping[str, Any] | None = None,
        detector: str | Detector = "glr",
        detector_parameters: Mapping[str, Any] | None = None,
        watch: str = "both",
        restart: str = "all",
        exploration: float = 0.0,
        delta: float | None = None,
        reward_range: Range = (0.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(space, as_integer(horizon, "horizon", minimum=1), seed)
        self.reward_range = required_range(reward_range)
        self.learner, self.learner_parameters = learner, as_mapping(learner_parameters, "learner_parameters")
        self.detector_parameters = as_mapping(detector_parameters, "detector_parameters")
        self.detector, self.watch = detector, one_of(watch, "watch", STREAMS)
        self.restart = one_of(restart, "restart", RESTARTS)
        self.exploration = as_fraction(exploration, "exploration")
        self.delta = delta if delta is None else as_number(delta, "delta", SMALLEST_DELTA, 1.0)
        # Never run itself: copies of it are.
        given = self.learner_parameters or {}
        self._template = made_learner(learner, given, self.space, self.horizon, self.reward_range)
        if self.restart == "pairs" and not isinstance(self._template, EpisodicAgent):
            name = type(self._template).__name__
            raise InvalidInputError(f"restart must be 'all' for {name}, which cannot forget a pair; got 'pairs'.")
        self._watch_params = self._made_params()
        self.reset()

    def _made_params(self) -> WatchParams:
        period = math.ceil(1.0 / self.exploration) if self.exploration >= LEAST_EXPLORATION else 0
        seen = self.watch != "next-states", self.watch != "rewards"
        bottom, span = self.reward_range[0], span_of(self.reward_range)
        shared = WatchParams(0, *seen, 0.0, 1.0, 0.0, 0, 0.0, 0.0, 0, 0, 0, period, bottom, span)
        detector = as_detector(self.detector, self.detector_parameters or {})
        delta = default_delta(detector, self.horizon) if self.delta is None else self.delta
        return watch_params(detector, shared, delta, self.space.n_states)

    # the protocol ------------------------------------------------------------------------------------

    def reset(self, rng: np.random.Generator | None = None) -> None:
        """Forget everything and start from scratch. The learner's generators are drawn from ``rng``."""
        super().reset(rng)
        self._rng = self._generator(rng)
        self._watch = new_watch(self._watch_params, self.space.n_states, self.space.n_pairs)
        self._alarms: list[Any] = []
        self._plans_before = 0  # of the learner's earlier lives
        self._advised = -1  # by the learner, for the step that waits
        self._learner: Any = fresh_learner(self._template, self._learners_rng())

    def _learners_rng(self) -> np.random.Generator:
        return np.random.default_rng(int(self._rng.integers(2**63)))

    @property
    def t(self) -> int:
        """The time of the step that comes next, from 1."""
        return int(self._watch.facts["t"][0]) + 1

    def _decide(self, state: int) -> int:
        if self._pending_step is not None and self._pending_step[0] == state:
            return self._pending_step[1]
        self._advised = self.space.pair(state, self._learner.act(state)) - int(self._offsets[state])
        return int(kernels.detection.forced_action(self._watch, self._offsets, state, self._advised))

    def _learn(self, state: int, action: int, reward: float, next_state: int) -> None:
        pair = int(self._offsets[state]) + action
        signal = kernels.detection.watch_step(self._watch, state, pair, reward, next_state)
        try:  # a warning may be raised as an error, after the learner has learned
            self._learner.observe(reward, next_state, *([] if action == self._advised else [action]))
        finally:
            self._pending_step = None
            self._heed(signal)

    def _heed(self, signal: int) -> None:
        """Do what a watch asks for."""
        if signal == ALARM:
            self._restart()
        if signal != QUIET:
            self._watch = enlarge_watch(self._watch)

    def _restart(self) -> None:
        facts = self._watch.facts[0].copy()
        self._alarms.append(facts)
        if self.restart == "pairs":
            self._learner.forget_pair(int(facts["pair"]))
            kernels.detection.forget_pair(self._watch, int(facts["pair"]))
        else:
            self._plans_before = self.n_plans
            kernels.transition_counts.forget_all(self._watch.counts)
            self._learner = restarted_learner(self._learner, self._template, self._learners_rng())

    def _play_rows(self, context: RunContext, first: int, last: int) -> None:
        while first < last:
            if not self._is_compiled:
                self._step(context, first)
                first += 1
                continue
            first, status = self._learner._play_some(context, first, last, self._watch)
            if status in (ALARM, WATCH_FULL):
                self._heed(status)
            elif first < last:
                self._learner._continue(status)

    @property
    def _is_compiled(self) -> bool:
        """Whether the learner's compiled run takes a watch. One that restarts itself in blocks has another run."""
        kind = type(self._learner)
        return (
            issubclass(kind, WatchableAgent)
            and kind.can_be_watched
            and kind._play_rows is WatchableAgent._play_rows
        )

    def _step(self, context: RunContext, row: int) -> None:
        """Play a row with ``act`` and ``observe``."""
        record, plans = context.record, self.n_plans
        action = self.act(int(record.states[row]))
        if self.n_plans != plans:
            record.sweeps[row], record.vacuous[row] = self.last_plan.sweeps, self.last_plan.vacuous
        self.observe(*kernels.world.take_step(*context.inputs, record, row, action))

    # what was found ----------------------------------------------------------------------------------

    @property
    def n_plans(self) -> int:
        """How many plans the learner made in all its lives."""
        plans = all(hasattr(type(self._learner), name) for name in ("n_plans", "last_plan"))
        return self._plans_before + (int(self._learner.n_plans) if plans else 0)

    @property
    def last_plan(self) -> Plan:
        """The facts of the learner's last plan, in its own time, which begins at its last restart."""
        return self._learner.last_plan  # type: ignore[no-any-return]

    @property
    def explain(self) -> Any:
        """The learner's own ``explain``, if it has one."""
        if not hasattr(self._learner, "explain"):
            raise AttributeError(
                f"{self.name} explains what its learner does; {type(self._learner).__name__} does not."
            )
        return self._learner.explain

    def alarms(self) -> tuple[Alarm, ...]:
        """Return all alarms so far."""
        return tuple(self._alarm(facts) for facts in self._alarms)

    def _alarm(self, facts: Any) -> Alarm:
        pair = int(facts["pair"])
        state = int(np.searchsorted(self._offsets, pair, side="right")) - 1
        found = float(facts["statistic"]), float(facts["threshold"]), int(facts["after"])
        return Alarm(
            int(facts["t"]), state, pair - int(self._offsets[state]), STREAM_NAMES[facts["stream"]], *found
        )

    def summary(self) -> DetectingSummary:
        """Return the alarms, and the learner's own summary."""
        summary = getattr(self._learner, "summary", None)
        return DetectingSummary(self.alarms(), None if summary is None else summary())

    # keeping -----------------------------------------------------------------------------------------

    def _state_arrays(self) -> Arrays:
        if not isinstance(self._learner, BuiltinAgent):
            name = type(self._learner).__name__
            raise InvalidInputError(f"learner must be an agent of driftmdp to be saved; got {name}.")
        waiting = self._learner._pending_step
        learned = {f"learner/{name}": array for name, array in self._learner._state_arrays().items()}
        return (
            learned
            | watch_arrays(self._watch)
            | {
                "rng": generator_text(self._rng),
                "alarms": np.array(self._alarms, ALARM_FACTS),
                "plans_before": np.array([self._plans_before]),
                "learner_waiting": np.array([] if waiting is None else waiting, np.int64),
            }
        )

    def _restore(self, arrays: Arrays) -> None:
        self._rng = restored_generator(arrays["rng"])
        self._watch = restored_watch(self._watch, self.space, arrays)
        alarms, waiting = arrays["alarms"], arrays["learner_waiting"]
        require(alarms.dtype == ALARM_FACTS and alarms.ndim == 1, "the alarms are wrong")
        require(
            bool(((alarms["pair"] >= 0) & (alarms["pair"] < self.space.n_pairs)).all()), "a pair does not exist"
        )
        require(bool(((alarms["stream"] >= 0) & (alarms["stream"] <= 1)).all()), "a stream does not exist")
        self._alarms = [alarm.copy() for alarm in alarms]
        self._plans_before = as_integer(int(arrays["plans_before"][0]), "plans", minimum=0)
        prefix = "learner/"
        learned = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        self._learner._restore(learned)
        if waiting.size:
            state, action = (int(number) for number in waiting)
            self.space.pair(state, action)
            self._learner._pending_step, self._advised = (state, action), action
