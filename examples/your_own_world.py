"""Describe a world of your own and compute the best policy of every step.

A machine is new or worn. Running it earns money, more when new. A repair costs some and makes it new. Wear gets
faster over the year, so the best action in the worn state changes.
"""

import numpy as np

import driftmdp as dm

NEW, WORN = 0, 1
RUN, REPAIR = 0, 1


def machine(wear: float) -> dm.Mdp:
    """Return the world in which a new machine wears out with probability ``wear`` per day."""
    return dm.Mdp.from_dense(
        rewards=[[1.0, -0.5], [0.4, -0.5]],
        transitions=[[[1 - wear, wear], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]],
    )


def main() -> None:
    """Print until when a repair pays."""
    days = np.arange(365)
    share_of_fast = days / 364
    world = dm.DriftingMdp(
        anchors=[machine(wear=0.05), machine(wear=0.9)],
        weights=np.column_stack([1 - share_of_fast, share_of_fast]),
    )
    path = dm.planning.gain_path(world)
    repairs = np.array([path.policy(t)[WORN] == REPAIR for t in range(1, 366)])
    print(f"variation of the world: B_p = {world.variation().transition:.2f}, B_r = {world.variation().reward:.2f}")
    print(f"best earnings per day: {path.gains[0]:.3f} at first, {path.gains[-1]:.3f} at the end")
    print(f"a worn machine is worth a repair until day {np.flatnonzero(repairs).max() + 1} of 365")
    print(f"largest certified error of any gain: {path.residuals.max() / 2:.1e}")


if __name__ == "__main__":
    main()
