"""MASTER-UCRL of Wei and Luo (2021), Algorithms 4, 5 and 6, with Procedure 1 drawn as the block goes on.

An instance of the base is an agent of its own that remembers the steps at which it was active. All rewards here are
mapped to [0, 1]. Everything of a block is kept in lists, and every sum is taken again at every test.
"""

import math
from dataclasses import dataclass, field

from tests.reference.extended_value_iteration import extended_value_iteration
from tests.reference.optimists import Optimist
from tests.reference.xoshiro import Xoshiro


class UCRLACW(Optimist):
    """Algorithm 4: UCRL2 whose balls are widened until the span of the bias is at most 2 D."""

    def __init__(self, n_actions, horizon, diameter, **options):
        super().__init__(n_actions, horizon, **options)
        self.diameter = diameter
        self.widening = 0.0
        self.gain = 0.0
        self.total_widening = 0.0

    def confidence(self, n):
        return self.scale * 8 * math.sqrt(math.log(self.n_pairs * self.horizon / self.delta) / max(1, n))

    def reward_radius(self, rewards, t):
        return self.confidence(len(rewards))

    def transition_radius(self, n, t):
        return math.sqrt(self.n_states) * self.confidence(n) + self.widening

    def plan(self):
        self.widening = 1 / self.horizon
        found = self.plan_with_this_widening()
        while max(found.bias) - min(found.bias) > 2 * self.diameter:
            self.widening *= 2
            found = self.plan_with_this_widening()
        self.gain = found.gain
        return found

    def plan_with_this_widening(self):
        radius = self.table(lambda pair: self.transition_radius(self.visits[pair], self.t))
        rewards, p_hat = self.table(self.reward_upper), self.table(self.p_hat)
        return extended_value_iteration(rewards, p_hat, radius, self.precision())

    def is_widened_too_much(self):
        """Whether the sum of the widenings of all its steps is above the bound, after its last step."""
        steps = len(self.steps)
        log = math.log(self.n_pairs * self.horizon / self.delta)
        bound = 4 * self.scale * math.sqrt(self.n_states * self.n_pairs * steps * log)
        return self.total_widening > bound


@dataclass
class Instance:
    """A scheduled run of the base: `first` and `last` are steps of its block, from 0."""

    order: int
    first: int
    last: int
    base: UCRLACW


@dataclass
class Block:
    """2^n steps, and what has happened in them so far."""

    n: int
    instances: list = field(default_factory=list)
    rewards: list = field(default_factory=list)
    promises: list = field(default_factory=list)


class MASTER:
    """Algorithm 6."""

    def __init__(
        self,
        n_actions,
        horizon,
        diameter=1.0,
        *,
        rng,
        delta=None,
        reward_range=(0.0, 1.0),
        scale=1.0,
        test_scale=1.0,
        ties="least-visited",
    ):
        self.n_actions = list(n_actions)
        self.horizon = horizon
        self.diameter = diameter
        self.delta = 1 / horizon if delta is None else delta
        self.scale = scale
        self.test_scale = test_scale
        self.options = {"delta": self.delta, "reward_range": reward_range, "scale": scale, "ties": ties}
        self.draws = Xoshiro.seeded_by(rng)
        self.block = Block(0)
        self.t = 1
        self.active = None
        self.failures = []
        self.episode_starts = []
        self.n_blocks = 1
        self.started = {}
        self.closest = [-math.inf, -math.inf]

    def rho(self, t):
        """Lemma 11 without its constant, and at least 1 / sqrt(t) by Assumption 1."""
        s, pairs = len(self.n_actions), sum(self.n_actions)
        bound = self.scale * (math.sqrt(s * pairs / t) + pairs / t)
        return self.diameter * min(1.0, max(bound, 1 / math.sqrt(t)))

    def rho_hat(self, t):
        """Lemma 12."""
        n_hat = math.log2(self.horizon) + 1
        return 18 * n_hat * math.log(self.horizon / self.delta) * self.rho(t)

    def act(self, state):
        if self.active is None:
            self.schedule()
            here = len(self.block.rewards)
            alive = [one for one in self.block.instances if one.first <= here <= one.last]
            self.active = min(alive, key=lambda one: one.order)
        base = self.active.base
        plans = len(base.episode_starts)
        action = base.act(state)
        if len(base.episode_starts) > plans:
            self.episode_starts.append(self.t)
        return action

    def schedule(self):
        """Procedure 1, for this step of the block."""
        here, n = len(self.block.rewards), self.block.n
        for m in range(n, -1, -1):
            if here % 2**m == 0 and self.draws.uniform() < self.rho(2**n) / self.rho(2**m):
                base = UCRLACW(self.n_actions, self.horizon, self.diameter, **self.options)
                self.block.instances.append(Instance(m, here, here + 2**m - 1, base))
                self.started[m] = self.started.get(m, 0) + 1

    def observe(self, reward, next_state, action=None):
        base, block = self.active.base, self.block
        if action is not None:
            base.doing = (base.doing[0], action)
        base.observe(reward, next_state)
        base.total_widening += base.widening - 1 / self.horizon  # which every plan begins with
        block.rewards.append(base.unit(reward))
        block.promises.append(min(1.0, max(0.0, base.gain)))
        failure = self.failed_test()
        if failure is not None:
            self.failures.append((self.t, failure))
            self.begin_block(0)
        elif len(block.rewards) == 2**block.n:
            self.begin_block(block.n + 1)
        self.active = None
        self.t += 1

    def begin_block(self, n):
        self.block = Block(n)
        self.n_blocks += 1

    def failed_test(self):
        """The first that fails of: test 1 of all instances that end here, test 2, and too much widening."""
        block = self.block
        here = len(block.rewards) - 1
        lowest = min([1.0, *block.promises])
        failed = []
        for one in sorted(block.instances, key=lambda one: one.order):
            if one.last == here:
                mean = sum(block.rewards[one.first : one.last + 1]) / 2**one.order
                failed.append(self.fails(0, mean - lowest, 9 * self.test_scale * self.rho_hat(2**one.order)))
        if any(failed):
            return "test 1"
        steps = len(block.rewards)
        excess = sum(g - r for g, r in zip(block.promises, block.rewards, strict=True))
        if self.fails(1, excess / steps, 3 * self.test_scale * self.rho_hat(steps)):
            return "test 2"
        return "widening" if self.active.base.is_widened_too_much() else None

    def fails(self, test, statistic, threshold):
        self.closest[test] = max(self.closest[test], statistic / threshold)
        return statistic >= threshold
