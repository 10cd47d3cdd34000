"""AdaptiveV1, transcribed from its pseudo-code (docs/adaptive.md, first edition), without a look at the kernels.

Memories are NumPy vectors of ten: k = 0 .. 8 fade, k = 9 keeps everything. A pair is (state, action); what is known
of one is a `Pair`, kept as of its last visit. States that were never met share the value `elsewhere`.
"""

import math

import numpy as np

FADE = np.array([1 - 1 / (4 * 3**k) for k in range(9)] + [1.0])
CONTEXTS = 40  # floor(log2(age)) of any run that can be compared


class Pair:
    """What is remembered of one pair, and what was last made of it (`refresh`)."""

    def __init__(self):
        self.last = self.gap = 0
        self.n, self.sums, self.squares = np.zeros(10), np.zeros(10), np.zeros(10)
        self.counts = {}  # next state -> ten counts
        self.recent = []  # the last two rewards

    def add(self, reward, after, t):
        age = t - self.last
        for kept in (self.n, self.sums, self.squares, *self.counts.values()):
            kept *= FADE**age
        self.n, self.sums, self.squares = self.n + 1, self.sums + reward, self.squares + reward**2
        self.counts.setdefault(after, np.zeros(10))[:] += 1
        self.recent = [*self.recent, reward][-2:]
        self.last, self.gap = t, age

    def experts(self, t):
        """The eleven predictions of the next reward."""
        line = self.recent[-1]
        if len(self.recent) == 2:
            before, latest = self.recent
            line = min(1.0, max(0.0, latest + (latest - before) * min((t - self.last) / self.gap, 2)))
        return np.append(self.sums / self.n, line)


def context(age):
    return age.bit_length() - 1  # floor(log2(age))


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


class AdaptiveV1:
    def __init__(self, n_actions, reward_range=(0.0, 1.0)):
        self.n_actions, self.n_states = list(n_actions), len(n_actions)
        self.reward_range = reward_range
        self.reset()

    def reset(self):
        self.t = 1
        self.pairs = {}  # (state, action) -> Pair, in order of first being tried
        self.visits = [0] * self.n_states
        self.bias, self.elsewhere = {}, 0.0
        self.w = np.full(10, 0.1)
        self.u = np.full((CONTEXTS, 11), 1 / 11)
        self.errors = np.full((CONTEXTS, 11), 0.1)
        self.met = [False] * CONTEXTS
        self.drift, self.sums = np.zeros(CONTEXTS), np.zeros((CONTEXTS, 3))  # D; A, B and F
        self.noise, self.n_errors, self.cursor = 0.25, 1, 0
        self.judged = []  # of every judged transition: (w before, the ten q)

    def sigma2(self, pair, u):
        n = pair.n[9]
        spread = np.maximum(0.0, pair.squares / pair.n - (pair.sums / pair.n) ** 2)
        return (2 * self.noise + n * (u[:10] @ spread)) / (2 + n)

    def doubt(self, x):  # L
        fair = max(self.visits[x[0]], self.t / sum(self.n_actions))
        return 1 + 0.5 * math.log(fair / self.pairs[x].n[9])

    def refresh(self, x):
        pair, c = self.pairs[x], context(self.t - self.pairs[x].last)
        u = self.u[c]  # even as long as nothing was judged at such an age
        pair.mean = u @ pair.experts(self.t)
        v = u @ np.append(pair.n, 1.0)
        moved = (math.log(1 + self.t - pair.last) / math.log(31)) ** 2 * self.drift[c]
        pair.log = self.doubt(x)
        pair.hoped = min(1.0, pair.mean + math.sqrt(pair.log * self.sigma2(pair, u) / v + moved))
        fade, pair.chances = FADE ** (self.t - pair.last), {}
        for after, counts in pair.counts.items():
            p = self.back_off(pair, counts * fade, fade, counts[9] / pair.n[9])
            pair.chances[after] = self.w @ p
        pair.size = self.w @ (pair.n * fade)

    def back_off(self, pair, counts, fade, longest):
        """From the longest memory to the shortest: what the next longer one says counts for one visit."""
        said, n = [longest], pair.n * fade
        for k in range(8, -1, -1):
            said.insert(0, (counts[k] + said[0]) / (n[k] + 1))
        return np.array(said)

    def all_values(self):  # h of all states, those never met at the end
        return [*self.bias.values(), *[self.elsewhere] * (self.n_states - len(self.bias))]

    def look_at_values(self):
        values = self.all_values()
        self.h_max, (self.h_mean, self.h_sd) = max(values), mean_and_deviation(values)

    def untried(self, visits):
        z = 1 + 0.5 * math.log(1 + visits)
        reward = min(1.0, self.r_mean + z * (self.r_sd + 1 / (len(self.pairs) + 1)))
        return reward + min(self.h_max, self.h_mean + z * self.h_sd)

    def value(self, x):
        if x not in self.pairs:
            return self.untried(self.visits[x[0]])
        pair, log = self.pairs[x], self.pairs[x].log
        top = min(self.h_max, self.h_mean + log * self.h_sd)
        ahead = sum(p * self.bias[after] for after, p in pair.chances.items())
        variance = sum(p * (self.bias[after] - ahead) ** 2 for after, p in pair.chances.items())
        leap = 0.1 * log / (pair.size + 0.1 * log)
        hope = max(ahead, min(top, ahead + 0.5 * math.sqrt(log * variance / pair.size)))
        return pair.hoped + (1 - leap) * hope + leap * top

    def best(self, state):
        return max(self.value((state, a)) for a in range(self.n_actions[state]))

    def plan(self):
        self.r_mean, self.r_sd = mean_and_deviation([pair.mean for pair in self.pairs.values()] or [1.0])
        for self.sweeps in range(1, 11):
            self.look_at_values()
            step = {state: self.best(state) - h for state, h in self.bias.items()}
            changes = list(step.values())
            if len(self.bias) < self.n_states:
                changes.append(self.untried(self.t) - self.elsewhere)
                self.elsewhere += 0.9 * changes[-1]
            for state in self.bias:
                self.bias[state] += 0.9 * step[state]
            least = min(self.all_values())
            self.bias = {state: h - least for state, h in self.bias.items()}
            self.elsewhere -= least
            self.residual = max(changes) - min(changes)
            if self.residual <= 0.01:
                break
        self.look_at_values()

    def act(self, state):
        known = list(self.pairs)
        for _ in range(min(32, len(known))):
            self.cursor = (self.cursor + 1) % len(known)
            self.refresh(known[self.cursor])
        self.plan()
        for x in known:
            if x[0] == state:
                self.refresh(x)
        self.values = [self.value((state, a)) for a in range(self.n_actions[state])]
        ties = [a for a, value in enumerate(self.values) if value >= max(self.values) - 1e-9]
        tried = {a: self.pairs[state, a].n[9] if (state, a) in self.pairs else 0 for a in ties}
        self.doing = (state, min(ties, key=tried.get))  # the lowest comes first
        return self.doing[1]

    def observe(self, reward, next_state):
        low, high = self.reward_range
        reward = min(1.0, max(0.0, (reward - low) / (high - low)))
        if self.doing in self.pairs:
            self.judge_transition(self.pairs[self.doing], next_state)
            self.judge_reward(self.pairs[self.doing], reward)
        for met in (self.doing[0], next_state):
            self.bias.setdefault(met, self.elsewhere)
        self.pairs.setdefault(self.doing, Pair()).add(reward, next_state, self.t)
        self.visits[self.doing[0]] += 1
        self.t += 1
        self.refresh(self.doing)

    def judge_transition(self, pair, after):
        fade, n, seen = FADE ** (self.t - pair.last), pair.n[9], len(pair.counts)
        counts = pair.counts.get(after, np.zeros(10))
        longest = (counts[9] + 0.5) / (n + (seen + 1) / 2)
        if after not in pair.counts:
            longest /= self.n_states - seen
        q = self.back_off(pair, counts * fade, fade, longest)
        self.judged.append((self.w, q))
        self.w = 0.997 * self.w * q / (self.w @ q) + 0.003 / 10

    def judge_reward(self, pair, reward):
        c = context(self.t - pair.last)
        if not self.met[c]:
            nearest = max((younger for younger in range(c) if self.met[younger]), default=c)
            self.u[c], self.errors[c], self.met[c] = self.u[nearest], self.errors[nearest], True
        missed = (reward - pair.experts(self.t)) ** 2
        error = (reward - pair.mean) ** 2  # what was said when choosing
        self.errors[c] += (missed - self.errors[c]) / 200
        scale = self.errors[c] + 1e-6
        u = self.u[c] * np.exp(-0.5 * np.log(scale) - 0.5 * np.minimum(missed / scale, 20))
        self.u[c] = 0.997 * u / u.sum() + 0.003 / 11
        f = self.sigma2(pair, self.u[c]) * (1 + 1 / pair.n[9])
        self.sums[c] = 0.999 * self.sums[c] + [1, error - f, f]
        below = 0.0
        for d, (a, b, f) in enumerate(self.sums.tolist()):
            chance = f * math.sqrt(2 / a) if a > 0 else 0.0
            self.drift[d] = below = min(0.25, max(below, (b - chance + 5 * 2 * below) / (a + 5)))
        self.noise += (error - self.noise) / min(self.n_errors + 1, 200)
        self.n_errors += 1
