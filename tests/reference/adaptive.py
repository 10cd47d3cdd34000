"""The second edition of Adaptive, transcribed from its pseudo-code without a look at the kernels.

Memories are the last axis of eleven: k = 0 .. 9 fade, k = 10 (ALL) keeps everything. A pair is (state, action).
What is known of one is a `Pair`, kept as of its last visit. Values of states are a vector, 0 where never met.
"""

import math

import numpy as np

ALL = 10  # the memory that keeps everything
REACH = [4 / 3 * 3**k for k in range(ALL)]  # l
FADE = np.array([1 - 1 / reach for reach in REACH] + [1.0])  # gamma
START = np.array([0.01] * ALL + [0.9])  # pi
CONTEXTS = 40
SHARE = 0.003
TOLD_APART = 1e-9  # values that differ by less tie


class Pair:
    """What is remembered of one pair as of its last visit, and what `refresh` last made of it."""

    def __init__(self, n_states):
        self.last = 0
        self.n, self.sums, self.squares = (np.zeros(ALL + 1) for _ in range(3))
        self.counts = np.zeros((n_states, ALL + 1))  # C_k(s')
        self.excess = self.expected = 0.0  # E, F

    @property
    def visits(self):
        return self.n[ALL]

    @property
    def means(self):
        return self.sums / self.n

    @property
    def n_next(self):
        return np.count_nonzero(self.counts[:, ALL])

    def add(self, reward, after, t):
        for kept in (self.n, self.sums, self.squares, self.counts):
            kept *= FADE ** (t - self.last)
        self.n += 1
        self.sums += reward
        self.squares += reward**2
        self.counts[after] += 1
        self.last = t

    def faded(self, age):
        """Return rho (11,) and m (11,). The memory of everything needs nothing older: its rho is 0."""
        n = self.n * FADE**age
        older = np.maximum(self.visits - n, 1e-9)
        rho = np.minimum(1.0, 1 / older)
        rho[ALL] = 0.0
        m = n + rho * older
        m[ALL] = self.visits
        return rho, m

    def parts(self, age):
        """Return (1 - rho) gamma^a C + rho C_10 for every next state, (S, 11)."""
        rho, _ = self.faded(age)
        return (1 - rho) * FADE**age * self.counts + rho * self.counts[:, ALL:]


def context(age):
    return min(CONTEXTS - 1, age.bit_length() - 1)  # floor(log2(age))


def mean_and_deviation(values, weights=None):
    mean = np.average(values, weights=weights)
    return mean, math.sqrt(max(0.0, np.average(np.square(values), weights=weights) - mean**2))


def shared(weights):
    """Normalise, then deal some of the weight out."""
    return (1 - SHARE) * weights / weights.sum() + SHARE * START


def learn(drift, sums, errors, most=math.inf):
    """Learn a drift (D or G) and its sums (A, B, C) from the errors (context, excess, variance) of one step."""
    sums *= 1 - 1 / np.maximum(1000.0, 20 * 2.0 ** np.arange(CONTEXTS))
    for c, excess, variance in errors:
        sums[:, c] += 1, excess, variance
    below = 0.0
    for j, (tests, excess, variance) in enumerate(sums.T):
        surely = excess - 2 * math.sqrt(variance)
        below = drift[j] = min(most, max(below, (surely + 10 * below) / (tests + 5)))


class ReferenceAdaptive:
    def __init__(self, space, reward_range=(0.0, 1.0)):
        self.n_actions = [int(n) for n in space.n_actions]
        self.n_states, self.n_pairs = len(self.n_actions), sum(self.n_actions)
        self.reward_range = reward_range
        self.reset()

    def reset(self, rng=None):
        self.t, self.planned_at, self.doing = 1, 0, None
        self.pairs = {}  # (state, action) -> Pair, in the order in which they became known
        self.entries, self.cursor = 0, 0
        self.visits = np.zeros(self.n_states)  # N_s
        self.met, self.h = [], np.zeros(self.n_states)
        self.reward_weights = np.tile(START, (CONTEXTS, 1))  # u
        self.transition_weights = np.tile(START, (CONTEXTS, 1))  # w
        self.judged = [False] * CONTEXTS
        self.drift, self.drift_sums = np.zeros(CONTEXTS), np.zeros((3, CONTEXTS))  # D, and its A, B, C
        self.value_drift, self.value_sums = np.zeros(CONTEXTS), np.zeros((3, CONTEXTS))  # G, and its A, B, C
        self.excess, self.expected = np.zeros(self.n_states), np.zeros(self.n_states)  # E_s, F_s
        self.noise, self.n_errors = 0.25, 1
        self.alpha, self.news, self.expected_news = 0.5, 0.0, 0.0  # alpha, X, Y
        self.novelty = 1.0  # nu
        self.gain, self.mean_reward, self.reward_spread = 0.0, 1.0, 0.0  # g', m0, sd_r
        self.summarize()

    @property
    def bias(self):
        """The values h of the met states, in the order in which they were met."""
        return {state: float(self.h[state]) for state in self.met}

    # refresh -----------------------------------------------------------------------------------------

    @property
    def tau(self):
        return self.reward_spread + 1 / (len(self.pairs) + 1)

    def sigma2(self, pair, u):
        spreads = np.maximum(0.0, pair.squares / pair.n - pair.means**2)
        return (2 * self.noise + pair.visits * (u @ spreads)) / (2 + pair.visits)

    def drift_of(self, pair, c):
        d = self.drift[c]
        if d > 0:
            d = min(0.25, d * min(4.0, (max(0.0, pair.excess) + d) / (pair.expected + d)))
        return d

    def value_drift_of(self, state, c):
        g = self.value_drift[c]
        return g * (max(0.0, self.excess[state]) + g) / (self.expected[state] + g) if g > 0 else 0.0

    def refresh(self, x):
        pair, age = self.pairs[x], self.t - self.pairs[x].last
        c = context(age)
        u, w = self.reward_weights[c], self.transition_weights[c]
        pair.reward = u @ pair.means  # r^
        sigma2 = self.sigma2(pair, u)
        sizes = np.maximum(0.3, pair.n * FADE**age)
        sizes[ALL] = pair.visits
        v = u @ sizes
        fair = math.log(self.visits[x[0]] / pair.visits), math.log(self.t / (self.n_pairs * pair.visits))
        pair.log = 0.5 + max(fair)  # L
        kappa = sigma2 / self.tau**2
        belief = (v * pair.reward + kappa * self.mean_reward) / (v + kappa)
        d = self.drift_of(pair, c)
        pair.surprise = sigma2 * (1 + 1 / v) + d  # Vx
        y = (math.log(1 + age) / math.log(31)) ** 2
        moved = y * d * (1 - u[ALL])
        pair.hoped = min(1.0, belief + math.sqrt(max(pair.log * sigma2 / (v + kappa), moved)))
        pair.values_moved = y * self.value_drift_of(x[0], c)  # W
        _, m = pair.faded(age)
        pair.chances = (pair.parts(age) / m) @ w  # p^

    # plan --------------------------------------------------------------------------------------------

    def summarize(self):
        values, weights = (self.h[self.met], np.sqrt(self.visits[self.met])) if self.met else ([0.0], [1.0])
        self.top, (self.h_mean, self.h_deviation) = np.max(values), mean_and_deviation(values, weights)
        self.prior_mean = self.h_mean  # b1
        self.prior_square = self.h_mean**2 + self.h_deviation**2  # b2
        self.prior_top = self.top  # b_top
        if 0 < len(self.met) < self.n_states:
            hope = min(1.0, self.mean_reward + (1 + 0.5 * math.log(1 + self.t)) * self.tau)
            elsewhere = max(0.0, self.untried(self.t) - self.gain) + len(self.met) * max(0.0, hope - self.gain)
            nu = self.novelty
            self.prior_mean = (1 - nu) * self.h_mean + nu * elsewhere
            self.prior_square = (1 - nu) * np.average(values**2, weights=weights) + nu * elsewhere**2
            self.prior_top = max(self.top, elsewhere)

    def untried(self, n):
        z = 1 + 0.5 * math.log(1 + n)
        return min(1.0, self.mean_reward + z * self.tau) + min(self.top, self.h_mean + z * self.h_deviation)

    def value(self, x):
        if x not in self.pairs:
            return self.untried(max(self.visits[x[0]], self.t / self.n_pairs))
        pair, beta = self.pairs[x], min(1.0, 2 * self.alpha) + 0.02
        mean = (pair.visits * (pair.chances @ self.h) + beta * self.prior_mean) / (pair.visits + beta)
        square = (pair.visits * (pair.chances @ self.h**2) + beta * self.prior_square) / (pair.visits + beta)
        variance = 0.25 * pair.log * max(0.0, square - mean**2) / pair.visits
        doubt = math.sqrt(max(variance, pair.values_moved))
        return pair.hoped + min(self.prior_top, mean + doubt)

    def values(self, state):
        """Return the value of each action in a state, by the last plan and the last refreshes."""
        return [float(self.value((state, action))) for action in range(self.n_actions[state])]

    def sweep(self):
        """Return the residual."""
        self.summarize()
        if not self.met:
            return 0.0
        change = np.array([max(self.values(state)) - self.h[state] for state in self.met])
        self.h[self.met] += 0.9 * change
        self.h[self.met] -= self.h[self.met].min()
        self.h[self.met] = np.minimum(self.h[self.met], len(self.met) + math.sqrt(self.t))
        self.gain += 0.1 * (change.max() - self.gain)
        return change.max() - change.min()

    def plan(self):
        rewards = [pair.reward for pair in self.pairs.values()] or [1.0]
        self.mean_reward, self.reward_spread = mean_and_deviation(rewards)
        for _ in range(10):
            if self.sweep() <= 0.01:
                break
        self.summarize()

    # act ---------------------------------------------------------------------------------------------

    def prepare(self):
        """Do what is done once per time: refresh a few pairs in turn, and plan."""
        known = list(self.pairs)
        for _ in range(min(len(known), 16)):
            self.cursor = self.cursor + 1 if self.cursor + 1 < len(known) else 0
            self.refresh(known[self.cursor])
        if self.t % max(1, 1 + self.entries // 50_000) == 0:
            self.plan()
        self.planned_at = self.t

    def act(self, state):
        if self.planned_at < self.t:
            self.prepare()
        best, best_value, best_visits = None, -math.inf, math.inf
        for action in range(self.n_actions[state]):
            x = state, action
            if x in self.pairs:
                self.refresh(x)
            value, visits = self.value(x), self.pairs[x].visits if x in self.pairs else 0
            ties = value >= best_value - TOLD_APART and visits < best_visits
            if value > best_value + TOLD_APART or ties:
                best, best_value, best_visits = action, value, visits
        self.doing = state, best
        return best

    # observe -----------------------------------------------------------------------------------------

    def observe(self, reward, next_state, action=None):
        state, advised = self.doing
        x, self.doing = (state, advised if action is None else action), None
        low, high = self.reward_range
        reward = min(1.0, max(0.0, (reward - low) / (high - low)))
        self.meet(state)
        if x in self.pairs:
            self.judge(x, reward, next_state)
        pair = self.pairs.setdefault(x, Pair(self.n_states))
        if pair.counts[next_state, ALL] == 0:
            self.novelty += 0.1 * ((next_state not in self.met) - self.novelty)
            self.entries += 1
        pair.add(reward, next_state, self.t)
        self.visits[state] += 1
        self.meet(next_state)
        self.t += 1
        self.refresh(x)

    def meet(self, state):
        if state not in self.met:
            self.met.append(state)
            self.h[state] = self.top

    def judge(self, x, reward, after):
        pair, age = self.pairs[x], self.t - self.pairs[x].last
        c = context(age)
        if not self.judged[c]:
            younger = max((j for j in range(c) if self.judged[j]), default=c)
            for weights in (self.reward_weights, self.transition_weights):
                weights[c] = weights[younger]
            self.judged[c] = True
        self.judge_transition(pair, after, age, c)
        self.judge_reward(pair, reward, c)
        if after in self.met:
            self.judge_bands(x[0], pair, after, age)

    def judge_transition(self, pair, after, age, c):
        _, m = pair.faded(age)
        is_new = pair.counts[after, ALL] == 0
        part = self.alpha / max(1, self.n_states - pair.n_next) if is_new else pair.parts(age)[after]
        self.transition_weights[c] = shared(self.transition_weights[c] * part / (m + self.alpha))
        self.news = 0.999 * self.news + is_new
        self.expected_news = 0.999 * self.expected_news + 1 / (pair.visits + self.alpha)
        self.alpha = (self.news + 0.5) / (self.expected_news + 1)

    def judge_reward(self, pair, reward, c):
        misses = (reward - pair.means) ** 2 / (pair.surprise + 1e-6)
        logs = np.log(self.reward_weights[c]) - 0.5 * np.minimum(misses, 20.0)
        self.reward_weights[c] = shared(np.maximum(1e-300, np.exp(logs - logs.max())))
        error = (reward - pair.reward) ** 2  # of what was said when choosing
        f = self.sigma2(pair, self.reward_weights[c]) * (1 + 1 / pair.visits)
        pair.excess = 0.98 * pair.excess + error - f
        pair.expected = 0.98 * pair.expected + self.drift[c]
        learn(self.drift, self.drift_sums, [(c, error - f, 2 * f**2)], most=0.25)
        self.n_errors = min(self.n_errors + 1, 200)
        self.noise += (error - self.noise) / self.n_errors

    def judge_bands(self, state, pair, after, age):
        self.excess[state] *= 0.99
        self.expected[state] *= 0.99
        believed = pair.chances @ self.h  # p^h
        variance = max(0.0, pair.chances @ self.h**2 - believed**2)  # V
        errors, used = [], context(age)
        for k, reach in enumerate(REACH):
            size, j = pair.n[k + 1] - pair.n[k], context(age + round(reach))
            if size < 0.5 or j == used:  # contexts only grow: past the first band used, none is that of the age
                continue
            used = j
            old = (pair.counts[:, k + 1] - pair.counts[:, k]) @ self.h / size  # o
            f = variance / size
            excess = (self.h[after] - old) ** 2 - (self.h[after] - believed) ** 2 - f
            errors.append((j, excess, 4 * (old - believed) ** 2 * variance + 2 * f**2))
            self.excess[state] += excess
            self.expected[state] += self.value_drift[j]
        learn(self.value_drift, self.value_sums, errors)
