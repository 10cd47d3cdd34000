"""The leaderboard of the suite in Chromium: its filters compute what Python computes."""

import json

import pytest

from driftmdp.report.page import write_page
from driftmdp.suite.page import leaderboard_report
from driftmdp.suite.standings import groups, mean_ranks, standings
from tests.suite.boards import HOSTILE, made_board

CHOICES = [{"noise": "noisy"}, {"group": "queue", "horizon": "4000"}, {"noise": "exact", "drift": "stationary"}]
ROWS = """
[...document.querySelectorAll('#table-%s tbody tr')].filter(row => !row.hidden).map(row => [row.dataset.key,
  ...[...row.children].slice(1).map(cell => cell.dataset.value ? Number(cell.dataset.value) : cell.textContent)])
"""
LEAST = "document.querySelector('#table-standing-reported [data-kind=least]').parentNode.dataset.key"


@pytest.fixture(scope="module")
def board():
    return made_board()


@pytest.fixture(scope="module")
def path(board, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("leaderboard"), *leaderboard_report(board))[0]


def choose(page, wanted):
    page.evaluate(
        f"for (const [name, value] of Object.entries({json.dumps(wanted)})) {{"
        "const select = document.querySelector(`#filters [name=${name}]`); select.value = value;"
        "select.dispatchEvent(new Event('change', {bubbles: true})); }"
    )


def fits(wanted):
    def among(contest):
        facts = {
            "group": contest.group,
            "noise": "noisy" if contest.noisy else "exact",
            "drift": "stationary" if contest.stationary else "drifting",
            "horizon": str(contest.horizon),
        }
        return all(facts[name] == value for name, value in wanted.items())

    return among


@pytest.mark.parametrize("wanted", CHOICES)
def test_a_choice_computes_what_python_computes(tab, path, board, wanted):
    page = tab.open(path)
    whole = page.evaluate(ROWS % "standing-reported"), page.evaluate(ROWS % "ranks")
    choose(page, wanted)
    found = standings(board, among=fits(wanted))
    shown = page.evaluate(ROWS % "standing-reported")
    assert [row[0] for row in shown] == [f"agent:{one.agent}" for one in found]
    for row, one in zip(shown, found, strict=True):
        assert row[2] == pytest.approx(one.median.estimate, rel=1e-12)
        assert row[5:] == [pytest.approx(one.worst), one.worst_on, one.n]
        if one.mean_rank is not None:
            assert row[3:5] == pytest.approx([one.wins / one.n, one.mean_rank])
    tuned = {one.agent for one in standings(board, "tuning", fits(wanted))}
    assert {row[0] for row in page.evaluate(ROWS % "standing-tuning")} == {f"agent:{agent}" for agent in tuned}
    assert page.evaluate(LEAST) == next(f"agent:{one.agent}" for one in found if one.everywhere)
    chosen = [c for c in board.family("reported") if fits(wanted)(c)]
    ranks = page.evaluate(ROWS % "ranks")
    assert [row[0] for row in ranks] == ["group:", *(f"group:{group}" for group in groups(chosen))]
    for row, these in zip(ranks, [chosen, *groups(chosen).values()], strict=True):
        means = mean_ranks(board.rivals, these)
        assert row[1:] == [len(these), *(pytest.approx(means[a]) if a in means else "–" for a in board.rivals)]  # noqa: RUF001
    assert [row[0] for row in page.evaluate(ROWS % "map")] == [f"contest:{c.slug}" for c in chosen]
    assert f"{len(chosen)} of 18 " in page.evaluate("document.getElementById('shown').value")
    page.click("#filters button")
    page.wait("!document.body.classList.contains('filtered')")
    assert (page.evaluate(ROWS % "standing-reported"), page.evaluate(ROWS % "ranks")) == whole


def test_the_address_and_the_keyboard_choose_too(tab, path):
    page = tab.open(path, "#noise=noisy&horizon=1000&group=nonsense")
    assert len(page.evaluate(ROWS % "map")) == 3
    page.evaluate("document.querySelector('#filters [name=drift]').focus()")
    page.press("ArrowDown", "ArrowDown")
    page.wait("location.hash.includes('drift=stationary')")
    assert page.evaluate("document.getElementById('shown').value") == "No problem fits. Choose less."
    assert page.evaluate("getComputedStyle(document.getElementById('table-map')).display") == "none"


def test_the_page_is_whole_without_scripts_and_fits_a_phone(tab, path, board):
    tab.viewport(390, 844, mobile=True)
    page = tab.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("window.hacked === undefined")
    assert HOSTILE in page.evaluate("document.querySelector('#table-standing-reported').textContent")
    tab.open(path, scripts=False)
    assert page.evaluate("document.getElementById('filters').hidden")
    assert page.evaluate("document.querySelectorAll('tr[hidden]').length") == 0
    assert len(page.evaluate(ROWS % "map")) == len(board.family("reported"))
