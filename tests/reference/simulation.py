"""One agent in one problem, step by step."""


def simulate(agent, problem, draws):
    """The lists s_t, a_t, R_t(s_t, a_t) and r_t(s_t, a_t), t = 1..T, for the world's random draws."""
    states, actions, rewards, mean_rewards = [], [], [], []
    state = problem.start
    for t in range(1, problem.horizon + 1):
        action = agent.act(state)
        sample = problem.sample(t, state, action, draws)
        states.append(state)
        actions.append(action)
        rewards.append(float(sample.reward))
        mean_rewards.append(float(problem.drifting.at(t).reward(state, action)))
        agent.observe(float(sample.reward), int(sample.next_state))
        state = int(sample.next_state)
    return states, actions, rewards, mean_rewards
