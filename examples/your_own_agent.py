"""Write an agent of your own with three methods, check that it keeps the rules, and compare it."""

import numpy as np

import driftmdp as dm


class EpsilonGreedy:
    """Play the action with the best average reward in the last steps of each pair, and explore now and then."""

    def __init__(self, space: dm.Space, epsilon: float = 0.1, step: float = 0.1) -> None:
        self.space, self.epsilon, self.step = space, epsilon, step

    def reset(self, rng: np.random.Generator) -> None:
        """Start from scratch."""
        self.rng = rng
        self.values = np.zeros(self.space.n_pairs)
        self.choice: tuple[int, int] | None = None

    def act(self, state: int) -> int:
        """Choose an action. Called twice before an observation, it returns the same."""
        if self.choice is None or self.choice[0] != state:
            first, last = self.space.offsets[state : state + 2]
            explore = self.rng.random() < self.epsilon
            action = self.rng.integers(last - first) if explore else np.argmax(self.values[first:last])
            self.choice = state, int(action)
        return self.choice[1]

    def observe(self, reward: float, next_state: int, action: int | None = None) -> None:
        """Move the average of the action taken towards its reward."""
        assert self.choice is not None
        state, advised = self.choice
        pair = self.space.pair(state, advised if action is None else action)
        self.values[pair] += self.step * (reward - self.values[pair])
        self.choice = None


problem = dm.problems.two_state(horizon=2000)
mine = EpsilonGreedy(problem.space)
print(dm.testing.check_agent(mine, problem))
for agent in (mine, dm.agents.SWUCRL2CW.for_problem(problem, scale=0.1), dm.agents.Random(problem.space)):
    regret = [dm.simulate(agent, problem, seed).dynamic_regret(problem)[-1] for seed in range(5)]
    print(f"{type(agent).__name__:15} regret {np.mean(regret):.0f}, from {min(regret):.0f} to {max(regret):.0f}")
