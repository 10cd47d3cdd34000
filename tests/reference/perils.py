"""The construction of Proposition 3 (Section 6); the instances are PAPER_NOTES 24.

States 1, 2 are 0, 1 here; a_1, a_2 are actions 0, 1 of state 0 and b_1, b_2 those of state 1.
"""


def perils_instances():
    """The transitions p^1 and p^2."""
    to_1, to_2 = [1.0, 0.0], [0.0, 1.0]
    first = [[to_1, to_2], [to_2, to_1]]  # a1: 1->1, a2: 1->2, b1: 2->2, b2: 2->1
    second = [[to_2, to_1], [to_1, to_2]]  # a1: 1->2, a2: 1->1, b1: 2->1, b2: 2->2
    return first, second


def perils_trajectory(tau):
    """One window of W = 4 tau steps as a list of (state, action, next state), walked by hand."""
    first, second = perils_instances()
    policy_1, policy_2 = (0, 1), (1, 0)  # pi^1 = (a1, b2), pi^2 = (a2, b1)
    state, steps = 0, []
    for t in range(1, 4 * tau + 1):
        instance = first if t <= tau or 2 * tau + 1 <= t <= 3 * tau else second
        action = (policy_1 if t <= 2 * tau else policy_2)[state]
        after = instance[state][action].index(1.0)
        steps.append((state, action, after))
        state = after
    return steps
