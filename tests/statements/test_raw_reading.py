"""No theorem covers the raw reading: without a cap on optimistic rewards the span of gamma~ exceeds 2 D."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp.formulas import paper_radii


@pytest.mark.parametrize(("capped", "gain", "span"), [(False, 12.14, 13.98), (True, 1.0, 0.18)])
def test_the_span_of_the_raw_reading_exceeds_twice_the_diameter(capped, gain, span):
    """docs/paper-notes.md, item 42: T = 5000, D = 5, 200 visits to the pairs of state 0, one to those of 1."""
    space = dm.Space.uniform(2, 2)
    rows = np.array([[1.0, 0.0], [0.8, 0.2], [0.0, 1.0], [0.2, 0.8]])
    assert float(dm.planning.diameter(dm.Mdp(space, np.zeros(4), rows))) == pytest.approx(5.0)
    counts = np.array([200, 200, 1, 0])
    radii = paper_radii(counts, space, horizon=5000)
    upper = 0.0 + radii.reward
    p_hat = np.where(counts[:, None] > 0, rows, 0.0)
    plan = dm.planning.extended_value_iteration(
        space, np.minimum(1.0, upper) if capped else upper, p_hat, radii.transition, 1e-3
    )
    assert plan.gain == pytest.approx(gain, abs=0.01)
    assert np.ptp(plan.bias) == pytest.approx(span, abs=0.01)
