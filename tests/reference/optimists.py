"""The optimistic agents, one class each, that remember every step and count again for every plan.

SWUCRL2-CW is [CSZ20] alg:swr-ucrl2 (Algorithm 1) with the regions eq:Hr and eq:Hp. Its while is read as
do-while (PAPER_NOTES 1); a pair never seen has the whole simplex and the top reward (PAPER_NOTES 3); an
optimistic reward is clip(r_hat + rad_r, 0, 1) in unit rewards (PAPER_NOTES 4). "SA" is the number of pairs.
The constants of the others are at the end of PAPER_NOTES.

Time t is 1, 2, ...; `steps[t - 1]` is (state, action, reward, next state). A *life* is the time since
everything was last forgotten; agents that never restart live once, from t = 1.
"""

import math

from tests.reference.extended_value_iteration import (
    choose,
    extended_value_iteration,
    extended_value_iteration_over_intervals,
)


class Optimist:
    """What all of them do; each says what it remembers, its radii, and when it must plan again."""

    def __init__(self, n_actions, horizon, *, delta=None, reward_range=(0.0, 1.0), scale=1.0, ties="least-visited"):
        self.n_actions = list(n_actions)
        self.n_states = len(n_actions)
        self.n_pairs = sum(n_actions)
        self.horizon = horizon
        self.delta = 1 / horizon if delta is None else delta
        self.reward_range = reward_range
        self.scale = scale
        self.ties = ties
        self.steps = []
        self.episode_starts = []
        self.sweeps = []

    # What an agent says of itself. -----------------------------------------------------------------------

    def life_start(self, t):
        """The first step of the life that t belongs to."""
        return 1

    def first_remembered(self, t):
        """The oldest step that a plan at t uses."""
        return self.life_start(t)

    def must_plan(self, t):
        """Whether an episode ends before t whatever was visited."""
        return t == self.life_start(t)

    def growth(self, t):
        """By which share of its visits a pair must grow to end an episode that began at t of a life."""
        return 1.0

    def reward_radius(self, rewards, t):
        """The radius around the mean of these unit rewards of one pair, for a plan at t."""
        raise NotImplementedError

    def transition_radius(self, n, t):
        """The L1 radius of a pair seen n times, for a plan at t."""
        raise NotImplementedError

    # The loop. -------------------------------------------------------------------------------------------

    @property
    def t(self):
        return len(self.steps) + 1

    def act(self, state):
        if self.episode_is_over(state):
            self.start_episode()
        self.doing = (state, self.policy[state])
        return self.policy[state]

    def observe(self, reward, next_state):
        self.steps.append((*self.doing, reward, next_state))

    def episode_is_over(self, state):
        if not self.episode_starts:
            return True
        start = self.episode_starts[-1]
        if self.t == start:
            return False
        if self.must_plan(self.t):
            return True
        pair = (state, self.policy[state])
        nu = sum(1 for s, a, _, _ in self.steps[start - 1 :] if (s, a) == pair)
        return nu >= max(1, math.ceil(self.growth(self.life_time(start)) * self.visits[pair]))

    def start_episode(self):
        self.visits = self.counts()
        plan = self.plan()
        self.policy = []
        for s in range(self.n_states):
            visits = [self.visits[s, a] for a in range(self.n_actions[s])]
            self.policy.append(choose(plan.values[s], visits, self.ties))
        self.episode_starts.append(self.t)
        self.sweeps.append(plan.sweeps)

    # Counting. -------------------------------------------------------------------------------------------

    def remembered(self):
        return self.steps[self.first_remembered(self.t) - 1 :]

    def counts(self):
        """N(s, a) of every pair, also the unseen."""
        counts = {(s, a): 0 for s in range(self.n_states) for a in range(self.n_actions[s])}
        for s, a, _, _ in self.remembered():
            counts[s, a] += 1
        return counts

    def rewards_of(self, pair):
        return [self.unit(reward) for s, a, reward, _ in self.remembered() if (s, a) == pair]

    def p_hat(self, pair):
        successors = [after for s, a, _, after in self.remembered() if (s, a) == pair]
        return [successors.count(after) / max(1, len(successors)) for after in range(self.n_states)]

    def unit(self, reward):
        """The reward mapped to [0, 1], or as it is where there is no range."""
        if self.reward_range is None:
            return reward
        return (reward - self.reward_range[0]) / self.reward_width

    @property
    def reward_width(self):
        """hi - lo, or 1 where there is no range or the range is one point."""
        if self.reward_range is None or self.reward_range[0] == self.reward_range[1]:
            return 1.0
        return self.reward_range[1] - self.reward_range[0]

    # Planning. -------------------------------------------------------------------------------------------

    def table(self, of_pair):
        return [[of_pair((s, a)) for a in range(self.n_actions[s])] for s in range(self.n_states)]

    def life_time(self, t):
        """1 at the first step of a life, 2 at the next, ..."""
        return t - self.life_start(t) + 1

    def precision(self):
        return 1 / math.sqrt(self.life_time(self.t))

    def reward_upper(self, pair):
        rewards = self.rewards_of(pair)
        mean = sum(rewards) / max(1, len(rewards))
        upper = mean + self.reward_radius(rewards, self.t)
        if self.reward_range is None:
            return upper
        if not rewards:
            return 1.0
        return min(1.0, max(0.0, upper))

    def plan(self):
        radius = self.table(lambda pair: self.transition_radius(self.visits[pair], self.t))
        return extended_value_iteration(
            self.table(self.reward_upper), self.table(self.p_hat), radius, self.precision()
        )


class SWUCRL2CW(Optimist):
    """[CSZ20] Algorithm 1."""

    def __init__(self, n_actions, horizon, window, widening, **options):
        super().__init__(n_actions, horizon, **options)
        self.window = window
        self.widening = widening

    def first_remembered(self, t):
        return max(1, t - self.window)

    def must_plan(self, t):
        return t % self.window == 0

    def reward_radius(self, rewards, t):
        return self.scale * paper_reward_radius(len(rewards), self)

    def transition_radius(self, n, t):
        return self.scale * paper_transition_radius(n, self) + self.widening


class SlidingWindowUCRL2(SWUCRL2CW):
    """The naive sliding window of Section 4.1: Algorithm 1 without widening."""

    def __init__(self, n_actions, horizon, window, **options):
        super().__init__(n_actions, horizon, window, 0.0, **options)


class UCRL2(Optimist):
    """Jaksch et al. (2010), Figure 1; `radii="paper"` puts eq:Hr and eq:Hp in its place."""

    def __init__(self, n_actions, horizon, *, radii="jaksch", **options):
        super().__init__(n_actions, horizon, **options)
        if radii not in ("jaksch", "paper"):
            raise ValueError(f"radii must be 'jaksch' or 'paper'; got {radii!r}")
        self.radii = radii

    def reward_radius(self, rewards, t):
        if self.radii == "paper":
            return self.scale * paper_reward_radius(len(rewards), self)
        return self.scale * jaksch_reward_radius(len(rewards), self.life_time(t), self)

    def transition_radius(self, n, t):
        if self.radii == "paper":
            return self.scale * paper_transition_radius(n, self)
        return self.scale * jaksch_transition_radius(n, self.life_time(t), self)


class Vanishing:
    """Boone and Gaujal (2025): episodes end at a growth that vanishes. Doubling is a growth of 1."""

    def growth(self, t):
        return math.sqrt(math.log(1 + t) / t)


class VanishingUCRL2(Vanishing, UCRL2):
    pass


class UCRL2S(UCRL2):
    """UCRL2 that forgets everything every `period` steps, or at ceil(i^3 / l^2) with delta / l^2, l = `changes`."""

    def __init__(self, n_actions, horizon, *, period=None, changes=None, **options):
        super().__init__(n_actions, horizon, **options)
        if (period is None) == (changes is None):
            raise ValueError("give either period or changes")
        self.period = period
        self.changes = changes
        if changes is not None:
            self.delta = self.delta / changes**2

    def life_start(self, t):
        if self.period is not None:
            return (t - 1) // self.period * self.period + 1
        start, i = 1, 1
        while restart_time(i, self.changes) <= t:
            start = restart_time(i, self.changes)
            i += 1
        return start


class SWUCRL(UCRL2):
    """Gajane, Ortner and Auer (2018): UCRL2's radii on the last `window` steps."""

    def __init__(self, n_actions, horizon, window, **options):
        super().__init__(n_actions, horizon, **options)
        self.window = window

    def first_remembered(self, t):
        return max(1, t - self.window)


class VariationAwareUCRL(Optimist):
    """Ortner, Gajane and Auer (2019): phases of ceil(i^2 / V^2) steps, radii that add the phase's variation.

    `reward_steps[t - 1]` is B_{r,t} in the problem's units, `transition_steps[t - 1]` is B_{p,t}.
    """

    def __init__(self, n_actions, horizon, reward_steps, transition_steps, **options):
        super().__init__(n_actions, horizon, **options)
        self.reward_steps = list(reward_steps)
        self.transition_steps = list(transition_steps)
        self.phase_starts = self._phase_starts()

    def _phase_starts(self):
        total = math.fsum(self.reward_steps) / self.reward_width + math.fsum(self.transition_steps)
        if total == 0:
            return [1]
        starts, i = [1], 1
        while starts[-1] <= self.horizon:
            starts.append(starts[-1] + math.ceil(i**2 / total**2))
            i += 1
        return starts

    def life_start(self, t):
        return max(start for start in self.phase_starts if start <= t)

    def phase_variation(self, steps, t):
        """The sum of the steps from the phase's first time to its last but one."""
        first = self.life_start(t)
        later = [start for start in self.phase_starts if start > t]
        last = min([start - 1 for start in later] + [self.horizon])
        return math.fsum(steps[q - 1] for q in range(first, last))

    def reward_radius(self, rewards, t):
        radius = math.sqrt(8 * self.logarithm(t) / max(1, len(rewards)))
        return self.scale * radius + self.phase_variation(self.reward_steps, t) / self.reward_width

    def transition_radius(self, n, t):
        radius = math.sqrt(8 * self.n_states * self.logarithm(t) / max(1, n))
        return self.scale * radius + self.phase_variation(self.transition_steps, t)

    def logarithm(self, t):
        return math.log(8 * self.n_pairs * self.life_time(t) ** 3 / self.delta)


class UCRL2B(Optimist):
    """Fruit, Pirotta and Lazaric (2020): empirical Bernstein sets, one interval for every next state."""

    def reward_radius(self, rewards, t):
        n = max(1, len(rewards))
        mean = sum(rewards) / n
        variance = max(0.0, sum(r * r for r in rewards) / n - mean * mean)
        return self.bernstein(variance, n)

    def bernstein(self, variance, n):
        log = math.log(6 * self.n_pairs * n / self.delta)
        return self.scale * (2 * math.sqrt(variance * log / n) + 6 * log / n)

    def lower(self, pair):
        if self.visits[pair] == 0:
            return [0.0] * self.n_states
        return [max(0.0, p - self.bernstein(p * (1 - p), self.visits[pair])) for p in self.p_hat(pair)]

    def upper(self, pair):
        if self.visits[pair] == 0:
            return [1.0] * self.n_states
        return [min(1.0, p + self.bernstein(p * (1 - p), self.visits[pair])) for p in self.p_hat(pair)]

    def plan(self):
        return extended_value_iteration_over_intervals(
            self.table(self.reward_upper), self.table(self.lower), self.table(self.upper), self.precision()
        )


class VanishingUCRL2B(Vanishing, UCRL2B):
    pass


class VanishingUCRL2S(Vanishing, UCRL2S):
    """With restarts, growth is by the time since the last one. With `every`, episodes end there too."""

    def __init__(self, n_actions, horizon, *, every=None, **options):
        super().__init__(n_actions, horizon, **options)
        self.every = every

    def must_plan(self, t):
        return super().must_plan(t) or (self.every is not None and self.life_time(t) % self.every == 0)


class Unlearning:
    """Those who learn nothing: no episodes, nothing remembered."""

    def __init__(self, n_actions, horizon):
        self.n_actions = list(n_actions)
        self.horizon = horizon
        self.t = 1
        self.episode_starts = []
        self.sweeps = []

    def observe(self, reward, next_state):
        self.t += 1

    def counts(self):
        return {(s, a): 0 for s in range(len(self.n_actions)) for a in range(self.n_actions[s])}


class Random(Unlearning):
    def __init__(self, n_actions, horizon, rng):
        super().__init__(n_actions, horizon)
        self.rng = rng

    def act(self, state):
        return int(self.rng.random() * self.n_actions[state])


class FixedPolicy(Unlearning):
    def __init__(self, n_actions, horizon, policy):
        super().__init__(n_actions, horizon)
        self.policy = policy

    def act(self, state):
        return int(self.policy[state])


class Oracle(Unlearning):
    """Follows `policies[t - 1]` at step t."""

    def __init__(self, n_actions, horizon, policies):
        super().__init__(n_actions, horizon)
        self.policies = policies

    def act(self, state):
        return int(self.policies[self.t - 1][state])


def paper_reward_radius(n, agent):
    """rad_r of eq:Hr."""
    return 2 * math.sqrt(2 * math.log(agent.n_pairs * agent.horizon / agent.delta) / max(1, n))


def paper_transition_radius(n, agent):
    """rad_p of eq:Hp."""
    log = math.log(agent.n_pairs * agent.horizon / agent.delta)
    return 2 * math.sqrt(2 * agent.n_states * log / max(1, n))


def jaksch_reward_radius(n, t, agent):
    """Eq. (3) of Jaksch et al."""
    return math.sqrt(7 * math.log(2 * agent.n_pairs * t / agent.delta) / (2 * max(1, n)))


def jaksch_transition_radius(n, t, agent):
    """Eq. (4) of Jaksch et al., with A the mean number of actions."""
    mean_actions = agent.n_pairs / agent.n_states
    return math.sqrt(14 * agent.n_states * math.log(2 * mean_actions * t / agent.delta) / max(1, n))


def restart_time(i, changes):
    """ceil(i^3 / l^2) in whole numbers."""
    return -(-(i**3) // changes**2)
