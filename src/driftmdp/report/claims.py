"""The sentences of the paper's numerical section, held against what was measured.

Each sentence of the Results paragraph of [CSZ20] Section 8 becomes comparisons with an interval over 50 seeds,
paired by seed. A comparison holds if its whole interval does. A sentence is *reproduced* if all its comparisons
hold, *not* if none does, and *partly* otherwise.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftmdp.experiments.schema import read_json
from driftmdp.report.content import Setting, Table, TableCell
from driftmdp.report.text import interval_text, number, percent_text
from driftmdp.report.view import View
from driftmdp.statistics import Interval, difference_interval, ratio_interval

LOW, HIGH = "T^0.2", "T^0.5"
OURS, OTHERS = ("SWUCRL2-CW", "BORL"), ("UCRL2", "UCRL2.S")
LEARNING = "Bounded BORL"  # not in the paper: its master's share of uniform draws is at most 1/2
SCENARIOS = list(itertools.product((LOW, HIGH), repeat=2))
WORDS = {"reproduced": "reproduced", "partly": "partly", "not": "not reproduced"}


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured, and the verdict: ``"reproduced"``, ``"partly"`` or ``"not"``."""

    sentence: str
    measured: str
    verdict: str
    why: str


class ClaimEvidence:
    """The results of one setting by the paper's names, restricted to the seeds that all of its runs have.

    ``borl`` is the line that stands for BORL.
    """

    def __init__(self, found: View, setting: Setting, borl: str = "BORL") -> None:
        self._found, self._setting, self._borl = found, setting, borl
        self._panels = {}
        for panel in found.panels:
            row = found.problems.get(panel.id)
            if row is not None:
                parameters = read_json(row["parameters"], dict)
                self._panels[parameters.get("v_p"), parameters.get("v_r")] = panel
        cells = [cell for shown in setting.curves.values() for cell in shown.values()]
        seeds = [found.curves[cell].seeds for cell in cells]
        self._seeds = functools.reduce(np.intersect1d, seeds) if seeds else np.empty(0)
        if not self._seeds.size:
            raise LookupError("There is no seed that all agents were run with.")

    def cell(self, agent: str, v_p: str, v_r: str) -> str:
        """Return the cell of an agent in a scenario."""
        line = self._found.line(self._borl if agent == "BORL" else agent)
        panel = self._panels.get((v_p, v_r))
        cell = self._found.cell(self._setting, panel, line) if line and panel else None
        if cell is None:
            raise LookupError(f"There are no runs of {agent} with V_p = {v_p} and V_r = {v_r}.")
        return cell

    def reward(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the cumulative rewards, by seed."""
        return self.rewards_over_time(agent, v_p, v_r)[:, -1]

    def rewards_over_time(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the cumulative rewards at the checkpoints, a row a seed."""
        curves = self._found.curves[self.cell(agent, v_p, v_r)]
        return curves.rewards[np.isin(curves.seeds, self._seeds)]

    def regret(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the dynamic regrets, by seed."""
        curves = self._found.curves[self.cell(agent, v_p, v_r)]
        return np.asarray(curves.regrets[np.isin(curves.seeds, self._seeds), -1])

    def summaries(self, agent: str, v_p: str, v_r: str) -> list[str]:
        """Return the agents' own summaries."""
        return self._found.results.summaries(self.cell(agent, v_p, v_r))

    def with_learning_master(self) -> ClaimEvidence | None:
        """Return the same with a master that learns in BORL's place, if it was run everywhere."""
        learning = ClaimEvidence(self._found, self._setting, LEARNING)
        try:
            return learning if all(learning.cell("BORL", *scenario) for scenario in SCENARIOS) else None
        except LookupError:
            return None


def claims_of(evidence: ClaimEvidence) -> list[Claim]:
    """Return what became of every sentence of the Results paragraph."""
    return [check(evidence) for check in CHECKS]


def score(claims: Sequence[Claim]) -> float:
    """Return how many sentences were reproduced; partly counts one half."""
    return sum({"reproduced": 1.0, "partly": 0.5, "not": 0.0}[claim.verdict] for claim in claims)


def _verdict(holds: Sequence[bool]) -> str:
    return "reproduced" if all(holds) else "partly" if any(holds) else "not"


def _gains(evidence: ClaimEvidence, scenarios: Sequence[tuple[str, str]]) -> dict[str, Interval]:
    """Return the ratio of rewards of each of our agents to each other one, in each scenario."""
    for other, scenario in itertools.product(OTHERS, scenarios):
        if evidence.reward(other, *scenario).mean() <= 0:
            raise LookupError(
                f"{other} has no positive rewards in {_name(*scenario)}, so percentages mean nothing."
            )
    return {
        f"{ours} over {other} in {_name(*scenario)}": ratio_interval(
            evidence.reward(ours, *scenario), evidence.reward(other, *scenario)
        )
        for scenario in scenarios
        for ours in OURS
        for other in OTHERS
    }


def _name(v_p: str, v_r: str) -> str:
    return f"({'abcd'[2 * (v_p == HIGH) + (v_r == HIGH)]})"


def _at_least_20_percent(evidence: ClaimEvidence) -> Claim:
    gains = _gains(evidence, [(LOW, LOW), (LOW, HIGH), (HIGH, HIGH)])
    holds = [gain.low >= 1.2 for gain in gains.values()]
    least, most = min(gains, key=lambda k: gains[k].estimate), max(gains, key=lambda k: gains[k].estimate)
    fails = [f"{name} {percent_text(gain)}" for name, gain in gains.items() if gain.low < 1.2]
    why = f"Not so, with their whole interval: {'; '.join(fails)}." if fails else "Every interval lies above 20%."
    return Claim(
        "SWUCRL2-CW and BORL collect at least 20% more rewards than UCRL2 and UCRL2.S, except in (c).",
        f"{sum(holds)} of {len(holds)} gains are above 20% with their whole interval; from "
        f"{percent_text(gains[least])} ({least}) to {percent_text(gains[most])} ({most}).",
        _verdict(holds),
        why if len(fails) <= 4 else f"{len(fails)} gains are not above 20% with their whole interval.",
    )


def _twelve_percent(evidence: ClaimEvidence) -> Claim:
    gains = _gains(evidence, [(HIGH, LOW)])
    least = min(gains, key=lambda k: gains[k].estimate)
    gain = gains[least]
    within, more = gain.low <= 1.12 <= gain.high, gain.low > 1.0
    verdict = "reproduced" if within and more else "partly" if within or more else "not"
    why = {
        "reproduced": "12% lies inside the interval of the least gain, which lies above 0.",
        "partly": "12% lies inside the interval, but so does no gain at all."
        if within
        else "There is a gain, but not of 12%.",
        "not": "The least gain is neither 12% nor surely above 0.",
    }[verdict]
    others = "; ".join(f"{name} {percent_text(value)}" for name, value in gains.items() if name != least)
    return Claim(
        "In (c), V_p = T^0.5 and V_r = T^0.2, the improvement is 12%.",
        f"The least of the four gains there: {least} {percent_text(gain)}. The others: {others}.",
        verdict,
        why,
    )


def _more_robust_to_transitions(evidence: ClaimEvidence) -> Claim:
    extra = {
        agent: difference_interval(evidence.regret(agent, LOW, HIGH), evidence.regret(agent, HIGH, LOW))
        for agent in (*OURS, *OTHERS)
    }
    holds = [extra[agent].low > 0 for agent in OURS]
    others = "; ".join(f"{agent} {interval_text(extra[agent])}" for agent in OTHERS)
    alike = all(extra[agent].low > 0 for agent in OTHERS)
    return Claim(
        "SWUCRL2-CW and BORL are more robust to variations of the transitions than of the rewards.",
        "Dynamic regret under fast rewards (b) less that under fast transitions (c): "
        + "; ".join(f"{agent} {interval_text(extra[agent])}" for agent in OURS)
        + ".",
        _verdict(holds),
        f"For UCRL2 and UCRL2.S, which have no widening: {others}."
        + (" So it is true of all four: the problem is such, not the algorithms." if alike and all(holds) else ""),
    )


def _power_of_widening(evidence: ClaimEvidence) -> Claim:
    pairs = [
        (evidence.reward("SWUCRL2-CW", *scenario), evidence.reward("Naive window", *scenario))
        for scenario in SCENARIOS
    ]
    gains = [difference_interval(ours, naive) for ours, naive in pairs]
    holds = [gain.low > 0 for gain in gains]
    same = all(
        np.array_equal(
            evidence.rewards_over_time("SWUCRL2-CW", *scenario),
            evidence.rewards_over_time("Naive window", *scenario),
        )
        for scenario in SCENARIOS
    )
    shown = "; ".join(
        f"{_name(*scenario)} {interval_text(gain)}" for scenario, gain in zip(SCENARIOS, gains, strict=True)
    )
    return Claim(
        "This demonstrates the power of the confidence widening technique.",
        f"Reward of SWUCRL2-CW less that of the same window without widening: {shown}.",
        _verdict(holds),
        "All runs are the same to the last digit: with so few visits every transition radius already allows every "
        "transition, so widening it changes nothing."
        if same
        else "The widening is the only difference between the two.",
    )


def _borl_above(evidence: ClaimEvidence) -> Claim:
    scenarios = [(LOW, LOW), (LOW, HIGH), (HIGH, LOW)]
    gains = [
        difference_interval(evidence.reward("BORL", *scenario), evidence.reward("SWUCRL2-CW", *scenario))
        for scenario in scenarios
    ]
    holds = [gain.low > 0 for gain in gains]
    shown = "; ".join(
        f"{_name(*scenario)} {interval_text(gain)}" for scenario, gain in zip(scenarios, gains, strict=True)
    )
    last = difference_interval(evidence.reward("BORL", HIGH, HIGH), evidence.reward("SWUCRL2-CW", HIGH, HIGH))
    open_ = [
        _name(*scenario) for scenario, gain in zip(scenarios, gains, strict=True) if gain.low <= 0 <= gain.high
    ]
    why = f"In (d), which the sentence leaves out: {interval_text(last)}."
    return Claim(
        "In (a), (b) and (c) BORL, which does not know the budgets, collects more than SWUCRL2-CW, which does.",
        f"Reward of BORL less that of SWUCRL2-CW: {shown}.",
        _verdict(holds),
        why + (f" In {', '.join(open_)} the interval holds 0, so no difference is shown." if open_ else ""),
    )


def _adaptive_master(evidence: ClaimEvidence) -> Claim:
    largest, arms, gamma = _master(evidence)
    uniform = largest <= (1 + 1e-9) / arms
    return Claim(
        "The adaptive master of BORL (EXP3.P) is able to leverage this benign environment for higher rewards.",
        f"The largest probability of any of the {arms} arms in any block of any run: {number(largest)}; uniform "
        f"play has {number(1 / arms)}.{_learning_master(evidence)}",
        "not" if uniform else "partly",
        f"EXP3.P's share of uniform draws comes out as {number(gamma)} at this T, which is no probability; clipped "
        "to 1, every arm is as likely, whatever was learned. BORL's rewards are those of windows drawn at random."
        if uniform
        else "The master moves away from uniform play.",
    )


def _master(evidence: ClaimEvidence) -> tuple[float, int, float]:
    """Return the largest probability of any arm in any run, how many arms there are, and gamma by the formula."""
    return max(_read_master(text) for scenario in SCENARIOS for text in evidence.summaries("BORL", *scenario))


@functools.lru_cache(maxsize=1024)  # settings share runs
def _read_master(summary: str) -> tuple[float, int, float]:
    run = read_json(summary, dict)
    return float(np.max(run["probabilities"])), len(run["arms"]), run["formula_gamma"]


def _learning_master(evidence: ClaimEvidence) -> str:
    """Say what a master that learns would change, if one was run."""
    learning = evidence.with_learning_master()
    if learning is None:
        return ""
    changes = "; ".join(
        f"{_name(*scenario)} "
        + interval_text(difference_interval(learning.reward("BORL", *scenario), evidence.reward("BORL", *scenario)))
        for scenario in SCENARIOS
    )
    others = [check for check in CHECKS if check is not _adaptive_master]
    moved = sum(check(learning).verdict != check(evidence).verdict for check in others)
    return (
        f" With a master that learns ({LEARNING}; not in the paper) it is "
        f"{number(_master(learning)[0])}, and BORL's reward changes by {changes}. Of the other "
        f"sentences' verdicts {moved or 'none'} would change."
    )


CHECKS: list[Callable[[ClaimEvidence], Claim]] = [
    _at_least_20_percent,
    _twelve_percent,
    _more_robust_to_transitions,
    _power_of_widening,
    _borl_above,
    _adaptive_master,
]


def claims_table(claims: Sequence[Claim], setting: Setting) -> Table:
    """Return the table of claims of a setting."""
    rows = [
        [
            TableCell(claim.sentence),
            TableCell(WORDS[claim.verdict], None, claim.verdict),
            TableCell(claim.measured),
            TableCell(claim.why),
        ]
        for claim in claims
    ]
    return Table(
        f"claims-{setting.id}",
        "The Results paragraph of the paper, sentence by sentence",
        ["The paper says", "Verdict", "Measured, with 95% intervals over seeds", "Why"],
        rows,
        setting.id,
        "Percentages of cumulative reward change if a constant is added to every reward; dynamic regret, in the "
        "tables below, does not.",
    )


def scores_table(settings: Sequence[Setting], found: Sequence[Sequence[Claim]]) -> Table:
    """Return how many sentences each setting reproduces."""
    rows = []
    for setting, claims in zip(settings, found, strict=True):
        counts = [sum(claim.verdict == verdict for claim in claims) for verdict in WORDS]
        rows.append([TableCell(setting.label), *(TableCell(str(count), float(count)) for count in counts)])
    return Table(
        "scores", "Sentences by setting", ["Setting", *(word.capitalize() for word in WORDS.values())], rows
    )
