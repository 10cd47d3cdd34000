"""What the leaderboard says of its contests: wins, losses, profiles, and tests corrected for their number."""

import numpy as np
import pytest

from driftmdp.statistics import sign_flip_test
from driftmdp.suite.comparisons import corrected_p_values, duels, wins
from driftmdp.suite.figures import pareto_front, spread_labels
from driftmdp.suite.page import headline
from driftmdp.suite.standings import losses, mean_time, profile, standings, winners
from tests.suite.boards import contest, made_board

SURE, UNSURE = np.arange(20.0) + 1, np.arange(20.0) - 9.5


def test_comparisons_are_corrected_by_holm():
    found = corrected_p_values([SURE, UNSURE, SURE])
    assert found.tolist() == [3 * 2.0**-19, pytest.approx(sign_flip_test(UNSURE)), 3 * 2.0**-19]
    assert corrected_p_values([]).size == 0


def test_seeds_too_few_to_be_significant_do_not_count_against_the_others():
    """With 10 seeds p is at least 1 / 512: beside 300 such tests nothing could be significant."""
    few = [np.ones(10)] * 300
    assert np.isnan(corrected_p_values([*few, SURE])).sum() == 300
    assert corrected_p_values([*few, SURE])[-1] == 2.0**-19
    assert (corrected_p_values(few[:25]) == 25 / 512).all()  # 25 of them can be
    assert np.isnan(corrected_p_values([np.ones(4)])).all()


def test_hundreds_of_comparisons_on_twenty_seeds_can_be_significant():
    assert (corrected_p_values([SURE] * 2500) < 0.05).all()


def test_a_win_is_significant_only_against_every_other_agent():
    ahead = contest("ahead", A=SURE, B=SURE + 5, C=SURE + 90, Hindsight=SURE)
    close = contest("close", A=SURE, B=SURE + UNSURE / 10, C=SURE + 90, Hindsight=SURE)
    found = wins([ahead, close])
    assert (found.n_significant, found.n_tested) == (1, 2)
    assert [found.mark(ahead, agent) for agent in "ABC"] == ["significant", "", ""]
    assert "significant" not in {found.mark(close, agent) for agent in "ABC"}
    third = contest("third", A=SURE, B=SURE + 5, C=SURE + 6 + 20 * UNSURE, Hindsight=SURE)
    assert [wins([third]).mark(third, agent) for agent in "ABC"] == ["least", "", ""]


def test_rounding_errors_are_no_differences():
    equal = contest(A=SURE, B=SURE + 1e-11, Hindsight=SURE)
    assert equal.ranks == {"A": 1, "B": 1}
    assert wins([equal]).n_significant == 0
    assert duels([equal], "A", ["B"]).tallies()[0].neither == 1


def test_an_agent_against_each_rival():
    contests = [contest(f"c{k}", A=SURE, B=SURE + 5, C=SURE - (-1) ** k * 5, Hindsight=SURE) for k in range(4)]
    found = duels(contests, "A", ["A", "B", "C"])
    assert [(t.rival, t.less, t.more, t.neither, t.untested) for t in found.tallies()] == [
        ("B", 4, 0, 0, 0),
        ("C", 2, 2, 0, 0),
    ]
    assert found.is_significant("B", contests[0])
    assert found.n_tested == 8


def test_the_first_sentence_says_who_wins_where():
    board = made_board()
    reported = board.family("reported")
    for one in winners(reported):
        these = [c for c in reported if c.kind == one.kind]
        counts = {agent: sum(c.ranks.get(agent) == 1 for c in these) for agent in board.rivals}
        assert one.n == len(these) == 6
        assert one.wins == max(counts.values())
        assert set(one.agents) == {agent for agent in counts if counts[agent] == one.wins}
        assert f"on {one.wins}" in headline(board)
    for part in ("drifting problems without noise", "drifting problems with noise", "stationary problems"):
        assert part in headline(board)


def test_losses_are_ordered_by_the_winners_regret():
    near = contest("near", A=[30, 30], B=[20, 20], Hindsight=[9, 9])
    far = contest("far", A=[90, 90], B=[2, 2], Hindsight=[90, 90])
    won = contest("won", A=[1, 1], B=[2, 2], Hindsight=[1, 1])
    assert [c.slug for c in losses([near, won, far], "A")] == ["far", "near"]


def test_a_profile_starts_at_the_share_of_wins_and_never_falls():
    contests = made_board().family("reported")
    factors = np.geomspace(1, 16, 9)
    shares = np.array([profile(contests, agent, factors) for agent in ("Adaptive", "PSRL")])
    first = [np.mean([c.ranks[agent] == 1 for c in contests]) for agent in ("Adaptive", "PSRL")]
    np.testing.assert_allclose(shares[:, 0], first)
    assert (np.diff(shares, axis=1) >= 0).all()
    within_slack = contest(A=[1, 1], B=[-40, -40], Hindsight=[9, 9])
    assert profile([within_slack], "A", factors).tolist() == [1.0] * 9


def test_standings_of_a_part_are_those_of_its_contests():
    board = made_board()
    found = {one.agent: one for one in standings(board, among=lambda c: c.group == "queue")}
    assert "Only two-state" not in found
    assert found["PSRL"].n == 6
    everywhere = {one.agent for one in standings(board) if one.everywhere}
    assert everywhere == set(board.rivals) - {"Only two-state"}
    assert mean_time(board.contests, "PSRL") == pytest.approx(2.0)


def test_labels_keep_apart_and_near():
    found = spread_labels([1.0, 0.99, 0.98, 0.5, 0.0, 0.01], gap=0.05)
    assert (np.diff(np.sort(found)) >= 0.05 - 1e-12).all()
    assert found[0] == 1.0
    assert found[3] == 0.5
    assert found.min() == 0.0


def test_a_front_is_what_nothing_beats_in_both():
    points = [(1.0, 5.0), (2.0, 6.0), (3.0, 1.0), (3.0, 2.0), (9.0, 1.0)]
    assert pareto_front(points) == [(1.0, 5.0), (3.0, 1.0)]
