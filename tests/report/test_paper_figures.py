import re
import sys
import warnings
from functools import partial
from math import ceil

import numpy as np
import pytest
import typer

import driftmdp as dm
from driftmdp import problems
from driftmdp.cli.report import figures
from driftmdp.errors import UnknownNameError
from driftmdp.report import paper, write_figures
from driftmdp.report.paper.borl_structure import borl_run, borl_structure
from driftmdp.report.paper.perils import (
    arrows,
    diameter_inside,
    last_vacuous_window,
    peril_instances,
    peril_trajectory,
    region_radii,
    runs_of_equal,
    scripted_steps,
)
from driftmdp.report.paper.two_state import episode_kinds, excess, q_run, q_sets, reward_process
from driftmdp.statements.perils import diameters_inside
from driftmdp.statements.run_trace import trace_run


def named(figure, gid):
    """Return all parts of a figure with a name."""
    return [part for ax in figure.axes for part in ax.get_children() if part.get_gid() == gid]


# files ------------------------------------------------------------------------------------------------------


def test_every_figure_is_written_twice_with_the_same_bytes(tmp_path, monkeypatch):
    small = partial(diameter_inside, taus=[10, 60])  # up to 6400 it takes 20 seconds
    monkeypatch.setitem(paper.FIGURES, "diameter-inside", small)
    first, second = write_figures(tmp_path / "a"), write_figures(tmp_path / "b" / "c")
    expected = [f"{name}.{kind}" for name in paper.FIGURES for kind in ("png", "svg")]
    assert [path.name for path in first] == expected
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    assert first[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in first[1].read_bytes()


def test_the_style_of_the_user_changes_nothing(tmp_path):
    import matplotlib as mpl

    (before, _) = write_figures(tmp_path / "before", ["peril-instances"])
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 300, "axes.facecolor": "red"}):
        (after, _) = write_figures(tmp_path / "after", ["peril-instances"])
    assert before.read_bytes() == after.read_bytes()


def test_the_worlds_of_the_examples_are_drawn_by_name_only(tmp_path, monkeypatch):
    drawn = {name: partial(draw, steps=3) for name, draw in paper.EXAMPLES.items()}
    monkeypatch.setattr("driftmdp.report.paper.write.EXAMPLES", drawn)
    written = write_figures(tmp_path, paper.EXAMPLES)
    assert [path.name for path in written] == [f"{name}.{kind}" for name in drawn for kind in ("png", "svg")]
    assert not drawn.keys() & paper.FIGURES.keys()


def test_unknown_names_raise_and_nothing_is_written(tmp_path):
    with pytest.raises(UnknownNameError, match=re.escape("There is no figure 'q-set'. Did you mean 'q-sets'?")):
        write_figures(tmp_path / "new", ["peril-instances", "q-set"])
    assert not (tmp_path / "new").exists()


def test_the_command_prints_paths_and_remarks_apart(tmp_path, monkeypatch, capsys):
    app = typer.Typer()
    app.command()(figures)
    monkeypatch.setattr(sys, "argv", ["figures", "peril-instances", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="0"):
        app()
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [str(tmp_path / f"peril-instances.{kind}") for kind in ("png", "svg")]
    assert printed.err == f"1 figure, as PNG and SVG, in {tmp_path}\n"


# what is shown ----------------------------------------------------------------------------------------------


def test_borl_structure_shows_the_blocks_of_the_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that gamma is clipped is in the figure; nothing need be said
        plan, summary = borl_run()
        figure = borl_structure()
    blocks, windows = named(figure, "block"), named(figure, "window")
    assert len(blocks) == plan.n_blocks == ceil(5000 / plan.block_length)
    assert [box.get_x() + 1 for box in blocks] == summary.starts.tolist()
    assert [box.get_width() for box in blocks] == summary.sizes.tolist()
    assert sum(box.get_width() for box in blocks) == 5000
    drawn = [min(window, size) for (window, _), size in zip(summary.chosen_arms, summary.sizes, strict=True)]
    assert [box.get_width() for box in windows] == drawn
    assert [text.get_text() for text in named(figure, "feedback")] == [f"{fed:.2f}" for fed in summary.feedback]
    assert len(named(figure, "arm")) == plan.n_arms
    assert set(summary.chosen_arms) <= set(plan.arms)


def test_peril_instances_are_the_anchors():
    first, second = problems.perils(tau=3).drifting.anchors
    assert arrows(first) == {(0, 0): ["a1"], (0, 1): ["a2"], (1, 1): ["b1"], (1, 0): ["b2"]}
    assert arrows(second) == {(0, 0): ["a2"], (0, 1): ["a1"], (1, 1): ["b2"], (1, 0): ["b1"]}
    for ax, mdp in zip(peril_instances().axes, (first, second), strict=True):
        gids = {part.get_gid() for part in ax.patches if (part.get_gid() or "").startswith("arrow")}
        assert gids == {f"arrow-{here}-{there}" for here, there in arrows(mdp)}
        assert {"$a_{1}$", "$a_{2}$", "$b_{1}$", "$b_{2}$"} <= {text.get_text() for text in ax.texts}


@pytest.mark.parametrize("tau", [3, 8])
def test_peril_trajectory_is_the_one_of_the_proof(tau):
    found = scripted_steps(tau)
    assert runs_of_equal(found.actions) == [
        (1, tau + 1, "$a_{1}$"),
        (tau + 2, 2 * tau, "$b_{2}$"),
        (2 * tau + 1, 3 * tau + 1, "$b_{1}$"),
        (3 * tau + 2, 4 * tau, "$a_{2}$"),
    ]
    assert runs_of_equal(found.states) == [(1, tau + 1, 1), (tau + 2, 3 * tau + 1, 2), (3 * tau + 2, 4 * tau, 1)]
    assert [length for _, length, _ in runs_of_equal(found.mdps)] == [tau, 2 * tau, 3 * tau, 4 * tau]
    assert runs_of_equal(found.policies) == [(1, 2 * tau, "$\\pi^1$"), (2 * tau + 1, 4 * tau, "$\\pi^2$")]
    figure = peril_trajectory(tau)
    (line,), (moves,) = named(figure, "states"), named(figure, "moves")
    assert line.get_ydata().tolist() == found.states
    assert moves.get_xdata().tolist() == [tau + 1, 3 * tau + 1]


def test_q_sets_shows_every_episode_once_and_by_its_kind():
    trace, figure = q_run(), q_sets()
    points = [named(figure, f"kind-{kind}")[0].get_xdata() for kind in range(3)]
    assert points[0].tolist() == trace.starts[trace.q_set].tolist()
    assert len(points[0]) == len(trace.q_set) > 0
    assert len(points[0]) + len(points[1]) == trace.q_cover.sum()
    assert sorted(np.concatenate(points).tolist()) == trace.starts.tolist()
    for kind in range(3):
        bars = named(figure, f"episode-{kind}")
        assert [bar.get_x() for bar in bars] == trace.starts[episode_kinds(trace) == kind].tolist() != []
    arrows = [text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None) is not None]
    assert [arrow.xy[0] - arrow.xyann[0] for arrow in arrows] == [trace.window] * len(trace.q_set)


def test_the_distance_shown_says_who_is_inside():
    trace = q_run()
    assert ((excess(trace) > 1e-12) == ~trace.inside).all()
    assert (excess(trace)[episode_kinds(trace) == 2][1:] <= 1e-12).all()
    assert np.isnan(excess(trace)[0])


def test_with_the_radii_of_theory_there_is_nothing_to_show_in_q_sets():
    whole = trace_run("two-state", problems.two_state(horizon=5000), 1, window=500, widening=0.05)
    assert whole.q_set == []


def test_reward_process_is_the_formula():
    figure = reward_process()
    t = np.arange(1, 5001)
    for ax, speed in zip(figure.axes, (0.2, 0.5), strict=False):
        expected = 0.2 - 3 * np.cos(5 * 5000**speed * np.pi * t / 5000)
        (line,) = ax.lines
        np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-9)
    exact = [dm.problems.two_state(v_r=speed).drifting.variation().reward for speed in ("T^0.2", "T^0.5")]
    for ax, variation in zip(figure.axes, exact, strict=False):
        assert f"{variation:,.1f}" in ax.get_title(loc="left")


def test_diameter_inside_shows_what_was_found():
    taus, widenings = [10, 60, 240], [0.0, 0.2]
    figure = diameter_inside(taus, widenings)
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    for eta, name in zip(widenings, ("smallest in $H_p(0)$", "smallest in $H_p(0.2)$, below 10"), strict=True):
        assert list(lines[name]) == [diameters_inside(tau, eta).smallest for tau in taus]
    assert list(lines["empirical MDP, $\\tau + 1$"]) == pytest.approx([tau + 1 for tau in taus])
    assert list(lines["every MDP that was met"]) == [1.0] * 3


def test_the_shaded_windows_are_those_whose_every_radius_is_two():
    last = last_vacuous_window()
    assert region_radii(last // 4).min() >= 2 > region_radii(last // 4 + 1).min()
    for tau in (10, last // 4, 100):
        assert region_radii(tau).max() == pytest.approx(diameters_inside(tau, 0.0).largest_radius)
    (span,) = named(diameter_inside([10, 60], [0.0]), "vacuous")
    assert span.get_x() + span.get_width() == last
