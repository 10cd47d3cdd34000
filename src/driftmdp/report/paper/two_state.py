"""[CSZ20] fig:sim_reward and fig:Q, on the two-state problem: the reward process, and the sets of episodes Q_T."""

import numpy as np

from driftmdp import problems
from driftmdp.mdp import Problem
from driftmdp.report.paper import style
from driftmdp.report.rendered_figure import Axes, Figure, stacked_axes, styled
from driftmdp.statements.run_trace import RunTrace, trace_run

SPEEDS = {"T^0.2": style.BLUE, "T^0.5": style.RED}
STEPS_ENLARGED = 400
REWARD_RANGE = problems.two_state(horizon=1).reward_range

# Theory's radii contain every transition here, so Q_T would be empty. With 0.4 of them it is not.
WINDOW, WIDENING, SCALE, SEED = 500, 0.05, 0.4, 1
LOWEST_EXCESS = -1.1  # the first episodes lie below: their radii are too large to be informative
EPISODE_KINDS = (  # label, colour, marker
    ("in $Q_T$: outside, and more than $W$ after the last", style.RED, "D"),
    ("in $\\tilde{Q}_T$ only: begins within $W$ steps after one in $Q_T$", "#f5c97f", "s"),
    ("in neither: $p_{\\tau(m)}$ is inside $H_p(\\eta)$", style.BLUE, "o"),
)


def mean_rewards(problem: Problem, state: int = 1, action: int = 1) -> style.Floats:
    """Return r_t of a pair, shape (T,).

    Examples
    --------
    >>> from driftmdp import problems
    >>> from driftmdp.report.paper.two_state import mean_rewards
    >>> mean_rewards(problems.two_state(horizon=5000)).round(2)[:2]
    array([-2.8, -2.8])
    """
    drifting, pair = problem.drifting, problem.space.pair(state, action)
    return np.array([drifting.rewards_at(t)[pair] for t in range(1, problem.horizon + 1)])


@styled(style.PAPER_STYLE)
def reward_process(horizon: int = 5000) -> Figure:
    """Draw r_t(s2, a2) for V_r = T^0.2 and T^0.5 over the horizon, and both over its beginning.

    Examples
    --------
    >>> from driftmdp.report.paper.two_state import reward_process
    >>> len(reward_process(horizon=500).axes)
    3
    """
    figure, axes = stacked_axes([1.25, 1.25, 1.25], top=0.35, gap=0.62)
    for ax, (speed, colour) in zip(axes, SPEEDS.items(), strict=False):
        problem = problems.two_state(horizon=horizon, v_r=speed)
        rewards, name = mean_rewards(problem), f"$V_r = T^{{{speed[2:]}}}$"
        _draw_rewards(ax, rewards, colour, 0.6)
        _draw_rewards(axes[2], rewards[:STEPS_ENLARGED], colour, 1.4, name)
        exact, printed = problem.drifting.variation().reward, problem.budget("printed")[0]
        variation = f"total variation $B_r$ = {exact:,.1f} (printed: $15 V_r$ = {printed:,.1f})"
        ax.set_title(f"{name} = {problem.budget('order')[0]:.2f}; {variation}", fontsize=9, loc="left")
        ax.set_xlim(1, horizon)
    axes[2].set_title(f"both, the first {min(STEPS_ENLARGED, horizon)} steps", fontsize=9, loc="left")
    axes[2].set(xlim=(1, min(STEPS_ENLARGED, horizon)), xlabel="$t$")
    axes[2].legend(loc="lower right", ncols=2, frameon=False, bbox_to_anchor=(1.0, 0.97), borderaxespad=0.0)
    return figure


def _draw_rewards(ax: Axes, rewards: style.Floats, colour: str, width: float, label: str | None = None) -> None:
    ax.plot(np.arange(1, rewards.size + 1), rewards, color=colour, linewidth=width, label=label)
    low, high = REWARD_RANGE
    ax.set(ylim=(low - 0.4, high + 0.4), yticks=[low, (low + high) / 2, high], ylabel="$r_t(s_2, a_2)$")


def q_run(seed: int = SEED) -> RunTrace:
    """Return a run of SWUCRL2-CW on the two-state problem that has episodes of all three kinds.

    Examples
    --------
    >>> from driftmdp.report.paper.two_state import q_run
    >>> trace = q_run()
    >>> trace.window, len(trace.q_set), int(trace.q_cover.sum()), len(trace.starts)
    (500, 5, 52, 106)
    """
    problem = problems.two_state(horizon=5000)
    return trace_run("two-state", problem, seed, window=WINDOW, widening=WIDENING, scale=SCALE)


def excess(trace: RunTrace) -> style.Floats:
    """Return by how much p_tau(m) lies outside of H_p(eta), shape (M,).

    It is the largest ||p_tau(m) - p^||_1 - rad_p - eta of any pair. A pair that was never seen excludes nothing.
    Where no pair was seen the result is NaN.
    """
    beyond = np.abs(trace.p_at_start - trace.p_hat).sum(axis=2) - trace.rad_p - trace.widening
    worst = np.where(trace.counts > 0, beyond, -np.inf).max(axis=1)
    return np.where(np.isinf(worst), np.nan, worst)


def episode_kinds(trace: RunTrace) -> style.Ints:
    """Return for every episode whether it is in Q_T (0), in its cover only (1), or in neither (2)."""
    kinds = np.where(trace.q_cover, 1, 2)
    kinds[trace.q_set] = 0
    return kinds


@styled(style.PAPER_STYLE)
def q_sets(seed: int = SEED) -> Figure:
    """Draw the episodes in time, coloured by kind, the window after each of Q_T, and how far outside each was.

    Examples
    --------
    >>> from driftmdp.report.paper.two_state import q_sets
    >>> len(q_sets().axes)
    2
    """
    trace = q_run(seed)
    figure, (top, bottom) = stacked_axes([0.85, 2.2], left=0.85, right=0.4, top=0.75, bottom=0.5, gap=0.2)
    _draw_episodes(top, trace)
    _draw_excess(bottom, trace)
    handles, labels = bottom.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0.1, 1.0), frameon=False, fontsize=8.5)
    return figure


def _draw_episodes(ax: Axes, trace: RunTrace) -> None:
    """Draw the episodes as bars of their length, and the window after each of Q_T."""
    from matplotlib.patches import Rectangle

    for start, length, kind in zip(trace.starts, trace.lengths, episode_kinds(trace), strict=True):
        bar = Rectangle((start, 0), length, 1, facecolor=EPISODE_KINDS[kind][1], edgecolor="white", linewidth=0.4)
        bar.set_gid(f"episode-{kind}")
        ax.add_patch(bar)
    ends = {"arrowstyle": "|-|,widthA=0.25,widthB=0.25", "shrinkA": 0, "shrinkB": 0}
    for m in trace.q_set:
        first, last = int(trace.starts[m]), int(trace.starts[m]) + trace.window
        ax.annotate("", (last, 1.25), (first, 1.25), arrowprops=ends)
        ax.text((first + last) / 2, 1.4, "$W$", ha="center", va="bottom", fontsize=9)
    style.remove_frame(ax, "bottom")
    ax.set(xlim=(1, trace.horizon), ylim=(-0.05, 1.9), xticks=[])
    ax.text(-60, 0.5, "episodes", ha="right", va="center")


def _draw_excess(ax: Axes, trace: RunTrace) -> None:
    """Draw how far outside of its region the world was when each episode began."""
    distance, kinds = excess(trace), episode_kinds(trace)
    ax.axhline(0.0, color=style.BLACK, linewidth=1.0)
    ax.vlines(trace.starts, 0.0, distance, color=style.PALE, linewidth=0.8, zorder=1)
    for number, (label, colour, marker) in enumerate(EPISODE_KINDS):
        at, size = np.flatnonzero(kinds == number), 4.5 if number else 6.5
        (drawn,) = ax.plot(trace.starts[at], distance[at], marker, color=colour, markersize=size, label=label)
        drawn.set(markeredgecolor=style.BLACK, markeredgewidth=0.5, gid=f"kind-{number}")
    below = int((distance < LOWEST_EXCESS).sum())
    ax.text(260, LOWEST_EXCESS + 0.05, f"{below} of the first episodes lie below", fontsize=8, va="bottom")
    ax.set(xlim=(1, trace.horizon), ylim=(LOWEST_EXCESS, 0.4))
    parameters = f"$W$ = {trace.window}, $\\eta$ = {trace.widening:g}, radii times {trace.agent.scale:g}"
    ax.set_xlabel(f"start of the episode, $\\tau(m)$;  {parameters}")
    for height, side in ((0.2, "outside"), (LOWEST_EXCESS / 2, "inside")):
        ax.text(1.015, height, side, rotation=90, va="center", transform=ax.get_yaxis_transform())
    ax.set_ylabel("$\\|p_{\\tau(m)} - \\hat{p}\\|_1 - rad_p - \\eta$")
