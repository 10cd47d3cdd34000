"""Whether a run is one of Algorithm 1: what bounds that are far from tight cannot tell."""

from __future__ import annotations

import numpy as np

from driftmdp.statements.run_trace import RunTrace
from driftmdp.statements.verdict import Evidence

LONGEST = 20_000  # steps of a run whose episodes are recomputed one by one


def try_algorithm(evidence: Evidence, trace: RunTrace) -> None:
    """Try [CSZ20] alg:swr-ucrl2 on a run: its counts, regions, precision and, if it is short, its episodes.

    Counts, radii and tops of H_r are recomputed from the trajectory; precision is Property 2 with 1/sqrt(tau(m)).
    What is not as it should be is a fault of this library, not of the statement.
    """
    library = evidence.library
    name, seen = trace.name, trace.counts > 0
    library.at_most(f"{name}, counts", np.abs(trace.believed_counts - trace.counts), 0.0)
    off = np.abs(trace.believed_radii - trace.rad_p - trace.widening)
    library.at_most(f"{name}, radii with eta", off[seen], 1e-9)
    library.at_most(f"{name}, r~ is the top of H_r", np.abs(trace.believed_rewards - trace.tops), 1e-9)
    chosen = trace.problem.space.offsets[:-1] + trace.policy
    best = np.take_along_axis(trace.upper_values, chosen.astype(np.int64), axis=1)
    promised = trace.gain[:, None] + trace.bias - 1 / np.sqrt(trace.starts)[:, None]
    library.at_most(f"{name}, plans as precise as 1/sqrt(tau)", promised, best)
    if trace.horizon <= LONGEST:
        differ = starts_by_the_rule(trace) != trace.starts.tolist()
        library.at_most(f"{name}, starts that are not Algorithm 1's", float(differ), 0.0)


def starts_by_the_rule(trace: RunTrace) -> list[int]:
    """Return Algorithm 1's starts for a run: multiples of W, and where the pair about to be played has doubled."""
    offsets, states, counts = trace.problem.space.offsets, trace.run.states.tolist(), trace.counts
    starts, m, room = [1], 0, np.maximum(1, counts[0])
    for t, (state, pair) in enumerate(zip(states, trace.pairs.tolist(), strict=True), start=1):
        planned = offsets[state] + trace.policy[m, state]
        if t > 1 and (t % trace.window == 0 or room[planned] <= 0):
            starts.append(t)
            m = min(m + 1, counts.shape[0] - 1)
            room = np.maximum(1, counts[m])
        room[pair] -= 1
    return starts
