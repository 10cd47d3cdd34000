"""The best expected total reward over non-anticipatory policies, by plain backward recursion."""


def best_total(rewards, transitions, start):
    """max over policies of E[sum_t r_t(s_t, a_t)] for `rewards[t][s][a]`, `transitions[t][s][a][s2]`."""
    horizon = len(rewards)
    value = {(horizon, s): 0.0 for s in range(len(rewards[0]))}
    for t in reversed(range(horizon)):
        for s in range(len(rewards[t])):
            value[t, s] = max(
                rewards[t][s][a] + sum(p * value[t + 1, after] for after, p in enumerate(transitions[t][s][a]))
                for a in range(len(rewards[t][s]))
            )
    return value[0, start]
