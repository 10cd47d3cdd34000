"""RestartQ-UCB of Mao, Zhang, Zhu, Simchi-Levi and Basar (2021), Hoeffding's bonus, without local budgets.

One stream of steps is cut into episodes of H steps. Every estimate is taken again from the visits of the epoch.
"""

import math


class RestartQ:
    """Algorithm 1 with update rule (1).

    `visits[h, s, a]` are the pairs (unit reward, V_{h+1} of the next state) of this epoch.
    """

    def __init__(
        self, n_actions, horizon, episode, restart_every, *, delta=None, reward_range=(0.0, 1.0), scale=1.0
    ):
        self.n_actions = list(n_actions)
        self.horizon = horizon
        self.episode = episode
        self.restart_every = restart_every
        self.iota = math.log(2 / (1 / horizon if delta is None else delta))
        self.low, high = reward_range
        self.width = high - self.low if high > self.low else 1.0
        self.scale = scale
        self.t = 1
        self.epoch_starts = []
        self.episode_starts = []
        self.updates = 0

    def act(self, state):
        if self.is_new_epoch() and self.t not in self.epoch_starts:
            self.visits, self.q = {}, {}
            self.epoch_starts.append(self.t)
        h = self.step()
        values = [self.value(h, state, a) for a in range(self.n_actions[state])]
        best = [a for a in range(len(values)) if values[a] >= max(values) - 1e-9]
        action = min(best, key=lambda a: (len(self.visits.get((h, state, a), [])), a))
        self.doing = (h, state, action)
        return action

    def observe(self, reward, next_state, action=None):
        h, state, advised = self.doing
        triple = (h, state, advised if action is None else action)
        seen = self.visits.setdefault(triple, [])
        seen.append(((reward - self.low) / self.width, self.state_value(h + 1, next_state)))
        stage = self.ended_stage(len(seen))
        if stage is not None:
            self.update(triple, seen[-stage:])
        self.t += 1

    def step(self):
        """h, from 1 to H."""
        return (self.t - 1) % self.episode + 1

    def is_new_epoch(self):
        return self.step() == 1 and (self.t - 1) // self.episode % self.restart_every == 0

    def value(self, h, state, action):
        return self.q.get((h, state, action), float(self.episode - h + 1))

    def state_value(self, h, state):
        if h > self.episode:
            return 0.0
        return max(self.value(h, state, a) for a in range(self.n_actions[state]))

    def ended_stage(self, n):
        """The length of the stage that ends with the n-th visit, or None."""
        length, end = self.episode, self.episode
        while end < n:
            length = length + length // self.episode
            end += length
        return length if end == n else None

    def update(self, triple, stage):
        n, h = len(stage), self.episode
        bonus = self.scale * (math.sqrt(h * h * self.iota / n) + math.sqrt(self.iota / n))
        mean = sum(reward for reward, _ in stage) / n + sum(value for _, value in stage) / n
        self.q[triple] = min(self.value(*triple), mean + bonus)
        self.updates += 1


def default_episode(horizon, n_states, n_pairs):
    """H where none is given."""
    if n_states == 1:
        return 1
    return min(horizon, max(2, math.ceil((horizon / n_pairs) ** (1 / 9))))


def default_restart_every(horizon, episode, n_pairs, budget):
    """K = ceil(M / D) episodes, D = (B^2 T / P)^(1/3), at least 1 and at most M."""
    episodes = math.ceil(horizon / episode)
    if budget == 0:
        return episodes
    epochs = (budget**2 * horizon / n_pairs) ** (1 / 3)
    return min(episodes, max(1, math.ceil(episodes / epochs)))
