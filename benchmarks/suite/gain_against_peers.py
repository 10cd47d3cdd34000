"""The optimal gain of sparse random MDPs, against pip-installable peers at the same certified residual."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import driftmdp as dm
from benchmarks.chains import certified_interval, sparse_random
from benchmarks.child import call_in_child
from benchmarks.peers import Peer, mdpsolver_peer, mdptoolbox_peer
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, fastest, medians, timed
from driftmdp.planning import check_communicating, optimal_gain

__all__ = ["run", "solve_relaxed"]

SWEEPS_A_POLICY = (1, 5, 20, 100)
CAP = 5.0


def run(quick: bool) -> list[Row]:
    """Return a row for each size and residual."""
    sizes, repeats = ((200, 1000), 3) if quick else ((1000, 10000), 9)
    rows: list[Row] = []
    for n_states in sizes:
        mdp = sparse_random(n_states)
        peers, missing = _peers(mdp)
        if not quick and n_states == sizes[0]:
            missing += _relaxed_updates(n_states)
        rows += [_row(mdp, peers, target, repeats, missing) for target in (1e-6, 1e-9)]
    return rows


def _peers(mdp: dm.Mdp) -> tuple[list[Peer], list[str]]:
    """Return every peer in every promising setting, and what to say of those that are not there."""
    peers, missing = [], []
    for package, settings in (("pymdptoolbox", _mdptoolbox(mdp)), ("mdpsolver", _mdpsolver(mdp))):
        try:
            peers += list(settings)
        except ImportError as error:
            missing.append(f"{package} is not importable ({error})")
    return peers, missing


def _mdptoolbox(mdp: dm.Mdp) -> Iterator[Peer]:
    yield mdptoolbox_peer(mdp, max_iter=100_000)


def _mdpsolver(mdp: dm.Mdp) -> Iterator[Peer]:
    for parallel in (True, False):
        yield mdpsolver_peer(mdp, algorithm="vi", parallel=parallel)
        yield mdpsolver_peer(mdp, algorithm="pi", parallel=parallel)
        for sweeps in SWEEPS_A_POLICY:
            yield mdpsolver_peer(mdp, algorithm="mpi", parIterLim=sweeps, parallel=parallel)


def _row(mdp: dm.Mdp, peers: list[Peer], target: float, repeats: int, remarks: list[str]) -> Row:
    what = f"optimal gain, S={mdp.space.n_states} A=5, 5 successors, residual {target:g}"
    low, high = certified_interval(mdp, optimal_gain(mdp, tolerance=target).bias)
    require(high - low <= 1.001 * target, f"our bias must certify {target:g}; got {high - low:.3g}.")
    tasks: dict[str, Task] = {"ours": timed(lambda: optimal_gain(mdp, tolerance=target))}
    tasks["check"] = timed(lambda: check_communicating(mdp))
    certificates = {}
    for peer in peers:
        tolerance, width = _loosest(mdp, peer, target)
        if tolerance is None:
            remarks = [*remarks, f"{peer.name} reached only {width:.1e}"]
            continue
        certificates[peer.name] = f"tolerance {tolerance:.2g}, certified {width:.1e} (ours {high - low:.1e})"
        tasks[peer.name] = lambda peer=peer, tolerance=tolerance: peer.solve(tolerance).seconds  # type: ignore[misc]
    seconds = medians(tasks, repeats)
    ours, check = seconds.pop("ours"), seconds.pop("check")
    remarks = [*remarks, f"ours includes {as_time(check)} to check communication"]
    if not seconds:
        return Speed(what, as_time(ours), "no peer", note="; ".join(remarks))
    best, time = fastest(seconds)
    return Speed.against(
        what, ours, best, time, 1, "; ".join([certificates[best], *_runners_up(seconds, best), *remarks])
    )


def _loosest(mdp: dm.Mdp, peer: Peer, target: float) -> tuple[float | None, float]:
    """Return the loosest tolerance, of halves of 8 times the target, that certifies the target; and what it does."""
    width = float("inf")
    for halvings in range(14):
        tolerance = 8 * target / 2**halvings
        low, high = certified_interval(mdp, peer.solve(tolerance).values)
        width = high - low
        if width <= target:
            return tolerance, width
    return None, width


def _runners_up(seconds: dict[str, float], best: str) -> list[str]:
    """Return the time of the best setting of every other package."""
    package = best.split()[0]
    others = {name: time for name, time in seconds.items() if name.split()[0] != package}
    if not others:
        return []
    name, time = fastest(others)
    return [f"{name} {as_time(time)}"]


def _relaxed_updates(n_states: int) -> list[str]:
    """Return what mdpsolver's other two updates do with the average criterion."""
    remarks = []
    for update in ("gs", "sor"):
        try:
            width = call_in_child(solve_relaxed, n_states, update, timeout=CAP).result
            remarks.append(f"mdpsolver update={update} certified {width:.1e}")
        except subprocess.TimeoutExpired:
            remarks.append(f"mdpsolver update={update} gave no answer within {CAP:g} s")
    return remarks


def solve_relaxed(n_states: int, update: str) -> float:
    """Return the residual that mdpsolver's answer certifies with Gauss-Seidel or relaxed updates."""
    mdp = sparse_random(n_states)
    low, high = certified_interval(mdp, mdpsolver_peer(mdp, algorithm="mpi", update=update).solve(1e-6).values)
    return high - low
