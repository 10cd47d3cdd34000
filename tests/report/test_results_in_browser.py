"""A page made of stored results, in Chromium: its numbers are the store's, and no name in it ever runs."""

import pytest

from driftmdp.experiments import load
from driftmdp.report import write_report
from tests.experiments.specs import SMALL
from tests.report.stores import HOSTILE, made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("browser") / "r", SMALL)
    write_report(folder)
    return folder


def test_the_numbers_in_the_page_equal_the_store(tab, folder):
    page = tab.open(folder / "report" / "index.html")
    results = load(folder)
    cells = results.curves_by_cell()
    of = {(row["problem"], row["agent"]): row["cell"] for row in results.cells.to_dict("records")}
    for metric in ("reward", "regret"):
        page.evaluate(f"document.querySelector('input[value={metric}]').click()")
        for p, problem in enumerate(("V_r = T^0.2", "V_r = T^0.5")):
            for a, agent in enumerate(("SWUCRL2-CW (scale=1)", "SWUCRL2-CW (scale=0.1)", "BORL", "Random")):
                stored = cells[of[problem, agent]]
                values = stored.rewards if metric == "reward" else stored.regrets
                for k in (0, 5, -1):
                    shown = page.evaluate(f"driftmdp.valueAt('p{p}', 'a{a}', {stored.t[k]})")
                    shown = shown["mean"] if isinstance(shown, dict) else shown
                    assert shown == pytest.approx(values[:, k].mean(), rel=1e-6, abs=1e-6)
    shown = page.evaluate(
        "[...document.querySelectorAll('#table-outcomes-s0 tbody tr')].map(row => "
        "[...row.children].map(cell => cell.dataset.value ? Number(cell.dataset.value) : cell.textContent.trim()))"
    )
    means = results.runs.groupby(["problem", "agent"])[["reward", "regret"]].mean()
    assert len(shown) == 8
    for problem, agent, reward, _, regret, _ in shown:
        assert [reward, regret] == pytest.approx(means.loc[(problem, agent)].tolist(), rel=1e-12)


def test_names_of_a_spec_are_shown_and_never_run(tab, tmp_path):
    folder = made(tmp_path / "r", HOSTILE)
    page = tab.open(write_report(folder).page)
    assert page.evaluate("window.hacked === undefined")
    text = page.evaluate("document.body.textContent")
    for name in ("<script>window.hacked=1</script>", "{{7*7}} & \"quotes\" 'too'", "</table>", "$x$ <b> $\\frac{"):
        assert name in text
    assert page.evaluate("document.title").startswith("<img src=x")
