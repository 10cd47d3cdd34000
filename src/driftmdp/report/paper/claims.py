"""The claims of the paper's numerical section, compared with what was measured.

Each sentence of the Results paragraph of [CSZ20] Section 8 becomes comparisons with an interval over the seeds,
paired by seed. A comparison holds if it holds on its whole interval. A sentence is *reproduced* if all its
comparisons hold, *not* if none does, and *partly* otherwise.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.experiments.schema import read_json
from driftmdp.report.content import Section, Setting, Table, TableCell
from driftmdp.report.panels import Layout
from driftmdp.report.text import interval_text, note, number, percent_text, table_row
from driftmdp.statistics import Interval, difference_interval, ratio_interval

Scenario = tuple[str, str]  # V_p, V_r
LOW, HIGH = "T^0.2", "T^0.5"
SCENARIOS: list[Scenario] = [(v_p, v_r) for v_p in (LOW, HIGH) for v_r in (LOW, HIGH)]
PAPER_AGENTS, OTHER_AGENTS = ("SWUCRL2-CW", "BORL"), ("UCRL2", "UCRL2.S")
LEARNING_MASTER = "Bounded BORL"  # not in the paper: its master's share of uniform draws is at most 1/2
VERDICTS = {"reproduced": "reproduced", "partly": "partly", "not": "not reproduced"}
POINTS = {"reproduced": 1.0, "partly": 0.5, "not": 0.0}


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured, and the verdict: ``"reproduced"``, ``"partly"`` or ``"not"``."""

    sentence: str
    measured: str
    verdict: str
    why: str


@dataclass(frozen=True)
class JudgedClaims:
    """The claims by setting id; empty if the spec does not ask for them, or if ``obstacle`` says why not."""

    claims: dict[str, list[Claim]] = field(default_factory=dict)
    obstacle: str = ""

    def best_first(self, settings: Sequence[Setting]) -> list[Setting]:
        """Return the settings, those that reproduce most of the paper first."""
        return sorted(settings, key=lambda setting: -score(self.claims.get(setting.id, [])))

    def section(self, settings: Sequence[Setting]) -> Section | None:
        """Return the claims of each setting and the counts of all, or None if they were not asked for."""
        if self.obstacle:
            return Section("claims", "Claims of the paper", [self.obstacle])
        if not self.claims:
            return None
        by_setting = [_claims_table(self.claims[setting.id], setting) for setting in settings]
        tables = [*by_setting, _scores_table(settings, self.claims)]
        explanation = [note(f"claims-section-{number}") for number in (1, 2, 3)]
        return Section("claims", "Claims of the paper, and what was measured", explanation, tables)

    def reason(self, settings: Sequence[Setting]) -> list[str]:
        """Return why the first of the ordered settings is shown first; nothing without claims."""
        if not self.claims:
            return []
        scores = [score(self.claims[setting.id]) for setting in settings]
        first = self.claims[settings[0].id]
        counts = Counter(claim.verdict for claim in first)
        tied = [setting.label for setting, points in zip(settings, scores, strict=True) if points == scores[0]][1:]
        others = f" These settings reproduce as much: {'; '.join(tied)}." if tied else ""
        sizes = {"n_settings": len(settings), "n_sentences": len(first)}
        return [note("first-setting", label=settings[0].label, counts=counts, tied=others, **sizes)]


class ClaimEvidence:
    """The results of one setting by the paper's names, restricted to the seeds that all of its runs have.

    ``borl`` is the label of the line that is used as BORL.
    """

    def __init__(self, layout: Layout, setting: Setting, borl: str = "BORL") -> None:
        self._layout, self._setting, self._borl = layout, setting, borl
        self._panels = {}
        for panel in layout.panels:
            if panel.id in layout.problems:
                parameters = read_json(layout.problems[panel.id]["parameters"], dict)
                self._panels[parameters.get("v_p"), parameters.get("v_r")] = panel
        seeds = [layout.curves[cell].seeds for cells in setting.curves.values() for cell in cells.values()]
        self._seeds = functools.reduce(np.intersect1d, seeds) if seeds else np.empty(0)
        if not self._seeds.size:
            raise LookupError("There is no seed that all agents were run with.")

    def cell(self, agent: str, v_p: str, v_r: str) -> str:
        """Return the cell of an agent in a scenario."""
        line = self._layout.line(self._borl if agent == "BORL" else agent)
        panel = self._panels.get((v_p, v_r))
        cell = self._layout.cell(self._setting, panel, line) if line and panel else None
        if cell is None:
            raise LookupError(f"There are no runs of {agent} with V_p = {v_p} and V_r = {v_r}.")
        return cell

    def reward(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the cumulative rewards, by seed."""
        return self.rewards_over_time(agent, v_p, v_r)[:, -1]

    def rewards_over_time(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the cumulative rewards at the checkpoints, one row per seed."""
        curves = self._layout.curves[self.cell(agent, v_p, v_r)]
        return curves.rewards[np.isin(curves.seeds, self._seeds)]

    def regret(self, agent: str, v_p: str, v_r: str) -> NDArray[np.float64]:
        """Return the dynamic regrets, by seed."""
        curves = self._layout.curves[self.cell(agent, v_p, v_r)]
        return np.asarray(curves.regrets[np.isin(curves.seeds, self._seeds), -1])

    def summaries(self, agent: str, v_p: str, v_r: str) -> list[str]:
        """Return the agents' own summaries of the runs, as JSON."""
        return self._layout.results.summaries(self.cell(agent, v_p, v_r))

    def with_learning_master(self) -> ClaimEvidence | None:
        """Return the same evidence with a BORL whose master learns, or None if it was not run everywhere."""
        learning = ClaimEvidence(self._layout, self._setting, LEARNING_MASTER)
        try:
            return learning if all(learning.cell("BORL", *scenario) for scenario in SCENARIOS) else None
        except LookupError:
            return None


def judge_claims(layout: Layout) -> JudgedClaims:
    """Judge the paper's sentences in every setting, if the spec asks for it and the runs are there."""
    if layout.results.manifest["spec"]["report"]["claims"] != "csz20":
        return JudgedClaims()
    try:
        return JudgedClaims({s.id: claims_of(ClaimEvidence(layout, s)) for s in layout.settings})
    except (LookupError, InvalidInputError) as error:
        return JudgedClaims(obstacle=f"The sentences of the paper could not be judged: {error}")


def claims_of(evidence: ClaimEvidence) -> list[Claim]:
    """Return the verdict on every sentence of the Results paragraph."""
    return [check(evidence) for check in CHECKS]


def score(claims: Iterable[Claim]) -> float:
    """Return how many sentences were reproduced; partly counts one half."""
    return sum(POINTS[claim.verdict] for claim in claims)


def _verdict(holds: Sequence[bool]) -> str:
    return "reproduced" if all(holds) else "partly" if any(holds) else "not"


def _name(v_p: str, v_r: str) -> str:
    return f"({'abcd'[2 * (v_p == HIGH) + (v_r == HIGH)]})"


def _gains(evidence: ClaimEvidence, scenarios: Sequence[Scenario]) -> dict[str, Interval]:
    """Return the ratio of rewards of each of the paper's agents to each other one, in each scenario."""
    for other, scenario in itertools.product(OTHER_AGENTS, scenarios):
        if evidence.reward(other, *scenario).mean() <= 0:
            where = _name(*scenario)
            raise LookupError(f"{other} has no positive rewards in {where}, so percentages mean nothing.")
    gains = {}
    for scenario, ours, other in itertools.product(scenarios, PAPER_AGENTS, OTHER_AGENTS):
        mine, theirs = evidence.reward(ours, *scenario), evidence.reward(other, *scenario)
        gains[f"{ours} over {other} in {_name(*scenario)}"] = ratio_interval(mine, theirs)
    return gains


def _estimate(named: tuple[str, Interval]) -> float:
    return float(named[1].estimate)


def _listed(intervals: dict[str, Interval], show: Callable[[Interval], str] = interval_text) -> str:
    return "; ".join(f"{name} {show(interval)}" for name, interval in intervals.items())


def _at_least_20_percent(evidence: ClaimEvidence) -> Claim:
    gains = _gains(evidence, [(LOW, LOW), (LOW, HIGH), (HIGH, HIGH)])
    fails = {name: gain for name, gain in gains.items() if gain.low < 1.2}
    (least, low), (most, high) = min(gains.items(), key=_estimate), max(gains.items(), key=_estimate)
    why = "Every interval lies above 20%."
    if fails:
        why = f"Not above 20% on their whole interval: {_listed(fails, percent_text)}."
    return Claim(
        "SWUCRL2-CW and BORL collect at least 20% more rewards than UCRL2 and UCRL2.S, except in (c).",
        f"{len(gains) - len(fails)} of {len(gains)} gains are above 20% on their whole interval; from "
        f"{percent_text(low)} ({least}) to {percent_text(high)} ({most}).",
        _verdict([name not in fails for name in gains]),
        why if len(fails) <= 4 else f"{len(fails)} gains are not above 20% on their whole interval.",
    )


def _twelve_percent(evidence: ClaimEvidence) -> Claim:
    gains = _gains(evidence, [(HIGH, LOW)])
    least, gain = min(gains.items(), key=_estimate)
    within, more = gain.low <= 1.12 <= gain.high, gain.low > 1.0
    why = {
        (True, True): "12% lies inside the interval of the smallest gain, which lies above 0.",
        (True, False): "12% lies inside the interval, but so does no gain at all.",
        (False, True): "There is a gain, but not of 12%.",
        (False, False): "The smallest gain is neither 12% nor certainly above 0.",
    }
    others = {name: other for name, other in gains.items() if name != least}
    return Claim(
        "In (c), V_p = T^0.5 and V_r = T^0.2, the improvement is 12%.",
        f"The smallest of the four gains there: {least} {percent_text(gain)}. The others: "
        f"{_listed(others, percent_text)}.",
        _verdict([within, more]),
        why[within, more],
    )


def _more_robust_to_transitions(evidence: ClaimEvidence) -> Claim:
    def extra_regret(agent: str) -> Interval:
        return difference_interval(evidence.regret(agent, LOW, HIGH), evidence.regret(agent, HIGH, LOW))

    ours, others = ({agent: extra_regret(agent) for agent in agents} for agents in (PAPER_AGENTS, OTHER_AGENTS))
    holds = [extra.low > 0 for extra in ours.values()]
    why = f"For UCRL2 and UCRL2.S, which have no widening: {_listed(others)}."
    if all(holds) and all(extra.low > 0 for extra in others.values()):
        why += " So it is true of all four: the cause is the problem, not the algorithms."
    return Claim(
        "SWUCRL2-CW and BORL are more robust to variations of the transitions than of the rewards.",
        f"Dynamic regret under fast rewards (b) minus that under fast transitions (c): {_listed(ours)}.",
        _verdict(holds),
        why,
    )


def _differences(ours: ClaimEvidence, agent: str, theirs: ClaimEvidence, other: str) -> dict[str, Interval]:
    """Return one agent's reward minus another's, by scenario."""
    return {
        _name(*scenario): difference_interval(ours.reward(agent, *scenario), theirs.reward(other, *scenario))
        for scenario in SCENARIOS
    }


def _power_of_widening(evidence: ClaimEvidence) -> Claim:
    gains = _differences(evidence, "SWUCRL2-CW", evidence, "Naive window")
    widened, naive = (
        [evidence.rewards_over_time(agent, *scenario) for scenario in SCENARIOS]
        for agent in ("SWUCRL2-CW", "Naive window")
    )
    why = "The widening is the only difference between the two."
    if all(map(np.array_equal, widened, naive)):
        why = (
            "All runs are the same to the last digit: with so few visits every transition radius already allows "
            "every transition, so widening it changes nothing."
        )
    return Claim(
        "This demonstrates the power of the confidence widening technique.",
        f"Reward of SWUCRL2-CW minus that of the same window without widening: {_listed(gains)}.",
        _verdict([gain.low > 0 for gain in gains.values()]),
        why,
    )


def _borl_above(evidence: ClaimEvidence) -> Claim:
    gains = _differences(evidence, "BORL", evidence, "SWUCRL2-CW")
    last = gains.pop("(d)")
    undecided = ", ".join(name for name, gain in gains.items() if gain.low <= 0 <= gain.high)
    why = f"In (d), which the sentence leaves out: {interval_text(last)}."
    return Claim(
        "In (a), (b) and (c) BORL, which does not know the budgets, collects more than SWUCRL2-CW, which does.",
        f"Reward of BORL minus that of SWUCRL2-CW: {_listed(gains)}.",
        _verdict([gain.low > 0 for gain in gains.values()]),
        why + (f" In {undecided} the interval contains 0, so no difference is shown." if undecided else ""),
    )


def _adaptive_master(evidence: ClaimEvidence) -> Claim:
    largest, arms, gamma = _master(evidence)
    uniform = largest <= (1 + 1e-9) / arms
    return Claim(
        "The adaptive master of BORL (EXP3.P) is able to leverage this benign environment for higher rewards.",
        f"The largest probability of any of the {arms} arms in any block of any run: {number(largest)}; uniform "
        f"play has {number(1 / arms)}.{_learning_master(evidence)}",
        "not" if uniform else "partly",
        f"EXP3.P's share of uniform draws is {number(gamma)} by its formula at this T, which is no probability. "
        "Clipped to 1, it makes every arm equally likely, whatever was learned. BORL's rewards are those of "
        "windows drawn at random."
        if uniform
        else "The master moves away from uniform play.",
    )


def _master(evidence: ClaimEvidence) -> tuple[float, int, float]:
    """Return the largest probability of any arm in any run, the number of arms, and gamma by the formula."""
    return max(_read_master(text) for scenario in SCENARIOS for text in evidence.summaries("BORL", *scenario))


@functools.lru_cache(maxsize=1024)  # settings share runs
def _read_master(summary: str) -> tuple[float, int, float]:
    run = read_json(summary, dict)
    return float(np.max(run["probabilities"])), len(run["arms"]), run["formula_gamma"]


def _learning_master(evidence: ClaimEvidence) -> str:
    """Return what a master that learns would change, if one was run."""
    learning = evidence.with_learning_master()
    if learning is None:
        return ""
    changes = _differences(learning, "BORL", evidence, "BORL")
    others = [check for check in CHECKS if check is not _adaptive_master]
    moved = sum(check(learning).verdict != check(evidence).verdict for check in others)
    return (
        f" With a master that learns ({LEARNING_MASTER}; not in the paper) it is "
        f"{number(_master(learning)[0])}, and BORL's reward changes by {_listed(changes)}. Of the other "
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


def _claims_table(claims: Sequence[Claim], setting: Setting) -> Table:
    rows = []
    for claim in claims:
        verdict = TableCell(VERDICTS[claim.verdict], None, claim.verdict)
        rows.append(table_row(claim.sentence, verdict, claim.measured, claim.why))
    caption = "The Results paragraph of the paper, sentence by sentence"
    columns = ["The paper says", "Verdict", "Measured, with 95% intervals over seeds", "Why"]
    return Table(f"claims-{setting.id}", caption, columns, rows, setting.id, note("claims"))


def _scores_table(settings: Sequence[Setting], claims: dict[str, list[Claim]]) -> Table:
    rows = []
    for setting in settings:
        verdicts = [claim.verdict for claim in claims[setting.id]]
        rows.append(table_row(setting.label, *(verdicts.count(verdict) for verdict in VERDICTS)))
    columns = ["Setting", *(word.capitalize() for word in VERDICTS.values())]
    return Table("scores", "Sentences by setting", columns, rows)
