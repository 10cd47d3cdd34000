"""Functions that take numbers refuse masked entries, dates, text and objects."""

import numpy as np
import pytest

import driftmdp as dm
from driftmdp import interchange, planning
from driftmdp.errors import InvalidInputError
from driftmdp.validation import as_flag, as_integer, as_list, as_number, as_numbers, as_table, as_vector, shown

SPACE = dm.Space.uniform(2, 1)
EYE = np.eye(2)
MDP = dm.Mdp(SPACE, [0.0, 1.0], EYE[::-1])
WORLD = dm.DriftingMdp.stationary(MDP, 2)
RUN = dm.simulate(dm.agents.Random(SPACE), dm.Problem(WORLD), seed=0)
ONES = np.ones((2, 2))
FUNCTIONS = {
    "rewards": lambda bad: dm.Mdp(SPACE, bad([0.0, 1.0]), EYE),
    "transitions": lambda bad: dm.Mdp(SPACE, [0.0, 1.0], bad(EYE)),
    "dense rewards": lambda bad: dm.Mdp.from_dense(bad([[0.0], [1.0]]), EYE[:, None]),
    "dense transitions": lambda bad: dm.Mdp.from_dense([[0.0], [1.0]], bad(EYE[:, None])),
    "weights": lambda bad: dm.DriftingMdp([MDP, MDP], bad(EYE)),
    "index": lambda bad: dm.DriftingMdp([MDP, MDP], bad([0, 1])),
    "reward_weights": lambda bad: dm.DriftingMdp([MDP, MDP], EYE, bad(EYE)),
    "reward_upper": lambda bad: planning.extended_value_iteration(SPACE, bad([0.0, 1.0]), EYE, [1, 1], 0.1),
    "p_hat": lambda bad: planning.extended_value_iteration(SPACE, [0, 1], bad(EYE), [1, 1], 0.1),
    "radius": lambda bad: planning.extended_value_iteration(SPACE, [0, 1], EYE, bad([1.0, 1.0]), 0.1),
    "start": lambda bad: planning.extended_value_iteration(SPACE, [0, 1], EYE, [1, 1], 0.1, start=bad([1.0, 1.0])),
    "lower": lambda bad: planning.extended_value_iteration_over_intervals(SPACE, [0, 1], bad(EYE), ONES, 0.1),
    "upper": lambda bad: planning.extended_value_iteration_over_intervals(SPACE, [0, 1], 0 * EYE, bad(ONES), 0.1),
    "elsewhere": lambda bad: planning.extended_value_iteration_over_intervals(
        SPACE, [0, 1], EYE, ONES, 0.1, upper_elsewhere=bad([1.0, 1.0])
    ),
    "policy": lambda bad: planning.policy_gain(MDP, bad([0, 0])),
    "timed policy": lambda bad: planning.total_reward(WORLD, bad([0, 0])),
    "targets": lambda bad: planning.diameter(MDP, targets=bad([0, 1])),
    "n_actions": lambda bad: dm.Space(bad([1, 1])),
    "change_points": lambda bad: dm.DriftingMdp.piecewise([MDP, MDP], bad([2, 3])),
    "matrices": lambda bad: interchange.from_scipy([bad(EYE)], [0, 1]),
    "reward table": lambda bad: interchange.from_scipy([EYE], bad([0.0, 1.0])),
    "toolbox rewards": lambda bad: interchange.from_mdptoolbox([EYE], bad(EYE[None])),
    "start of episodes": lambda bad: interchange.from_toy_text([[[(1, 0, 0, True)]]] * 2, start=bad([1.0, 0.0])),
    "gains": lambda bad: RUN.dynamic_regret(dm.Problem(WORLD), bad([0.5, 0.5])),
}


def masked(values):
    mask = np.zeros(np.shape(values), bool)
    mask.flat[0] = True
    return np.ma.masked_array(values, mask)


KINDS = {
    "masked": masked,
    "rows that are masked": lambda values: [masked(row) for row in np.atleast_2d(values)],
    "text": lambda values: np.asarray(values).astype(str),
    "dates": lambda values: np.asarray(values).astype("datetime64[D]"),
    "durations": lambda values: np.asarray(values).astype("timedelta64[s]"),
    "objects": lambda values: np.asarray(values, object),
    "complex": lambda values: np.asarray(values) + 0j,
}


LISTS = ("targets", "change_points")  # of whole numbers, which may come as objects


@pytest.mark.parametrize(
    ("function", "kind"),
    [(function, kind) for function in FUNCTIONS for kind in KINDS if function not in LISTS or kind != "objects"],
)
def test_other_things_than_numbers_are_refused(function, kind):
    with pytest.raises(InvalidInputError, match=r" must .*\.$"):
        FUNCTIONS[function](KINDS[kind])


def test_a_mask_that_hides_nothing_may_pass():
    mdp = dm.Mdp(SPACE, np.ma.masked_array([0.0, 1.0], [False, False]), np.ma.masked_array(EYE))
    assert mdp.rewards.tolist() == [0.0, 1.0]


def test_numbers_of_any_real_type_pass():
    for kind in (bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble):
        found = as_numbers(np.ones(2, kind), "numbers")
        assert found.dtype == np.float64
        assert found.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: as_integer(np.timedelta64(3, "D"), "n"), "n must be a whole number; got"),
        (lambda: as_number(np.timedelta64(3, "D"), "x"), "x must be a finite number; got"),
        (lambda: as_integer(np.ones((2, 2)), "n"), "n must be a whole number; got float64 of shape (2, 2)."),
        (lambda: as_number(np.ma.masked, "x"), "x must be a finite number; got masked."),
        (lambda: as_flag(np.ones(2), "flag"), "flag must be True or False; got float64 of shape (2,)."),
        (lambda: as_flag("yes", "flag"), "flag must be True or False; got 'yes'."),
        (lambda: as_flag(2, "flag"), "flag must be True or False; got 2."),
        (lambda: as_list("ab", "items", "a list"), "items must be a list; got 'ab'."),
        (lambda: as_list(np.array(1), "items", "a list"), "items must be a list; got array(1)."),
        (lambda: as_vector([1e999, 0], "v"), "v[0] must be finite; got inf."),
        (lambda: as_vector(["0.5"], "v"), "v must be a list of numbers; got ['0.5']."),
        (lambda: as_table([[1], [1, 2]], "t"), "t must be a regular table; its rows differ in length."),
    ],
)
def test_one_sentence(ask, message):
    with pytest.raises(InvalidInputError) as error:
        ask()
    assert str(error.value).startswith(message)


def test_values_in_messages_are_one_short_line():
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown(list(range(10**4)))) < 250
    assert "\n" not in shown([np.ones((9, 9))])
