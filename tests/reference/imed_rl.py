"""IMED-RL, from its specification and the authors' code: every step sums its counts again.

Pesquerel and Maillard (2022), NeurIPS 35. The divergence is the dual of Honda and Takemura (2015):
K(F, mu) = max over 0 <= x <= 1 / (M - mu) of E log(1 - (X - mu) x), where X <= M.
"""

import math

from tests.reference.optimistic_q import unit

TIE = 1e-9
PRECISION = 1e-3
MOST_SWEEPS = 100
MOST_ATOMS = 17
CELLS = 16
PRIOR_REWARD = 0.5


class IMEDRL:
    """The memory is the list of all steps."""

    def __init__(self, n_actions, horizon=None, *, reward_range=(0.0, 1.0), index="paper"):
        self.n_actions = list(n_actions)
        self.n_states = len(n_actions)
        self.reward_range = reward_range
        self.by_authors = index == "authors"
        self.steps = []
        self.potential = [0.0] * self.n_states
        self.indices = None
        self.episode_starts, self.sweeps = [], []

    def act(self, state):
        action = self.choose(state)
        self.doing = state, action
        return action

    def observe(self, reward, next_state, action=None):
        if action is not None:
            self.doing = self.doing[0], action
        self.steps.append((*self.doing, unit(reward, self.reward_range), next_state))

    # What is known of a pair. ----------------------------------------------------------------------------

    def visits(self, state, action):
        return sum(1 for s, a, _, _ in self.steps if (s, a) == (state, action))

    def rewards(self, state, action):
        return [reward for s, a, reward, _ in self.steps if (s, a) == (state, action)]

    def mean_reward(self, state, action):
        seen = self.rewards(state, action)
        return (PRIOR_REWARD + sum(seen)) / (len(seen) + 1)

    def transitions(self, state, action):
        seen = [after for s, a, _, after in self.steps if (s, a) == (state, action)]
        return [(1 / self.n_states + seen.count(after)) / (len(seen) + 1) for after in range(self.n_states)]

    def skeleton(self, state):
        counts = [self.visits(state, a) for a in range(self.n_actions[state])]
        if max(counts) == 0:
            return list(range(len(counts)))
        return [a for a, count in enumerate(counts) if count >= math.log(max(counts)) ** 2]

    # A step. ---------------------------------------------------------------------------------------------

    def choose(self, state):
        counts = [self.visits(state, a) for a in range(self.n_actions[state])]
        self.indices = None
        if 0 in counts:
            return counts.index(0)
        if self.episode_starts[-1:] != [len(self.steps) + 1]:
            self.iterate()
        self.indices = self.index_of_actions(state, counts)
        best = [a for a, index in enumerate(self.indices) if index <= min(self.indices) + TIE]
        return min(best, key=lambda a: (counts[a], a))

    def iterate(self):
        model = [
            [(self.mean_reward(s, a), self.transitions(s, a)) for a in self.skeleton(s)]
            for s in range(self.n_states)
        ]
        self.episode_starts.append(len(self.steps) + 1)
        self.sweeps.append(0)
        for _ in range(MOST_SWEEPS):
            self.sweeps[-1] += 1
            new = [max(r + dot(p, self.potential) for r, p in actions) for actions in model]
            new = [value - min(new) for value in new]
            change = max(abs(x - y) for x, y in zip(new, self.potential, strict=True))
            self.potential = new
            if change < PRECISION:
                return

    def index_of_actions(self, state, counts):
        models = [self.transitions(state, a) for a in range(len(counts))]
        values = [self.mean_reward(state, a) + dot(p, self.potential) for a, p in enumerate(models)]
        mu, top = max(values), 1 + max(self.potential)
        indices = []
        for a, n in enumerate(counts):
            index = math.log(n)
            if values[a] < mu:
                atoms, weights = product_law(reward_law(self.rewards(state, a)), models[a], self.potential)
                index += n * divergence(atoms, weights, mu, top)
                if self.by_authors:  # who maximise E log(M - (X - mu) x), and do not subtract log M
                    index += n * math.log(top)
            indices.append(index)
        return indices


def reward_law(rewards):
    """Values with weights of sum one: the prior's 0.5 and the rewards seen, on a grid from the 18th value on."""
    law, on_grid = {PRIOR_REWARD: 1.0}, False
    for reward in rewards:
        if not on_grid and reward not in law and len(law) == MOST_ATOMS:
            law, on_grid = to_grid(law), True
        for value, weight in to_grid({reward: 1.0}).items() if on_grid else [(reward, 1.0)]:
            law[value] = law.get(value, 0.0) + weight
    return {value: weight / (len(rewards) + 1) for value, weight in law.items()}


def to_grid(law):
    """The same mean on 0, 1/16, ..., 1: every value is split between its two neighbours."""
    split = {}
    for value, weight in law.items():
        cell = min(math.floor(CELLS * value), CELLS - 1)
        share = CELLS * value - cell
        for place, part in ((cell, 1 - share), (cell + 1, share)):
            split[place / CELLS] = split.get(place / CELLS, 0.0) + weight * part
    return split


def product_law(law, transitions, potential):
    """Reward plus potential of the next state, as independent."""
    pairs = [(v + h, w * p) for v, w in law.items() for p, h in zip(transitions, potential, strict=True)]
    return [value for value, _ in pairs], [weight for _, weight in pairs]


def divergence(atoms, weights, mu, top):
    """K of a law with these atoms, by bisection on the derivative, which falls. Not below 0."""

    def slope(x):
        return sum(-w * (v - mu) / (1 - (v - mu) * x) for v, w in zip(atoms, weights, strict=True) if w > 0)

    def value(x):
        return sum(w * math.log(1 - (v - mu) * x) for v, w in zip(atoms, weights, strict=True) if w > 0)

    low, high = 0.0, 1 / (top - mu)
    if slope(low) <= 0:
        return 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        inside = all(1 - (v - mu) * middle > 0 for v, w in zip(atoms, weights, strict=True) if w > 0)
        if inside and slope(middle) > 0:
            low = middle
        else:
            high = middle
    return max(0.0, value(low))


def dot(p, u):
    return sum(x * y for x, y in zip(p, u, strict=True))
