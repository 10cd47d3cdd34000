"""What objects show of themselves: short, escaped, and never an error."""

import time
from collections import deque
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp

import driftmdp as dm
from driftmdp import engines, experiments, inventory, planning, problems, statistics, suite
from driftmdp.display import MOST_ROWS, facts, safely, short, sparkline, table

HOSTILE = "<script>alert('&')</script>"
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Parses strictly: every tag that opens is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def rows(self):
        return sum(tag == "tr" for tag, _ in self.tags)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    spec = experiments.parse_spec("""
        name = "<small>"
        seeds = 5
        problems = [{name = "two-state", label = "<script>", parameters = {horizon = 50}}]
        agents = [{name = "Random", label = "<b>"}, {name = "Oracle"}]
    """)
    experiments.run(spec, folder)
    return experiments.load(folder)


def backtest(n_items=30):
    dates = np.datetime64("2026-01-01") + np.arange(70)
    items = [inventory.Series(f"<{i}>", dates, np.full(70, 4)) for i in range(n_items)]
    return inventory.backtest(inventory.Sales(tuple(items)), problems.Costs(), 20, rules=["driftmdp", "first-60"])


def hostile_mdp():
    space = dm.Space([2, 1], [HOSTILE, "b"], [[HOSTILE, "go"], ["stay"]])
    return dm.Mdp(space, [0.0, 1.0, 2.0], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


def worlds():
    mdp = hostile_mdp()
    big = dm.Mdp(dm.Space.uniform(5000, 3), np.zeros(15000), sp.vstack([sp.eye_array(5000)] * 3))
    moving = dm.DriftingMdp([mdp, mdp], np.linspace([1.0, 0.0], [0.0, 1.0], 30000))
    problem = dm.Problem(moving, name=HOSTILE, description=HOSTILE * 100, parameters={HOSTILE: HOSTILE * 50})
    named = dm.Space([1] * 10, [HOSTILE] * 10)
    return [mdp.space, dm.Space([1, 3]), named, dm.Space.uniform(10**6, 2), mdp, big, moving, problem]


@pytest.fixture(scope="module")
def shown():
    problem = worlds()[-1]
    agents = [dm.agents.UCRL2.for_problem(problem), dm.agents.FixedPolicy(problem.space, [0, 0])]
    run = dm.simulate(agents[1], problem, 1)
    one_step = dm.DriftingMdp.stationary(hostile_mdp(), 1)
    return [*worlds(), *agents, run, one_step, backtest(), problems.list(), problems.describe("perils")]


def test_in_a_notebook_everything_is_small_sound_and_escaped(shown):
    for one in shown:
        start = time.perf_counter()
        text = one._repr_html_()
        assert time.perf_counter() - start < 1.0  # milliseconds, but for a busy machine
        page = Page(text)
        assert 0 < len(text) < 12_000
        assert page.rows <= MOST_ROWS + 2
        assert not {tag for tag, _ in page.tags} & {"script", "b", "img", "link", "style"}
        assert not [attrs for _, attrs in page.tags if "color" in attrs.get("style", "")]


def test_what_is_hostile_is_shown_as_it_is():
    page = Page(hostile_mdp()._repr_html_())
    assert HOSTILE in page.words
    assert f"{HOSTILE}: 0.5, b: 0.5" in page.words


def test_results_show_their_regrets(results):
    page = Page(results._repr_html_())
    assert page.words[:2] == ["Results of <small>", "problem"]
    assert {"<script>", "<b>", "mean regret", "95% interval"} <= set(page.words)
    means = results.runs.groupby("agent")["regret"].mean()
    assert f"{means['<b>']:.4g}" in page.words
    assert repr(results).startswith("<Results of '<small>' in ")


def test_results_of_very_many_runs_show_their_size_only(results, monkeypatch):
    monkeypatch.setattr("driftmdp.experiments.results.NOTEBOOK_MAX_RUNS", 1)
    assert "mean regret" not in results._repr_html_()


def test_one_that_cannot_be_drawn_shows_its_line():
    def broken(self):
        raise ZeroDivisionError

    assert safely(broken)(None) is None


def test_a_long_table_says_how_much_is_left_out():
    page = Page(table(["n"], [[k] for k in range(100)], left_out=1000))
    assert page.words[-1] == "and 1,080 more"
    assert Page(table(["n"], [])).rows == 1
    assert "none" not in facts("x", none=None)


def test_a_line_keeps_its_peaks():
    quick = np.zeros(100_000)
    quick[77_777] = 5.0
    text = sparkline(quick, HOSTILE)
    assert len(text) < 3_000
    assert ",2.0" in text  # the top of the picture
    assert Page(text).words == [HOSTILE]
    assert sparkline([np.nan, 1.0], "x") == sparkline([], "x") == ""
    assert "polyline" in sparkline([3.0, 3.0, np.inf], "flat")
    assert 'points="1.0,2.0 120.0,34.0 239.0,18.0"' in sparkline([1e308, -1e308, 0.0], "huge")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1.0, 2.5]), "[1, 2.5]"),
        (np.zeros((0, 3)), "<array of shape (0, 3)>"),
        (np.array([["a"]]), "<array of shape (1, 1)>"),
        ((1,), "(1,)"),
        ({"a": 1.0}, "{'a': 1}"),
        ("x" * 100, repr("x" * 80) + "..."),
        (None, "None"),
        (set(range(10**5)), "{0, 1, 2, ... 100000 in all}"),
        (frozenset([1]), "frozenset({1})"),
        (set(), "set()"),
        (b"x" * 10**6, repr(b"x" * 80) + "..."),
        (range(3), "range(0, 3)"),
    ],
)
def test_short_words(value, text):
    assert short(value) == text


def test_whatever_it_is_it_is_cut_and_in_a_problem_too():
    assert len(short(deque(range(10**5)))) < 1000
    stationary = dm.DriftingMdp.stationary(hostile_mdp(), 10)
    problem = dm.Problem(stationary, reward_range=(0, 2), parameters={"prices": list(range(500))})
    assert "prices=[0, 1, 2, ... 500 in all]" in problem._repr_html_()


def lines(results, shown):
    rng = np.random.default_rng(0)
    problem = dm.problems.two_state(horizon=3000)
    garnet = dm.problems.garnet(n_states=100, horizon=50)
    agent = dm.agents.UCRL2.for_problem(garnet)
    agent.act(0)
    tested = shown[-3]
    return [
        *shown,
        problem,
        problem.drifting.weights,
        problem.draw_noise(rng),
        problem.drifting.variation(),
        planning.gain_path(garnet.drifting),
        planning.optimal_gain(garnet.drifting.at(1)),
        planning.plan_finite_horizon(garnet.drifting),
        agent,
        agent.beliefs(),
        statistics.mean_interval(rng.random((5, 500))),
        results,
        *results.curves_by_cell().values(),
        suite.packaged_suite(),
        *suite.packaged_suite().tasks(quick=True)[:1],
        tested,
        tested.trace("<0>"),
        tested.series[0],
        inventory.Sales(tested.series),
        engines.make("threads", 2),
        engines.make("processes", 2),
    ]


def test_every_line_is_short_and_says_something(results, shown):
    for one in lines(results, shown):
        line = repr(one)
        assert " object at 0x" not in line
        assert len(line) < 2000, line
        assert line.count("\n") < 30  # the longest lists all problems, also those that other tests registered


def test_a_shop_says_where_it_is_also_when_closed(tmp_path):
    with inventory.Shop.create(tmp_path / "shop.db", problems.Costs(), capacity=20) as shop:
        open_line = repr(shop)
    assert repr(shop) == open_line
    assert "shop.db" in open_line
