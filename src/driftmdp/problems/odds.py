"""Odds: how regimes scale a chance without leaving 0 to 1."""


def times_odds(chance: float, factor: float) -> float:
    """Return the chance whose odds are ``factor`` times those of ``chance``.

    Examples
    --------
    >>> from driftmdp.problems.odds import times_odds
    >>> times_odds(0.5, factor=3.0)
    0.75
    """
    return factor * chance / (factor * chance + 1 - chance)
