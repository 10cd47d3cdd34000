"""AdSwitch (Auer, Gajane and Ortner, 2019), Algorithm 1 and its conditions (1) to (4), by going through intervals.

n[s, u] and mean[s, u] of an arm are over its plays at the times s..u. Condition (3) is judged by comparing each
interval [s, t] with each [s1, s2], one by one, where s2 is a time at which was tested.
"""

import math

import numpy as np

from tests.reference.bandits import Bandit, clip


class AdSwitch(Bandit):
    """GOOD arms are played in turn, with those BAD ones that have obligations (size, plays needed, since)."""

    def __init__(self, n_actions, horizon, *, c1, test_every, scale, draws, **options):
        super().__init__(n_actions, horizon, **options)
        self.c1 = c1
        self.test_every = test_every
        self.scale = scale
        self.draws = draws
        self.log = math.log(max(horizon, 2))
        self.alarms = []
        self.evictions = []
        self.obliged = []
        self.fulfilled = 0
        self.episode = 0
        self.start_episode()

    def unit(self, reward):
        return clip(super().unit(reward))

    def start_episode(self):
        self.episode += 1
        self.start = self.t
        self.good = set(range(self.n_arms))
        self.bad = {}
        self.obligations = {arm: [] for arm in range(self.n_arms)}
        self.intervals = {arm: [] for arm in range(self.n_arms)}

    # Choosing.

    def choose(self):
        self.add_obligations()
        able = [arm for arm in range(self.n_arms) if arm in self.good or self.obligations[arm]]
        return min(able, key=self.last_time)

    def add_obligations(self):
        """Each BAD arm is to be checked for a change of the size 2^-i with a small probability."""
        for arm, (_, gap) in sorted(self.bad.items()):
            i = 1
            while 2.0**-i >= gap / 16:
                chance = 2.0**-i * math.sqrt(self.episode / (self.n_arms * self.horizon * self.log))
                if self.draws.uniform() < chance:
                    self.obligations[arm].append((2.0**-i, math.ceil(2 * self.log / (2.0**-i) ** 2), self.t))
                    self.obliged.append((self.t, arm, i))
                i += 1

    def last_time(self, arm):
        return max((s for s, (played, _) in enumerate(self.plays, start=1) if played == arm), default=0)

    # Learning.

    def observe(self, reward, next_state):
        now = self.t
        super().observe(reward, next_state)
        for arm, open_ones in self.obligations.items():
            self.obligations[arm] = [one for one in open_ones if len(self.rewards(arm, one[2], now)) < one[1]]
            self.fulfilled += len(open_ones) - len(self.obligations[arm])
        if now % self.test_every == 0:
            for arm in range(self.n_arms):
                self.intervals[arm] += self.until(arm, now)
            self.test(now)

    def test(self, now):
        changed = [arm for arm in sorted(self.good) if self.good_arm_changed(arm, now)]
        changed = changed or [arm for arm in sorted(self.bad) if self.bad_arm_changed(arm, now)]
        evicted = {} if changed else self.evicted(now)
        if len(evicted) == len(self.good):
            changed = sorted(evicted)
        if changed:
            self.alarms.append((now, changed[0]))
            self.start_episode()
            return
        for arm, judgement in evicted.items():
            self.evictions.append((now, arm))
            self.good.remove(arm)
            self.bad[arm] = judgement
            self.obligations[arm] = []

    def rewards(self, arm, first, last):
        return [x for played, x in self.plays[first - 1 : last] if played == arm]

    def until(self, arm, last):
        """(mean, n) of an arm in [s, last] for all s of the episode, without those where it was not played."""
        found = [self.rewards(arm, s, last) for s in range(self.start, last + 1)]
        return [(sum(xs) / len(xs), len(xs)) for xs in found if xs]

    def radius(self, n):
        return self.scale * np.sqrt(2 * self.log / n)

    def good_arm_changed(self, arm, now):
        """(3): every [s, t] with every [s1, s2]."""
        if not self.intervals[arm]:
            return False
        mean, n = np.array(self.until(arm, now)).T
        earlier, m = np.array(self.intervals[arm]).T
        return bool(np.any(np.abs(mean[:, None] - earlier) > self.radius(n)[:, None] + self.radius(m)))

    def bad_arm_changed(self, arm, now):
        """(4)."""
        kept, gap = self.bad[arm]
        return any(abs(mean - kept) > gap / 4 + self.radius(n) for mean, n in self.until(arm, now))

    def evicted(self, now):
        """(1) and (2): the mean and the gap of each evicted arm, over the longest interval that shows it."""
        found = {}
        for s in range(self.start, now + 1):
            rewards = {arm: self.rewards(arm, s, now) for arm in self.good}
            means = {arm: sum(xs) / len(xs) for arm, xs in rewards.items() if xs}
            for arm in sorted(means):
                gap, n = max(means.values()) - means[arm], len(rewards[arm])
                if arm not in found and n >= 2 and gap > self.scale * math.sqrt(self.c1 * self.log / (n - 1)):
                    found[arm] = (means[arm], gap)
        return found
