"""Leaderboards made up, without a run."""

import numpy as np

from driftmdp.suite import Contest, Leaderboard

HOSTILE = "<script>window.hacked=1</script>"
AGENTS = {"Adaptive": 1.0, "PSRL": 1.4, HOSTILE: 3.0, "Only two-state": 0.2}


def contest(slug="x-1000", horizon=1000, kind="exact", group="x", family="reported", **regrets):
    """Return a contest on rewards in [0, 1], so with a slack of T / 200."""
    samples = {agent: np.asarray(values, float) for agent, values in regrets.items()}
    return Contest(
        slug, slug.title(), family, group, kind == "stationary", kind == "noisy", horizon, {}, 2, 4, 1.0,
        samples, {agent: np.arange(values.size) for agent, values in samples.items()}, "Hindsight",
        {"agent": "SWUCRL2CW", "window": 4, "scale": 1.0}, True, dict.fromkeys(samples, 2.0),
    )  # fmt: skip


def made_board(n_seeds=12):
    """Return a leaderboard with every kind of contest in three groups."""
    rng, contests = np.random.default_rng(1), []
    for group in ("two-state", "queue", "garnet"):
        for kind in ("exact", "noisy", "stationary"):
            for horizon in (1000, 4000):
                factors = {a: f * rng.lognormal(0, 0.5) for a, f in AGENTS.items()}
                if group != "two-state":
                    del factors["Only two-state"]
                factors["Hindsight"] = 1.0
                regrets = {a: 0.1 * horizon * f * rng.lognormal(0, 0.1, n_seeds) for a, f in factors.items()}
                slug = f"{group}-{kind}-{horizon}"
                contests.append(contest(slug, horizon, kind, group, **regrets))
    contests.append(contest("sibling-1000", 1000, "noisy", "queue", "tuning", **contests[-1].regrets))
    return Leaderboard("Made up", "Hindsight", contests, [*AGENTS, "Hindsight"], len(contests), [])
