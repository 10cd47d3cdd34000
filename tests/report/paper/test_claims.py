"""The verdicts on the paper's sentences, tested on numbers that hold, that fail and that are undecided."""

import json
from importlib import resources

import numpy as np
import pytest

from driftmdp.experiments import load, parse_spec, run
from driftmdp.report.paper.claims import VERDICTS, Claim, claims_of, score
from tests.report.stores import built_blank

SCENARIOS = [("T^0.2", "T^0.2"), ("T^0.2", "T^0.5"), ("T^0.5", "T^0.2"), ("T^0.5", "T^0.5")]
BASE = {"SWUCRL2-CW": 1300.0, "BORL": 1500.0, "UCRL2": 1000.0, "UCRL2.S": 1000.0, "Naive window": 1000.0}


class Made:
    """Evidence with given mean rewards, some noise, and regrets 7000 less rewards."""

    def __init__(self, noise=5.0, uniform=True, learning=None, **changes):
        self.rng = np.random.default_rng(3)
        self.noise, self.uniform, self.learning, self.changes = noise, uniform, learning, changes
        self.kept = {}

    def reward(self, agent, v_p, v_r):
        key = agent, v_p, v_r
        if key not in self.kept:
            mean = BASE[agent]
            if (v_p, v_r) == ("T^0.5", "T^0.2") and agent in {"SWUCRL2-CW", "BORL"}:
                mean = {"SWUCRL2-CW": 1120.0, "BORL": 1150.0}[agent]
            if v_r == "T^0.5" and agent in {"SWUCRL2-CW", "BORL"}:
                mean -= 60
            mean += self.changes.get(f"{agent}{v_p}{v_r}", 0.0)
            self.kept[key] = mean + self.noise * self.rng.normal(size=50)
        return self.kept[key]

    def rewards_over_time(self, agent, v_p, v_r):
        return self.reward(agent, v_p, v_r)[:, None]

    def regret(self, agent, v_p, v_r):
        best = 7000.0 + 300.0 * (v_r == "T^0.5")
        return best - self.reward(agent, v_p, v_r)

    def summaries(self, agent, v_p, v_r):
        share = 1 / 4 if self.uniform else 1 / 2
        probabilities = [[share, share, (1 - 2 * share) / 2, (1 - 2 * share) / 2]]
        return [json.dumps({"probabilities": probabilities, "arms": [[1]] * 4, "formula_gamma": 3.5})]

    def with_learning_master(self):
        return self.learning


def verdicts(**changes):
    return [claim.verdict for claim in claims_of(Made(**changes))]


def test_numbers_as_the_paper_says_reproduce_it():
    assert verdicts()[:5] == ["reproduced"] * 5


@pytest.mark.parametrize(
    ("number", "changes", "verdict"),
    [
        (0, {"BORLT^0.2T^0.2": -400.0}, "partly"),
        (0, {"UCRL2T^0.2T^0.2": 900.0, "UCRL2T^0.2T^0.5": 900.0, "UCRL2T^0.5T^0.5": 900.0}, "partly"),
        (1, {"SWUCRL2-CWT^0.5T^0.2": 200.0, "BORLT^0.5T^0.2": 200.0}, "partly"),
        (1, {"SWUCRL2-CWT^0.5T^0.2": -200.0}, "not"),
        (2, {"BORLT^0.5T^0.2": -2000.0}, "partly"),
        (2, {"BORLT^0.5T^0.2": -2000.0, "SWUCRL2-CWT^0.5T^0.2": -2000.0}, "not"),
        (4, {"BORLT^0.2T^0.2": -300.0}, "partly"),
        (4, {"noise": 3000.0}, "not"),
        (5, {}, "not"),
        (5, {"uniform": False}, "partly"),
    ],
)
def test_a_sentence_that_does_not_hold_is_not_reproduced(number, changes, verdict):
    assert verdicts(**changes)[number] == verdict


def test_noise_is_not_taken_for_a_gain():
    assert "reproduced" not in verdicts(noise=2_000.0)


def test_every_claim_says_what_was_measured_and_why():
    for claim in claims_of(Made()):
        assert claim.sentence.endswith(".")
        assert any(digit.isdigit() for digit in claim.measured)
        assert claim.why


def test_what_a_master_that_learns_would_change_is_said_beside_the_sentence():
    same = claims_of(Made(noise=0.0, learning=Made(noise=0.0, uniform=False)))[5]
    assert same.verdict == "not"
    assert "With a master that learns (Bounded BORL; not in the paper) it is 0.5, and BORL's" in same.measured
    assert "changes by (a) 0 [0, 0]; (b) 0 [0, 0]; (c) 0 [0, 0]; (d) 0 [0, 0]. Of" in same.measured
    assert same.measured.endswith("Of the other sentences' verdicts none would change.")
    worse = Made(uniform=False, **{f"BORL{v_p}{v_r}": -2000.0 for v_p, v_r in SCENARIOS})
    moved = claims_of(Made(learning=worse))[5]
    assert "(a) -2,000" in moved.measured
    assert moved.measured.endswith("verdicts 3 would change.")


def test_without_such_runs_nothing_is_said_of_a_master_that_learns():
    assert "learns" not in claims_of(Made())[5].measured


def test_scores():
    made = [Claim("", "", verdict, "") for verdict in ("reproduced", "partly", "not")]
    assert score(made) == 1.5


def shortened(horizon, seeds):
    """Return the paper's spec, shorter, with few seeds and few points."""
    text = resources.files("driftmdp.experiments").joinpath("paper.toml").read_text()
    for old, new in {"horizon = 5000": f"horizon = {horizon}", "points = 400": "points = 10"}.items():
        assert old in text
        text = text.replace(old, new)
    return text.replace("seeds = 50", f"seeds = {seeds}")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    text = shortened(horizon=600, seeds=5)
    folder = tmp_path_factory.mktemp("paper") / "r"
    run(parse_spec(text), folder)
    return built_blank(load(folder))


def test_the_paper_s_spec_covers_both_readings_and_the_three_constants(paper):
    labels = {setting.label for setting in paper.report.settings}
    readings = "rewards as they are", "rewards mapped to [0, 1]"
    constants = "B_r = V_r, B_p = V_p", "B_r = 15 V_r, B_p = 12 V_p as printed", "exact B_r, B_p"
    assert labels == {f"{reading}; {constant}" for reading in readings for constant in constants}
    assert [line.label for line in paper.report.lines] == [*BASE, "Random", "Oracle", "Bounded BORL"]
    assert len(paper.report.panels) == 4


def test_the_headline_is_the_setting_that_reproduces_most(paper):
    (section,) = [section for section in paper.report.sections if section.id == "claims"]
    scores = section.tables[-1]
    points = [row[1].value + 0.5 * row[2].value for row in scores.rows]
    assert points == sorted(points, reverse=True)
    assert [row[0].text for row in scores.rows] == [setting.label for setting in paper.report.settings]
    assert score(paper.claims) == points[0]
    assert any(
        f"Shown first is “{paper.report.settings[0].label}”" in text for text in paper.report.lead.paragraphs
    )
    assert any("SWUCRL2-CW and Naive window did exactly the same" in text for text in paper.report.lead.paragraphs)
    assert len(section.tables) == 6 + 1
    assert section.tables[0].columns[:2] == ["The paper says", "Verdict"]
    for row, claim in zip(section.tables[0].rows, paper.claims, strict=True):
        assert [cell.text for cell in row] == [claim.sentence, VERDICTS[claim.verdict], claim.measured, claim.why]


def test_the_paper_s_spec_has_a_master_that_learns_beside_it(paper):
    assert "With a master that learns (Bounded BORL" in paper.claims[5].measured
    (arms,) = [section for section in paper.report.sections if section.id == "arms"]
    uniform, learning = (figure.caption for figure in arms.figures)
    assert "is clipped to 1: all arms are equally likely" in uniform
    assert learning.endswith("is clipped to 0.5.")


def test_missing_runs_are_said_instead_of_judged(tmp_path):
    text = shortened(horizon=60, seeds=2)
    text = text.replace('label = "Naive window"', 'label = "Other"')
    run(parse_spec(text), tmp_path / "r")
    (section,) = [
        section for section in built_blank(load(tmp_path / "r")).report.sections if section.id == "claims"
    ]
    assert "There are no runs of Naive window" in section.paragraphs[0]


def test_claims_compare_the_seeds_that_all_runs_have(tmp_path):
    """A missing run costs a seed, not the page; and seeds are never compared with others."""
    run(parse_spec(shortened(horizon=300, seeds=[0, 1, 2, 3])), tmp_path / "r")
    whole = built_blank(load(tmp_path / "r")).claims[3]
    assert whole.why.startswith("All runs are the same")
    other = shortened(horizon=300, seeds=[1, 2, 3, 4])
    start, end = other.index("[[agents]]"), other.index("[[agents]] # does not")
    run(parse_spec(other[:start] + other[end:]), tmp_path / "r")  # all but SWUCRL2-CW have seed 4 too
    run_manifest(tmp_path / "r", shortened(horizon=300, seeds=[0, 1, 2, 3, 4]))
    built = built_blank(load(tmp_path / "r"))
    assert built.claims[3].why == whole.why
    assert any("24 runs that the spec asks for are missing" in text for text in built.report.lead.paragraphs)


def run_manifest(folder, text):
    from driftmdp.experiments import plan
    from driftmdp.experiments.runner import manifest_of
    from driftmdp.experiments.store import Store

    Store(folder).write_manifest(manifest_of(plan(parse_spec(text))))


def test_percentages_of_what_is_not_positive_are_not_judged():
    changes = {f"UCRL2{v_p}{v_r}": -5000.0 for v_p, v_r in SCENARIOS}
    with pytest.raises(LookupError, match="percentages mean nothing"):
        claims_of(Made(**changes))
