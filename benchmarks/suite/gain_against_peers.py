"""The optimal gain of sparse random MDPs, against pip-installable peers at the same certified residual."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import driftmdp as dm
from benchmarks.chains import certified_interval, sparse_random
from benchmarks.child import ChildFailed, call_in_child
from benchmarks.peers import Peer, mdpsolver_peers, mdptoolbox_peer
from benchmarks.rows import Row, Speed, as_time, require
from benchmarks.timing import Task, fastest, medians, timed
from driftmdp.planning import check_communicating, optimal_gain

__all__ = ["residual_of_update", "run"]

# Other settings were slower when tried. algorithm="pi" gives the values of "mpi" with 100 sweeps per policy.
SETTINGS: list[dict[str, Any]] = [
    {"algorithm": "vi", "parallel": False},
    *({"algorithm": "mpi", "parIterLim": sweeps, "parallel": False} for sweeps in (3, 5, 1, 10, 20)),
    {"algorithm": "vi", "parallel": True},
    *({"algorithm": "mpi", "parIterLim": sweeps, "parallel": True} for sweeps in (3, 5)),
]
QUICK_SETTINGS = 3
FINALISTS = 4
CAP = 5.0


@dataclass(frozen=True)
class Contender:
    """A peer with the loosest tolerance at which its values certify what is asked."""

    peer: Peer
    tolerance: float
    residual: float

    def seconds(self) -> float:
        """Return how long its solve call takes."""
        return self.peer.solve(self.tolerance).seconds

    def terms(self) -> str:
        """Return the terms of the measurement."""
        return (
            f"At tolerance {self.tolerance:.2g} the peer certifies {self.residual:.1e}. Building its model, "
            f"{as_time(self.peer.building)}, is not counted"
        )


def run(quick: bool) -> list[Row]:
    """Return a row for each size and residual."""
    sizes, repeats = ((200, 1000), 3) if quick else ((1000, 10000), 11)
    rows: list[Row] = []
    for n_states in sizes:
        mdp = sparse_random(n_states)
        peers, remarks = _peers(mdp, quick)
        if not quick and n_states == sizes[0]:
            remarks += [_other_update(n_states, update) for update in ("gs", "sor")]
        rows += [_row(mdp, peers, target, repeats, remarks) for target in (1e-6, 1e-9)]
    return rows


def _peers(mdp: dm.Mdp, quick: bool) -> tuple[list[Peer], list[str]]:
    """Return every peer in every promising setting, and a remark on each missing one."""
    settings = SETTINGS[:QUICK_SETTINGS] if quick else SETTINGS
    builders: dict[str, Callable[[], list[Peer]]] = {
        "pymdptoolbox": lambda: [mdptoolbox_peer(mdp, max_iter=100_000)],
        "mdpsolver": lambda: mdpsolver_peers(mdp, settings, postProcessing=False, makeFinalCheck=False),
    }
    peers, missing = [], []
    for package, build in builders.items():
        try:
            peers += build()
        except ImportError as error:
            missing.append(f"{package} is not importable ({error})")
    return peers, missing


def _row(mdp: dm.Mdp, peers: Sequence[Peer], target: float, repeats: int, remarks: Sequence[str]) -> Row:
    what = f"optimal gain, S={mdp.space.n_states} A=5, 5 successors, residual {target:g}"
    certified = _residual(mdp, optimal_gain(mdp, tolerance=target / 2).bias)
    require(certified <= 1.001 * target, f"our bias must certify {target:g}; got {certified:.3g}.")
    contenders, failures = _contenders(mdp, peers, target)
    tasks: dict[str, Task] = {
        "ours": timed(lambda: optimal_gain(mdp, tolerance=target / 2)),
        "check": timed(lambda: check_communicating(mdp)),
    }
    seconds = medians(tasks | {name: contender.seconds for name, contender in contenders.items()}, repeats)
    ours, check = seconds.pop("ours"), seconds.pop("check")
    checking = f"Ours certifies {certified:.1e}, with {as_time(check)} for checking communication"
    if not seconds:
        return Speed(what, as_time(ours), "no peer", note=". ".join([checking, *failures, *remarks]))
    best, time = fastest(seconds)
    notes = [contenders[best].terms(), checking, *_other_package(contenders, seconds, best), *failures, *remarks]
    return Speed.against(what, ours, best, time, 1, ". ".join(notes))


def _other_package(contenders: dict[str, Contender], seconds: dict[str, float], best: str) -> list[str]:
    """Return the best time of the package that is not the fastest, if there is one."""
    package = contenders[best].peer.package
    others = {name: time for name, time in seconds.items() if contenders[name].peer.package != package}
    return [f"{name}: {as_time(time)}" for name, time in [fastest(others)]] if others else []


def _contenders(mdp: dm.Mdp, peers: Sequence[Peer], target: float) -> tuple[dict[str, Contender], list[str]]:
    """Return the best settings of every package by name, and a remark on those that miss the target."""
    tried = [_loosest(mdp, peer, target) for peer in peers]
    failures = [f"{c.peer.name} certifies only {c.residual:.1e}" for c in tried if c.residual > target]
    able = sorted((c for c in tried if c.residual <= target), key=lambda c: min(c.seconds() for _ in range(3)))
    finalists = [c for package in sorted({c.peer.package for c in able}) for c in _of(package, able)[:FINALISTS]]
    return {contender.peer.name: contender for contender in finalists}, failures


def _of(package: str, contenders: Sequence[Contender]) -> list[Contender]:
    return [contender for contender in contenders if contender.peer.package == package]


def _loosest(mdp: dm.Mdp, peer: Peer, target: float) -> Contender:
    """Halve the peer's tolerance, from 8 times the target, until its values certify the target."""
    tolerance = 8 * target
    for _ in range(14):
        contender = Contender(peer, tolerance, _residual(mdp, peer.solve(tolerance).values))
        if contender.residual <= target:
            break
        tolerance /= 2
    return contender


def _residual(mdp: dm.Mdp, values: NDArray[np.float64]) -> float:
    low, high = certified_interval(mdp, values)
    return high - low


def _other_update(n_states: int, update: str) -> str:
    """Return what mdpsolver does with the average criterion and an update that is not its standard one."""
    try:
        residual = call_in_child(residual_of_update, n_states, update, timeout=CAP).result
    except subprocess.TimeoutExpired:
        return f"mdpsolver update={update}: no answer within {CAP:g} s"
    except ChildFailed as failure:
        return f"mdpsolver update={update}: {failure}"
    return f"mdpsolver update={update} certifies {residual:.1e}"


def residual_of_update(n_states: int, update: str) -> float:
    """Return the residual that mdpsolver's values certify with Gauss-Seidel or relaxed updates."""
    mdp = sparse_random(n_states)
    return _residual(mdp, mdpsolver_peers(mdp, [{"algorithm": "mpi", "update": update}])[0].solve(1e-6).values)
