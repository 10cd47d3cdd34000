"""Deterministic rings, on which value iteration without an aperiodicity transform goes round and round.

A lazy ring, on which it converges, stands beside them as a control: there every solver is asked in the same way.
"""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftmdp as dm
from benchmarks.chains import certified_interval, ring
from benchmarks.child import ChildFailed, ChildReport, call_in_child
from benchmarks.peers import Answer, mdpsolver_peer, mdptoolbox_peer
from benchmarks.rows import Row, Verdict, as_time, require
from driftmdp.planning import optimal_gain, policy_gain

__all__ = ["answer", "run"]

CHAINS: dict[str, tuple[int, float]] = {
    "lazy 2-cycle (control)": (2, 0.5),
    "2-cycle": (2, 0.0),
    "ring of 50": (50, 0.0),
}
RIGHT = 1e-6


def _ours(mdp: dm.Mdp) -> Answer:
    optimal_gain(mdp)
    start = time.perf_counter()
    best = optimal_gain(mdp)
    seconds = time.perf_counter() - start
    return Answer(seconds, best.bias, best.policy.astype(np.int64), best.gain, best.iterations)


SOLVERS: dict[str, Callable[[dm.Mdp], Answer]] = {
    "driftmdp": _ours,
    "pymdptoolbox, its defaults": lambda mdp: mdptoolbox_peer(mdp, 1000).solve(0.01),
    "pymdptoolbox, epsilon=1e-9, max_iter=100000": lambda mdp: mdptoolbox_peer(mdp, 100_000).solve(1e-9),
}
MORE_SOLVERS: dict[str, Callable[[dm.Mdp], Answer]] = {
    f"mdpsolver {algorithm}, update={update}": lambda mdp, a=algorithm, u=update: mdpsolver_peer(  # type: ignore[misc]
        mdp, algorithm=a, update=u, parallel=False, postProcessing=True, makeFinalCheck=True
    ).solve(1e-9)
    for algorithm in ("vi", "mpi", "pi")
    for update in ("standard", "gs", "sor")
}


def run(quick: bool) -> list[Row]:
    """Return one verdict for each chain and solver."""
    cap = 2.0 if quick else 10.0
    solvers = [*SOLVERS, *list(MORE_SOLVERS)[: 1 if quick else None]]
    rows: list[Row] = []
    for chain, (n_states, stay) in CHAINS.items():
        verdicts = [_verdict(chain, solver, (1.0 - stay) / n_states, cap) for solver in solvers]
        require(verdicts[0].verdict == "right", f"our gain must be right on the {chain}; got {verdicts[0]}.")
        rows += verdicts
    return rows


def answer(chain: str, solver: str) -> dict[str, Any]:
    """Return what a solver says of a chain, its values' certificate and what its policy earns."""
    n_states, stay = CHAINS[chain]
    mdp = ring(n_states, stay)
    given = (SOLVERS | MORE_SOLVERS)[solver](mdp)
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
        return verdict("-", "not converged", f"> {as_time(cap)}", "no answer when it was stopped")
    except ChildFailed as failure:
        judged = "not importable" if "ModuleNotFoundError" in str(failure) else "refused"
        return verdict("-", judged, "-", str(failure))
    said = report.result
    gain = "none" if said["gain"] is None else f"{said['gain']:.9g}"
    return verdict(gain, _judged(said, exact), as_time(said["seconds"]), _note(report, exact))


def _judged(said: dict[str, Any], exact: float) -> str:
    """Judge the gain if one is returned, else the interval that the returned values certify."""
    if said["gain"] is not None:
        return "right" if math.isclose(said["gain"], exact, abs_tol=RIGHT) else "wrong"
    converged = said["high"] - said["low"] <= RIGHT
    return "right" if converged and said["low"] - RIGHT <= exact <= said["high"] + RIGHT else "not converged"


def _note(report: ChildReport, exact: float) -> str:
    said = report.result
    optimal = math.isclose(said["earns"], exact, abs_tol=RIGHT)
    parts = [
        f"{said['iterations']} iterations" if said["iterations"] is not None else "",
        f"its values certify [{said['low']:.4g}, {said['high']:.4g}]",
        f"its policy is {'optimal' if optimal else f'not optimal: it earns {said["earns"]:.4g}'}",
        f"printed: {report.printed.splitlines()[-1]}" if report.printed else "nothing printed or raised",
    ]
    return "; ".join(part for part in parts if part)
