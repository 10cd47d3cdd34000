"""Bandits that watch for changes, written from their papers: every number is computed again from all plays.

GLR-klUCB (Besson, Kaufmann, Maillard and Seznec, 2022), M-UCB (Cao, Wen, Kveton and Xie, 2019), CUSUM-UCB (Liu,
Lee and Shroff, 2018) and discounted Thompson sampling (Raj and Kalyani, 2017). AdSwitch has a file of its own.

Time t is 1, 2, ...; `plays[t - 1]` is (arm, unit reward), the reward clipped to [0, 1]. An alarm at time t, after
its play, makes the arm (or all arms) forget every play up to t. Draws are those of tests/reference/xoshiro.py.
"""

import math

from tests.reference.bandits import TIE, Bandit, clip


class Watching(Bandit):
    """Exploration that is forced, the arm of the largest index otherwise, and a test of the arm just played."""

    restarts = "local"

    def __init__(self, n_actions, horizon, **options):
        super().__init__(n_actions, horizon, **options)
        self.forget_until = [0] * self.n_arms
        self.alarms = []

    def unit(self, reward):
        return clip(super().unit(reward))

    def seen(self, arm):
        """The rewards of an arm since its last restart, in their order."""
        numbered = enumerate(self.plays, start=1)
        return [x for s, (played, x) in numbered if played == arm and s > self.forget_until[arm]]

    def forced(self):
        """The arm to explore at the present time, or None."""
        raise NotImplementedError

    def index(self, arm, xs, n):
        """The upper bound of an arm with these rewards, of n rewards remembered in all."""
        raise NotImplementedError

    def changed(self, xs):
        """Whether the rewards of the arm just played show a change."""
        raise NotImplementedError

    def choose(self):
        forced = self.forced()
        if forced is not None:
            return forced
        seen = [self.seen(arm) for arm in range(self.n_arms)]
        n = sum(map(len, seen))
        indices = [self.index(arm, xs, n) if xs else math.inf for arm, xs in enumerate(seen)]
        return next(arm for arm in range(self.n_arms) if indices[arm] >= max(indices) - TIE)

    def observe(self, reward, next_state):
        now, arm = self.t, self.arm
        super().observe(reward, next_state)
        if self.changed(self.seen(arm)):
            self.alarms.append((now, arm))
            for other in range(self.n_arms):
                if other == arm or self.restarts == "global":
                    self.forget_until[other] = now


class GLRklUCB(Watching):
    """Besson et al. (2022): kl-UCB, and a generalized likelihood ratio test of Bernoulli rewards.

    In episode k = 1 + alarms the arms are explored in turn at the first K times of every floor(K / alpha_k).
    """

    def __init__(
        self, n_actions, horizon, *, alpha, growing, delta, restarts, xi, test_every, split_every, **options
    ):
        super().__init__(n_actions, horizon, **options)
        self.alpha = alpha
        self.growing = growing
        self.delta = delta
        self.restarts = restarts
        self.xi = xi
        self.test_every = test_every
        self.split_every = split_every

    def forced(self):
        alpha = self.alpha * math.sqrt(len(self.alarms) + 1) if self.growing else self.alpha
        return in_turn(self.t, self.n_arms, min(1.0, alpha))

    def index(self, arm, xs, n):
        elapsed = self.t - 1 - self.forget_until[arm]
        return kl_upper(sum(xs) / len(xs), self.xi * math.log(max(1, elapsed)) / len(xs))

    def changed(self, xs):
        n = len(xs)
        return n % self.test_every == 0 and glr(xs, self.split_every) > 1.5 * math.log(n) - math.log(self.delta)


class MUCB(Watching):
    """Cao et al. (2019): UCB1, and the two halves of the last w rewards of an arm compared. All arms restart."""

    restarts = "global"

    def __init__(self, n_actions, horizon, *, window, threshold, gamma, xi, **options):
        super().__init__(n_actions, horizon, **options)
        self.window = window
        self.threshold = threshold
        self.gamma = gamma
        self.xi = xi

    def forced(self):
        return in_turn(self.t - self.forget_until[0], self.n_arms, self.gamma)

    def index(self, arm, xs, n):
        return sum(xs) / len(xs) + math.sqrt(self.xi * math.log(n) / len(xs))

    def changed(self, xs):
        if len(xs) < self.window:
            return False
        last, half = xs[-self.window :], self.window // 2
        return abs(sum(last[half:]) - sum(last[:half])) > self.threshold


class CUSUMUCB(Watching):
    """Liu et al. (2018): UCB1, and two cumulative sums about the mean of an arm's first M rewards."""

    def __init__(self, n_actions, horizon, *, warmup, epsilon, threshold, alpha, xi, draws, **options):
        super().__init__(n_actions, horizon, **options)
        self.warmup = warmup
        self.epsilon = epsilon
        self.threshold = threshold
        self.alpha = alpha
        self.xi = xi
        self.draws = draws

    def forced(self):
        if self.alpha == 0:
            return None
        u = self.draws.uniform()
        return int(u / self.alpha * self.n_arms) if u < self.alpha else None

    def index(self, arm, xs, n):
        return sum(xs) / len(xs) + math.sqrt(self.xi * math.log(n) / len(xs))

    def changed(self, xs):
        first, later = xs[: self.warmup], xs[self.warmup :]
        up = down = 0.0
        for x in later:
            up = max(0.0, up + x - sum(first) / self.warmup - self.epsilon)
            down = max(0.0, down + sum(first) / self.warmup - x - self.epsilon)
        return max(up, down) > self.threshold


class DiscountedThompson(Bandit):
    """Raj and Kalyani (2017): the largest of one draw from every arm's Beta posterior, whose counts fade.

    A reward within (0, 1) counts as a success or a failure, drawn with that probability.
    """

    def __init__(self, n_actions, horizon, *, discount, successes, failures, draws, **options):
        super().__init__(n_actions, horizon, **options)
        self.discount = discount
        self.prior = (successes, failures)
        self.draws = draws
        self.outcomes = []

    def unit(self, reward):
        return clip(super().unit(reward))

    def count(self, arm, outcome):
        """How often an arm had an outcome, a play of age k = 1, 2, ... counting discount^(k - 1)."""
        plays = zip(self.plays, self.outcomes, strict=True)
        ages = [self.t - s for s, ((played, _), y) in enumerate(plays, 1) if (played, y) == (arm, outcome)]
        return math.fsum(self.discount ** (age - 1) for age in ages)

    def choose(self):
        successes, failures = self.prior
        values = [
            self.draws.beta(successes + self.count(arm, 1), failures + self.count(arm, 0))
            for arm in range(self.n_arms)
        ]
        return values.index(max(values))

    def learn(self, arm, x):
        self.outcomes.append(int(self.draws.uniform() < x) if 0 < x < 1 else int(x))


# Exploration. --------------------------------------------------------------------------------------------


def in_turn(t, n_arms, alpha):
    """Arm t mod floor(K / alpha) - 1, if there is such an arm: each is explored once in floor(K / alpha) times."""
    if alpha == 0:
        return None
    place = (t - 1) % math.floor(n_arms / alpha)
    return place if place < n_arms else None


# Statistics. ---------------------------------------------------------------------------------------------


def kl(p, q):
    """Bernoulli kl(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)), with 0 ln 0 = 0."""
    return kl_part(p, q) + kl_part(1 - p, 1 - q)


def kl_part(p, q):
    if p <= 0:
        return 0.0
    return p * math.log(p / q) if q > 0 else math.inf


def kl_upper(mean, level):
    """The largest q in [mean, 1] with kl(mean, q) <= level, by sixty halvings."""
    low, high = mean, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if kl(mean, middle) <= level else (low, middle)
    return low


def glr(xs, split_every=1):
    """The largest likelihood ratio of a change after s rewards, s = 1, 1 + split_every, ..., against no change."""
    mean = sum(xs) / len(xs)
    places = range(1, len(xs), split_every)
    return max((misfit(xs[:s], mean) + misfit(xs[s:], mean) for s in places), default=-math.inf)


def misfit(xs, mean):
    return len(xs) * kl(sum(xs) / len(xs), mean)


# Parameters. ---------------------------------------------------------------------------------------------


def glr_parameters(n_arms, horizon, changes=None):
    """alpha and delta: sqrt(changes K ln T / T) and 1 / sqrt(T), with one change where the number is not known."""
    expected = 1 if changes is None else changes
    return min(1.0, math.sqrt(expected * n_arms * math.log(horizon) / horizon)), 1 / math.sqrt(horizon)


def m_ucb_window(n_arms, horizon, least_change):
    """4 / delta^2 (sqrt(ln 2KT^2) + sqrt(ln 2T))^2, up to an even number."""
    roots = math.sqrt(math.log(2 * n_arms * horizon**2)) + math.sqrt(math.log(2 * horizon))
    return 2 * math.ceil(2 / least_change**2 * roots**2)


def m_ucb_parameters(n_arms, horizon, window, changes=1):
    """b = sqrt(w / 2 ln 2KT^2) and gamma = sqrt(changes K (2 b + 3 sqrt w) / (2 T))."""
    b = math.sqrt(window / 2 * math.log(2 * n_arms * horizon**2))
    return b, min(1.0, math.sqrt(changes * n_arms * (2 * b + 3 * math.sqrt(window)) / (2 * horizon)))


def cusum_parameters(horizon, changes=1):
    """h = ln(T / changes) and alpha = sqrt(changes / T ln(T / changes))."""
    ratio = horizon / changes
    return math.log(ratio), min(1.0, math.sqrt(math.log(ratio) / ratio))
