"""Optimistic Q-learning for the average reward, from its specification and the authors' code.

Wei, Jafarnia-Jahromi, Luo, Sharma and Jain (2020), ICML. Order of the updates and start values: the authors' code
(bahh723/model-free-rl-algos, agent.py, OptimisticDiscountedAgent). H and the bonus: as Colosseum quotes the paper.
"""

import math

TIE = 1e-9


class OptimisticQ:
    """Q and its running minimum, kept as dictionaries by state and action."""

    def __init__(
        self, n_actions, horizon, *, delta=None, span=1.0, discount=None, reward_range=(0.0, 1.0), scale=1.0
    ):
        self.n_actions = list(n_actions)
        self.horizon, self.span, self.scale = horizon, span, scale
        self.delta = 1 / horizon if delta is None else delta
        self.reward_range = reward_range
        pairs = [(s, a) for s, count in enumerate(n_actions) for a in range(count)]
        if discount is None:
            self.h = effective_horizon(len(pairs), horizon, span, self.delta)
            self.gamma = 1 - 1 / self.h
        else:
            self.h = 1 / (1 - discount)
            self.gamma = discount
        self.q = dict.fromkeys(pairs, self.h)
        self.least_q = dict.fromkeys(pairs, self.h)
        self.value = [self.h] * len(n_actions)
        self.visits = dict.fromkeys(pairs, 0)
        self.episode_starts, self.sweeps = [], []

    def act(self, state):
        values = [self.least_q[state, a] for a in range(self.n_actions[state])]
        best = [a for a, value in enumerate(values) if value >= max(values) - TIE]
        self.doing = state, min(best, key=lambda a: (self.visits[state, a], a))
        return self.doing[1]

    def observe(self, reward, next_state, action=None):
        pair = self.doing if action is None else (self.doing[0], action)
        self.visits[pair] += 1
        n = self.visits[pair]
        alpha = (self.h + 1) / (self.h + n)
        target = unit(reward, self.reward_range) + self.gamma * self.value[next_state] + self.bonus(n)
        self.q[pair] = (1 - alpha) * self.q[pair] + alpha * target
        self.least_q[pair] = min(self.least_q[pair], self.q[pair])
        state = pair[0]
        self.value[state] = max(self.least_q[state, a] for a in range(self.n_actions[state]))

    def bonus(self, n):
        return self.scale * 4 * self.span * math.sqrt(self.h / n * math.log(2 * self.horizon / self.delta))


def effective_horizon(n_pairs, horizon, span, delta):
    """H of the theorem, at least 2."""
    first = math.sqrt(span * horizon / n_pairs)
    second = (horizon / (n_pairs * math.log(4 * horizon / delta))) ** (1 / 3)
    return max(2.0, min(first, second))


def unit(reward, reward_range):
    """The reward mapped to [0, 1] and clipped."""
    low, high = reward_range
    return min(1.0, max(0.0, (reward - low) / (high - low if high > low else 1.0)))
