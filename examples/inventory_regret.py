"""Regret against a clairvoyant that knows the demand law of every day: seasonal demand, and an abrupt change.

Every rule faces the same demands. The best fixed (s, S) is chosen in hindsight. The rule that rolls on uncensored
demand uses data that no shop has.
"""

import driftmdp as dm
from driftmdp.inventory import SHELF_RULES, compare_rules
from driftmdp.problems.inventory import Abrupt, Poisson
from driftmdp.statistics import mean_interval

SEEDS = 20
CHANGE = 601


def main() -> None:
    """Print regrets, then days until costs are near the clairvoyant's again."""
    seasonal = compare_rules(dm.problems.inventory(), range(SEEDS))
    print(f"Poisson demand, mean 6 + 4 sin, period 2,500 days, 5,000 days, {SEEDS} seeds\n")
    print(f"{'':36} {'regret [95%]':>26} {'over the best fixed [95%]':>28}")
    for rule in seasonal.rules:
        regret, ratio = mean_interval(seasonal.regret(rule)), seasonal.regret_ratio(rule, "hindsight")
        print(
            f"{SHELF_RULES[rule]:36} {regret.estimate:10.0f} [{regret.low:6.0f}, {regret.high:6.0f}] "
            f"{ratio.estimate:12.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
        )
    print(
        f"\nMean demand jumps on day {CHANGE}: days until a week's costs are within 5% of the clairvoyant's [95%]\n"
    )
    print(f"{'':36} {'3 to 9':>16} {'9 to 3':>16}")
    jumps = [Poisson(Abrupt(levels, [CHANGE])) for levels in ([3, 9], [9, 3])]
    rules = ["optimist", "face-value", "uncensored"]
    found = [compare_rules(dm.problems.inventory(horizon=900, demand=jump), range(200), rules) for jump in jumps]
    for rule in rules:
        print(f"{SHELF_RULES[rule]:36} " + " ".join(f"{each.recovery(rule, CHANGE)!s:>16}" for each in found))


if __name__ == "__main__":
    main()
