"""Agents for one state with K arms, one class each, written from the formulas of their papers.

EXP3.P is [CSZ20] eq:p and eq:borl_update. The others: EXP3 and EXP3.S (Auer, Cesa-Bianchi, Freund and Schapire,
2002), Rexp3 (Besbes, Gur and Zeevi, 2014), UCB1 (Auer, Cesa-Bianchi and Fischer, 2002), SW-UCB and D-UCB
(Garivier and Moulines, 2011), BOB (Cheung, Simchi-Levi and Zhu, 2019). Constants: the end of PAPER_NOTES.

Time t is 1, 2, ...; `plays[t - 1]` is (arm, unit reward). The EXP3 family clips unit rewards to [0, 1] and draws
one uniform number a round, at the first `act` of the round. None of them plans: there are no episodes.
"""

import math

TIE = 1e-9


class Bandit:
    """What all of them do; each says how it chooses an arm and what it learns from a play."""

    def __init__(self, n_actions, horizon, *, reward_range=(0.0, 1.0)):
        (self.n_arms,) = n_actions
        self.horizon = horizon
        self.reward_range = reward_range
        self.plays = []
        self.arm = None
        self.episode_starts = []
        self.sweeps = []

    @property
    def t(self):
        return len(self.plays) + 1

    def act(self, state):
        if self.arm is None:
            self.arm = self.choose()
        return self.arm

    def observe(self, reward, next_state):
        arm, x = self.arm, self.unit(reward)
        self.learn(arm, x)
        self.plays.append((arm, x))
        self.arm = None

    def choose(self):
        raise NotImplementedError

    def learn(self, arm, x):
        """Nothing, where all is counted again from the plays."""

    def unit(self, reward):
        return unit_reward(reward, self.reward_range)


# The EXP3 family. ----------------------------------------------------------------------------------------


class Drawing(Bandit):
    """Those that draw an arm with the probabilities of the round to come."""

    def __init__(self, n_actions, horizon, *, rng, reward_range=(0.0, 1.0)):
        super().__init__(n_actions, horizon, reward_range=reward_range)
        self.rng = rng

    def probabilities(self):
        raise NotImplementedError

    def choose(self):
        return draw(self.probabilities(), self.rng.random())

    def unit(self, reward):
        return clip(super().unit(reward))


class Exp3P(Drawing):
    """[CSZ20] eq:p and eq:borl_update, with Delta = K and q_1 = 0."""

    def __init__(self, n_actions, horizon, *, alpha, beta, gamma, **options):
        super().__init__(n_actions, horizon, **options)
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.q = [0.0] * self.n_arms

    def probabilities(self):
        return mixed_softmax([self.alpha * q for q in self.q], self.gamma)

    def learn(self, arm, x):
        u = self.probabilities()
        for i in range(self.n_arms):
            self.q[i] += (self.beta + (x if i == arm else 0.0)) / u[i]


class Exp3(Drawing):
    """Auer et al. (2002); the weights are kept as their logarithms."""

    def __init__(self, n_actions, horizon, *, gamma, **options):
        super().__init__(n_actions, horizon, **options)
        self.gamma = gamma
        self.log_weights = [0.0] * self.n_arms

    def probabilities(self):
        return mixed_softmax(self.log_weights, self.gamma)

    def learn(self, arm, x):
        """w_arm <- w_arm exp(gamma xhat / K), xhat = x / p_arm; the other xhat are 0."""
        self.log_weights[arm] += self.gamma * (x / self.probabilities()[arm]) / self.n_arms


class Exp3S(Exp3):
    """Auer et al. (2002): every weight also gets e alpha / K of the sum before; `sharing` is alpha."""

    def __init__(self, n_actions, horizon, *, gamma, sharing, **options):
        super().__init__(n_actions, horizon, gamma=gamma, **options)
        self.sharing = sharing

    def learn(self, arm, x):
        log_sum = log_sum_exp(self.log_weights)
        super().learn(arm, x)
        if self.sharing > 0:
            log_share = math.log(math.e * self.sharing / self.n_arms) + log_sum
            self.log_weights = [log_sum_exp([w, log_share]) for w in self.log_weights]


class Rexp3(Exp3):
    """Besbes et al. (2014): EXP3 that starts again at times 1, 1 + batch, 1 + 2 batch, ..."""

    def __init__(self, n_actions, horizon, *, batch, gamma, **options):
        super().__init__(n_actions, horizon, gamma=gamma, **options)
        self.batch = batch

    def learn(self, arm, x):
        super().learn(arm, x)
        if self.t % self.batch == 0:
            self.log_weights = [0.0] * self.n_arms


# The UCB family. -----------------------------------------------------------------------------------------


class UCB1(Bandit):
    """Auer et al. (2002): the arm with the largest mean_i + sqrt(2 ln n / N_i), n = sum_j N_j."""

    def weight(self, s):
        """How much the play at time s counts in a choice at the present time."""
        return 1.0

    def bonus(self, n, n_arm):
        return math.sqrt(2 * math.log(n) / n_arm)

    def count(self, arm):
        """N_i."""
        return sum(self.weight(s) for s, (played, _) in enumerate(self.plays, start=1) if played == arm)

    def mean(self, arm):
        total = sum(self.weight(s) * x for s, (played, x) in enumerate(self.plays, start=1) if played == arm)
        return total / self.count(arm)

    def indices(self):
        """Every arm's upper bound, infinite where nothing of it is remembered."""
        counts = [self.count(arm) for arm in range(self.n_arms)]
        n = sum(counts)
        return [math.inf if k == 0 else self.mean(arm) + self.bonus(n, k) for arm, k in enumerate(counts)]

    def choose(self):
        indices = self.indices()
        return next(arm for arm in range(self.n_arms) if indices[arm] >= max(indices) - TIE)


class SWUCB(UCB1):
    """Garivier and Moulines (2011): only the last `window` plays, mean_i + sqrt(xi ln n / N_i)."""

    def __init__(self, n_actions, horizon, *, window, xi, **options):
        super().__init__(n_actions, horizon, **options)
        self.window = window
        self.xi = xi

    def weight(self, s):
        return 1.0 if s >= max(1, self.t - self.window) else 0.0

    def bonus(self, n, n_arm):
        return math.sqrt(self.xi * math.log(n) / n_arm)


class DUCB(UCB1):
    """Garivier and Moulines (2011): a play of age k counts discount^(k-1), mean_i + 2 sqrt(xi ln n / N_i)."""

    def __init__(self, n_actions, horizon, *, discount, xi, **options):
        super().__init__(n_actions, horizon, **options)
        self.discount = discount
        self.xi = xi

    def weight(self, s):
        return self.discount ** (self.t - 1 - s)

    def bonus(self, n, n_arm):
        return 2 * math.sqrt(self.xi * max(0.0, math.log(n)) / n_arm)


# A bandit over blocks. -----------------------------------------------------------------------------------


class OverBlocks:
    """A master bandit chooses, for every block of `block_length` steps, which agent is started in it.

    The block's reward is the sum of its unit rewards over `block_length`, also where the block is cut short by
    the horizon, clipped to [0, 1]; the master learns it at the block's last step.
    """

    def __init__(self, master, block_length, horizon, reward_range):
        self.master = master
        self.block_length = block_length
        self.horizon = horizon
        self.feedback_range = reward_range
        self.t = 1
        self.agents = []
        self.chosen = []
        self.block_rewards = []
        self.probabilities_by_block = []

    def start(self, arm):
        """The fresh agent that `arm` stands for."""
        raise NotImplementedError

    def act(self, state):
        if len(self.agents) == (self.t - 1) // self.block_length:
            self.start_block()
        return self.agents[-1].act(state)

    def start_block(self):
        self.probabilities_by_block.append(self.master.probabilities())
        self.chosen.append(self.master.act(0))
        self.agents.append(self.start(self.chosen[-1]))
        self.rewards = []

    def observe(self, reward, next_state):
        self.agents[-1].observe(reward, next_state)
        self.rewards.append(unit_reward(reward, self.feedback_range))
        if self.t % self.block_length == 0 or self.t == self.horizon:
            self.block_rewards.append(clip(sum(self.rewards) / self.block_length))
            self.master.observe(self.block_rewards[-1], 0)
        self.t += 1

    @property
    def episode_starts(self):
        """In the time of the whole run; an agent's own time is 1 at its block's first step."""
        return [
            block * self.block_length + start
            for block, agent in enumerate(self.agents)
            for start in agent.episode_starts
        ]

    @property
    def sweeps(self):
        return [sweeps for agent in self.agents for sweeps in agent.sweeps]


class BOB(OverBlocks):
    """Cheung et al. (2019), bandit over bandit: EXP3 chooses the window of a fresh SW-UCB for every block."""

    def __init__(self, n_actions, horizon, *, block_length, windows, gamma, xi, rng, reward_range=(0.0, 1.0)):
        master = Exp3([len(windows)], math.ceil(horizon / block_length), gamma=gamma, rng=rng)
        super().__init__(master, block_length, horizon, reward_range)
        self.n_actions = list(n_actions)
        self.windows = list(windows)
        self.xi = xi
        self.reward_range = reward_range

    def start(self, arm):
        return SWUCB(
            self.n_actions,
            self.block_length,
            window=self.windows[arm],
            xi=self.xi,
            reward_range=self.reward_range,
        )


# Parameters. ---------------------------------------------------------------------------------------------


def exp3_gamma(n_arms, horizon):
    """Auer et al. (2002), with T for their bound g on the best total."""
    return min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))


def exp3s_parameters(n_arms, horizon, changes=None):
    """Auer et al. (2002): gamma and alpha, with S = changes + 1 segments or S unknown."""
    alpha = 1 / horizon
    log = math.log(n_arms * horizon)
    if changes is None:
        return min(1.0, math.sqrt(n_arms * log / horizon)), alpha
    segments = changes + 1
    return min(1.0, math.sqrt(n_arms * (segments * log + math.e) / ((math.e - 1) * horizon))), alpha


def rexp3_parameters(n_arms, horizon, variation):
    """Besbes et al. (2014): the batch, kept within 1..T, and gamma; V = 0 is one batch."""
    batch = horizon
    if variation > 0:
        wanted = math.ceil((n_arms * math.log(n_arms)) ** (1 / 3) * (horizon / variation) ** (2 / 3))
        batch = max(1, min(horizon, wanted))
    return batch, exp3_gamma(n_arms, batch)


# Small arithmetic. ---------------------------------------------------------------------------------------


def unit_reward(reward, reward_range):
    """(r - lo) / (hi - lo), or r - lo where the range is one point."""
    lo, hi = reward_range
    return (reward - lo) / (hi - lo if hi != lo else 1.0)


def clip(x):
    return min(1.0, max(0.0, x))


def draw(probabilities, uniform):
    """The first i with uniform < u_0 + ... + u_i, or the last arm where rounding leaves none."""
    total = 0.0
    for i, u in enumerate(probabilities):
        total += u
        if uniform < total:
            return i
    return len(probabilities) - 1


def mixed_softmax(exponents, gamma):
    """(1 - gamma) exp(x_i) / sum_j exp(x_j) + gamma / K, the largest exponent taken from all."""
    powers = [math.exp(x - max(exponents)) for x in exponents]
    return [(1 - gamma) * power / sum(powers) + gamma / len(powers) for power in powers]


def log_sum_exp(exponents):
    """log sum_j exp(x_j)."""
    return max(exponents) + math.log(sum(math.exp(x - max(exponents)) for x in exponents))
