"""Deterministic rings, on which value iteration without an aperiodicity transform does not converge.

A lazy ring, on which it converges, is the control. Every solver is called in the same way there.
"""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import driftmdp as dm
from benchmarks.chains import certified_interval, ring
from benchmarks.child import ChildFailed, ChildReport, call_in_child
from benchmarks.peers import Answer, mdpsolver_peers, mdptoolbox_peer
from benchmarks.rows import Row, Verdict, as_time, require
from driftmdp.planning import optimal_gain, policy_gain

__all__ = ["answer", "run"]

TIGHT = 1e-9
CHAINS: dict[str, tuple[int, float]] = {
    "lazy ring of 5 (control)": (5, 0.5),
    "2-cycle": (2, 0.0),
    "ring of 50": (50, 0.0),
}


@dataclass(frozen=True)
class Solver:
    """A way to solve an MDP and the error allowed in its gain."""

    tolerance: float
    solve: Callable[[dm.Mdp], Answer]


def _ours(mdp: dm.Mdp) -> Answer:
    optimal_gain(mdp)
    start = time.perf_counter()
    best = optimal_gain(mdp)
    seconds = time.perf_counter() - start
    return Answer(seconds, best.bias, best.policy.astype(np.int64), best.gain, best.iterations)


def _mdptoolbox(tolerance: float, max_iter: int) -> Solver:
    return Solver(tolerance, lambda mdp: mdptoolbox_peer(mdp, max_iter).solve(tolerance))


def _mdpsolver(algorithm: str) -> Solver:
    setting = {"algorithm": algorithm, "parallel": False}
    return Solver(TIGHT, lambda mdp: mdpsolver_peers(mdp, [setting])[0].solve(TIGHT))


SOLVERS = {
    "driftmdp": Solver(TIGHT, _ours),
    "pymdptoolbox, its defaults": _mdptoolbox(0.01, 1000),
    "pymdptoolbox, epsilon=1e-9, max_iter=100000": _mdptoolbox(TIGHT, 100_000),
    **{f"mdpsolver, algorithm={algorithm}": _mdpsolver(algorithm) for algorithm in ("vi", "mpi", "pi")},
}
QUICK = ("driftmdp", "pymdptoolbox, its defaults", "mdpsolver, algorithm=vi")


def run(quick: bool) -> list[Row]:
    """Return one verdict for each chain and solver."""
    cap = 4.0 if quick else 10.0
    solvers = QUICK if quick else tuple(SOLVERS)
    rows: list[Row] = []
    for chain, (n_states, stay) in CHAINS.items():
        verdicts = [_verdict(chain, solver, (1.0 - stay) / n_states, cap) for solver in solvers]
        require(verdicts[0].verdict == "right", f"our gain must be right on the {chain}; got {verdicts[0]}.")
        rows += verdicts
    return rows


def answer(chain: str, solver: str) -> dict[str, Any]:
    """Return a solver's answer on a chain, the certificate of its values and the gain of its policy."""
    n_states, stay = CHAINS[chain]
    mdp = ring(n_states, stay)
    given = SOLVERS[solver].solve(mdp)
    low, high = certified_interval(mdp, given.values)
    earns = float(policy_gain(mdp, given.policy).min())
    return {
        "gain": given.gain,
        "low": low,
        "high": high,
        "earns": earns,
        "seconds": given.seconds,
        "iterations": given.iterations,
    }


def _verdict(chain: str, solver: str, exact: float, cap: float) -> Verdict:
    def verdict(gain: str, judged: str, seconds: str, note: str) -> Verdict:
        return Verdict(chain, solver, f"{exact:g}", gain, judged, seconds, note)

    try:
        report = call_in_child(answer, chain, solver, timeout=cap)
    except subprocess.TimeoutExpired:
        return verdict("-", "not converged", f"> {as_time(cap)}", "No answer when stopped")
    except ChildFailed as failure:
        judged = "not importable" if str(failure).startswith(("ImportError", "ModuleNotFoundError")) else "refused"
        return verdict("-", judged, "-", str(failure))
    said, allowed = report.result, 1.001 * SOLVERS[solver].tolerance
    gain = "none" if said["gain"] is None else f"{said['gain']:.9g}"
    return verdict(gain, _judged(said, exact, allowed), as_time(said["seconds"]), _note(report, exact))


def _judged(said: dict[str, Any], exact: float, allowed: float) -> str:
    """Judge the gain if one is returned, else the interval that the returned values certify."""
    if said["gain"] is not None:
        return "right" if abs(said["gain"] - exact) <= allowed else "wrong"
    close = max(abs(said["low"] - exact), abs(said["high"] - exact)) <= allowed
    return "right" if close else "not converged"


def _note(report: ChildReport, exact: float) -> str:
    said = report.result
    optimal = math.isclose(said["earns"], exact, rel_tol=1e-6)
    policy = "optimal" if optimal else f"not optimal: it earns {said['earns']:.4g}"
    parts = [
        f"{said['iterations']} iterations" if said["iterations"] is not None else "",
        f"Its values certify [{said['low']:.4g}, {said['high']:.4g}]",
        f"Its policy is {policy}",
        f"Printed: {report.printed.splitlines()[-1]}" if report.printed else "Nothing printed or raised",
    ]
    return ". ".join(part for part in parts if part)
