"""The page: what it holds, without a browser; and what a reader meets, in Chromium."""

import json
import math
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from driftmdp.report.charts import DARK_COLOURS, DASHES, LIGHT_COLOURS, line_style, panel_spec
from driftmdp.report.content import Band
from driftmdp.report.page import chart_data, render
from tests.report import examples
from tests.report.browser import BrowserError

REPORT = examples.report(points=40)
FULL = examples.report(points=400)
FIRST = REPORT.panels[0].id
VOID = {"meta", "img", "input", "br", "link"}


@pytest.fixture(scope="module")
def html():
    return render(REPORT)


@pytest.fixture(scope="module")
def file(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def page(tab, file):
    return tab.open(file)


def write(tmp_path, report):
    path = tmp_path / "page.html"
    path.write_text(render(report), encoding="utf-8")
    return path


class Elements(HTMLParser):
    """The elements of a page, the texts of its scripts, and whether they are well nested."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.texts = [], [], {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            self.texts.setdefault(self.elements[-1][1].get("id"), []).append(data)


def embedded(html):
    return json.loads("".join(Elements(html).texts["data"]))


# ---- What the page holds ----


def test_the_numbers_parse_back_equal(html):
    found = embedded(html)
    assert found == chart_data(REPORT)
    assert found["curves"] == {key: asdict(curve) for key, curve in REPORT.curves.items()}


@pytest.mark.parametrize("report", [REPORT, examples.hostile()], ids=["usual", "hostile"])
def test_the_page_is_well_formed_and_loads_nothing(report):
    page = Elements(render(report))
    assert page.open == []
    assert sum(tag == "script" for tag, _ in page.elements) == 5
    for tag, attributes in page.elements:
        assert not {name for name in attributes if name.startswith("on")}
        assert tag not in ("link", "iframe", "object", "embed", "base")
        for name in ("src", "href", "srcset", "action", "data"):
            assert attributes.get(name, "#").startswith(("#", "data:image/svg+xml;base64,"))
    assert "url(" not in "".join(page.texts[None][:1])
    assert "sourceMappingURL" not in render(report)


def test_ids_are_unique(html):
    ids = [attributes["id"] for _, attributes in Elements(html).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_policy_admits_no_request_and_only_its_own_scripts(html):
    policies = [attributes for tag, attributes in Elements(html).elements if attributes.get("http-equiv")]
    (policy,) = (attributes["content"] for attributes in policies)
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == 4
    script = re.search(r"script-src ([^;]*);", policy)[1]
    assert "unsafe" not in script


def test_names_are_text(html):
    page = render(examples.hostile())
    for name in examples.HOSTILE[:3]:
        assert name not in page
    assert "{{ 7 * 7 }}" in page  # not 49
    assert "\u2028" not in "".join(Elements(page).texts["data"])
    assert embedded(page)["lines"][0]["label"] == examples.HOSTILE[0]


def test_numbers_that_are_not_finite_are_null():
    report = examples.report(points=3)
    key, curve = next(iter(report.curves.items()))
    strange = replace(curve, reward=Band([math.nan, math.inf, 1.0], [None] * 3, [None] * 3))
    found = embedded(render(replace(report, curves=report.curves | {key: strange})))
    assert found["curves"][key]["reward"]["mean"] == [None, None, 1.0]


def test_table_cells_carry_their_numbers_and_marks(html):
    cells = [attributes for tag, attributes in Elements(html).elements if tag in ("td", "th")]
    expected = [
        cell
        for section in [REPORT.lead, *REPORT.sections]
        for table in section.tables
        for row in table.rows
        for cell in row
    ]
    found = [float(cell["data-value"]) for cell in cells if "data-value" in cell]
    assert found == [cell.value for cell in expected if cell.value is not None]
    assert [cell["data-kind"] for cell in cells if "data-kind" in cell] == [
        cell.kind for cell in expected if cell.kind
    ]
    assert {cell["scope"] for cell in cells if "scope" in cell} == {"row", "col"}
    for sign in "\u2605\u2713\u25d0\u2717":
        assert sign in html


def test_without_panels_there_are_no_scripts():
    page = Elements(render(replace(REPORT, panels=[])))
    assert "script" not in {tag for tag, _ in page.elements}


def test_lines_differ_by_colour_and_dash():
    styles = [line_style(index) for index in range(64)]
    assert len({(colour, tuple(dashes)) for colour, dashes in styles}) == 64
    for group in (styles[:8], styles[8:16]):
        assert len({colour for colour, _ in group}) == len({tuple(dashes) for _, dashes in group}) == 8
    assert len(LIGHT_COLOURS) == len(DARK_COLOURS) == len(DASHES)


@pytest.mark.parametrize(("colours", "ground"), [(LIGHT_COLOURS, "#ffffff"), (DARK_COLOURS, "#1b1e22")])
def test_lines_stand_out_from_their_ground(colours, ground):
    assert min(contrast(rgb(colour), rgb(ground)) for colour in colours) >= 3


def test_specifications_name_no_address():
    assert "://" not in json.dumps(panel_spec(["a"], "log", "log"))


@pytest.mark.parametrize("name", ["vega", "vega-lite", "vega-interpreter"])
def test_scripts_of_others_keep_their_licence(html, name):
    licence = files("driftmdp.report").joinpath(f"vendor/{name}.LICENSE").read_text()
    assert licence in html


# ---- What a reader meets ----


def drawn(page, panel=FIRST):
    """Return the lines that a panel draws: in its data, and as paths on the screen."""
    lines = page.evaluate(f"[...new Set(driftmdp.view('{panel}').data('lines').map((row) => row.line))]")
    paths = page.evaluate(
        f"[...driftmdp.view('{panel}').container().querySelectorAll('.mark-line path')]"
        ".filter((path) => path.getTotalLength() > 0).length"
    )
    assert len(lines) == paths
    return lines


def drawn_means(page, line="line-0", panel=FIRST):
    return page.evaluate(
        f"driftmdp.view('{panel}').data('lines').filter((row) => row.line === '{line}').map((row) => row.mean)"
    )


def curve_of(setting, panel, line, report=REPORT):
    return report.curves[report.settings[setting].curves[panel][line]]


def test_it_opens(tab, tmp_path):
    page = tab.open(write(tmp_path, FULL))
    assert page.evaluate("document.title") == REPORT.title
    assert drawn(page) == [line.id for line in REPORT.lines]
    assert page.evaluate("document.getElementById('interactive').hidden") is False
    page.evaluate("driftmdp.drawAll()")
    assert page.evaluate("document.querySelectorAll('.canvas svg').length") == len(REPORT.panels)


def test_numbers_at_every_checkpoint_are_the_reports(tab, tmp_path):
    page = tab.open(write(tmp_path, FULL))
    for setting, chosen in enumerate(REPORT.settings):
        page.evaluate(f"location.hash = 'setting={chosen.id}&metric=regret'")
        page.wait(f"driftmdp.state.setting === '{chosen.id}' && driftmdp.state.metric === 'regret'")
        for panel in REPORT.panels:
            for line in REPORT.lines:
                curve = curve_of(setting, panel.id, line.id, FULL)
                found = page.evaluate(f"{curve.t}.map((t) => driftmdp.valueAt('{panel.id}', '{line.id}', t))")
                assert [value["mean"] for value in found] == curve.regret.mean
                assert [value["low"] for value in found] == curve.regret.low
                assert [value["high"] for value in found] == curve.regret.high
    assert page.evaluate(f"driftmdp.valueAt('{FIRST}', 'line-0', 13.5)") is None


def test_agents_come_and_go(page):
    page.click("input[value=line-2]")
    assert "line-2" not in drawn(page)
    assert len(drawn(page)) == len(REPORT.lines) - 1
    page.click("button[name=none]")
    assert page.evaluate("document.querySelector('.empty').textContent") == "No agent is chosen."
    page.point(".plot")
    page.click("button[name=all]")
    assert len(drawn(page)) == len(REPORT.lines)


def test_reward_and_regret_and_scales(page):
    curve = curve_of(0, FIRST, "line-0")
    assert drawn_means(page) == curve.reward.mean
    page.click("input[value=regret]")
    assert drawn_means(page) == curve.regret.mean
    assert "dynamic regret" in page.evaluate("document.querySelector('.what').textContent")
    page.click("input[name=scale][value=log]")
    page.click("input[name=time][value=log]")
    assert page.evaluate(f"['x', 'y'].map((name) => driftmdp.view('{FIRST}').scale(name).type)") == ["log", "log"]


def test_a_log_scale_leaves_out_what_it_cannot_show_and_says_so(tab, tmp_path):
    report = examples.report(agents=["A"], points=5)
    curves = {
        key: replace(curve, regret=Band([-1.0, 0.0, 2.0, 1e-12, 4.0], [-2.0] * 5, [5.0] * 5))
        for key, curve in report.curves.items()
    }
    tab.open(write(tmp_path, replace(report, curves=curves)), "#metric=regret&scale=log")
    note = tab.evaluate("document.querySelector('.panel .note').textContent")
    assert note == "Not drawn on a log scale: 3 points near or below 0."
    assert tab.evaluate(f"driftmdp.view('{FIRST}').data('points').map((row) => row.mean)") == [2.0, 4.0]
    assert tab.evaluate(f"driftmdp.view('{FIRST}').data('bands').map((row) => row.low)") == [2.0] * 5
    assert tab.evaluate("driftmdp.valueAt('problem-0', 'line-0', 1000).mean") == -1.0


def test_settings_change_curves_and_tables(page):
    every = "[...document.querySelectorAll('[data-setting]')]"
    seen = f"{every}.filter((one) => one.checkVisibility()).map((one) => one.id)"
    assert page.evaluate(seen) == ["table-final-setting-0"]
    page.evaluate("document.querySelector('select').focus()")
    page.press("ArrowDown")
    assert page.evaluate("driftmdp.state.setting") == "setting-1"
    assert page.evaluate(seen) == ["table-final-setting-1", "figure-arms"]
    assert drawn_means(page) == curve_of(1, FIRST, "line-0").reward.mean


def test_an_address_restores_a_view(browser, page, file):
    for selector in ("input[value=regret]", "input[name=scale][value=log]", "input[value=line-1]"):
        page.click(selector)
    fragment = page.evaluate("location.hash")
    assert fragment
    with browser.page() as other:
        other.open(file, fragment)
        state = other.evaluate("driftmdp.state")
        assert state == page.evaluate("driftmdp.state")
        assert (state["metric"], state["scale"], state["hidden"]) == ("regret", "log", ["line-1"])
        assert drawn(other) == drawn(page)
        assert other.evaluate("document.querySelector('input[value=regret]').checked") is True


def test_a_jump_to_a_place_keeps_the_view(page):
    page.click("input[value=regret]")
    page.evaluate("document.querySelector('nav a[href=\"#section-drift\"]').click()")
    page.wait("location.hash === '#metric=regret'")
    assert page.evaluate("driftmdp.state.metric") == "regret"


def test_a_wrong_address_is_harmless(tab, file):
    tab.open(file, "#charts")
    for fragment in ("metric=wrong&hide=nobody&setting=", "%%%=&=", "metric"):
        tab.evaluate(f"location.hash = '{fragment}'; new Promise(requestAnimationFrame)")
        assert tab.evaluate("driftmdp.state.metric") == "reward"
    assert len(drawn(tab)) == len(REPORT.lines)


def test_by_keyboard_alone(page):
    def tab_to(condition):
        for _ in range(60):
            page.press("Tab")
            if page.evaluate(f"document.activeElement.matches({json.dumps(condition)})"):
                return
        raise AssertionError(f"Tab does not reach {condition}")

    tab_to(".scroll")
    tab_to("input[name=metric]")
    page.press("ArrowRight")
    assert page.evaluate("driftmdp.state.metric") == "regret"
    tab_to("input[value=line-1]")
    page.press(" ")
    assert "line-1" not in drawn(page)
    tab_to(".plot")
    page.press("End")
    spoken = page.evaluate("document.getElementById('spoken').textContent")
    assert spoken.startswith("t = 5,000: ")
    assert "UCRL2.S" in spoken
    assert "BORL" not in spoken
    page.press("ArrowLeft")
    assert page.evaluate("document.getElementById('spoken').textContent") != spoken
    page.press("Escape")
    assert page.evaluate("document.querySelector('.readout').hidden") is True


def test_pointing_shows_every_line_at_a_checkpoint(page):
    page.point(".plot", 0.6, 0.5)
    page.wait("!document.querySelector('.readout').hidden")
    title, *rows = page.evaluate(
        "[...document.querySelectorAll('.readout p, .readout tr')].map((one) => one.innerText)"
    )
    t = int(title.removeprefix("t = ").replace(",", ""))
    assert t in curve_of(0, FIRST, "line-0").t
    assert len(rows) == len(REPORT.lines)
    expected = page.evaluate(f"driftmdp.valueAt('{FIRST}', 'line-0', {t})")
    (row,) = (row.split("\t") for row in rows if "SWUCRL2-CW" in row)
    assert float(row[2].replace(",", "")) == pytest.approx(expected["mean"], abs=0.5)
    assert page.evaluate("document.querySelectorAll('.cursor circle').length") == len(REPORT.lines)


@pytest.mark.parametrize("report", [REPORT, examples.hostile()], ids=["usual", "hostile"])
def test_a_phone_never_scrolls_sideways(tab, tmp_path, report):
    tab.viewport(360, 700, mobile=True)
    tab.open(write(tmp_path, report))
    tab.evaluate("driftmdp.drawAll()")
    tab.point(".plot", 0.4, 0.5)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.evaluate("getComputedStyle(document.getElementById('panels')).gridTemplateColumns").count("px") == 1


def test_on_a_desk_there_are_two_columns(page):
    assert page.evaluate("getComputedStyle(document.getElementById('panels')).gridTemplateColumns").count("px") == 2


COLOURS = """[...document.querySelectorAll('body *')].filter((element) => {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  return own && element.checkVisibility() && !element.closest('.unseen, .skip, svg, script, style, option');
}).map((element) => {
  let ground = element;
  while (ground && getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
  const colours = [getComputedStyle(element).color, getComputedStyle(ground || document.body).backgroundColor];
  return [element.textContent, ...colours];
})"""
LABELS = "[...document.querySelectorAll('.canvas text')].map((one) => getComputedStyle(one).fill)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_the_light_and_in_the_dark(tab, file, scheme):
    tab.prefer(color_scheme=scheme)
    tab.open(file)
    pairs = tab.evaluate(COLOURS)
    assert len(pairs) > 60
    for text, colour, ground in pairs:
        assert contrast(rgb(colour), rgb(ground)) >= 4.5, (text, colour, ground)
    card = tab.evaluate("getComputedStyle(document.querySelector('.panel')).backgroundColor")
    labels = tab.evaluate(LABELS)
    assert labels
    assert min(contrast(rgb(label), rgb(card)) for label in labels) >= 4.5


def test_charts_turn_dark_with_the_page(page):
    stroke = "getComputedStyle(document.querySelector('.canvas .mark-line path')).stroke"
    light = page.evaluate(stroke), page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.prefer(color_scheme="dark")
    dark = page.evaluate(stroke), page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (rgb(light[0]), rgb(dark[0])) == (rgb(LIGHT_COLOURS[0]), rgb(DARK_COLOURS[0]))
    assert light[1] != dark[1]


def test_motion_is_reduced_when_asked(page):
    page.prefer(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_without_scripts_the_still_figure_and_all_tables_show(tab, file):
    tab.open(file, scripts=False)
    still = "document.querySelector('#figure-static img')"
    tab.wait(f"{still}.complete")
    assert tab.evaluate(f"{still}.checkVisibility() && {still}.naturalWidth > 0") is True
    assert tab.evaluate("document.getElementById('controls').checkVisibility()") is False
    assert (
        tab.evaluate("[...document.querySelectorAll('[data-setting]')].every((one) => one.checkVisibility())")
        is True
    )


def test_hostile_names_are_shown_and_never_run(tab, tmp_path):
    tab.open(write(tmp_path, examples.hostile()))
    tab.evaluate("driftmdp.drawAll()")
    for fragment in ("input[value=regret]", "input[value=line-0]", "input[value=line-0]"):
        tab.click(fragment)
    tab.evaluate("document.querySelector('.plot').focus()")
    tab.press("End")
    assert tab.evaluate("typeof window.hacked") == "undefined"
    shown = tab.evaluate("[...document.querySelectorAll('.lines label span')].map((one) => one.textContent)")
    assert shown == examples.HOSTILE
    assert (
        tab.evaluate("[...document.querySelectorAll('.panel h3')].map((one) => one.textContent)")
        == examples.HOSTILE
    )
    spoken = tab.evaluate("document.getElementById('spoken').textContent")
    assert all(name in spoken for name in examples.HOSTILE)


SMALL = {
    "one line": {"agents": ["A"]},
    "one seed": {"single": True},
    "one checkpoint": {"points": 1},
    "one checkpoint, one seed": {"points": 1, "single": True},
    "no lines": {"agents": []},
    "twenty lines": {"agents": [f"agent {i}" for i in range(20)]},
}


@pytest.mark.parametrize("kind", SMALL)
def test_small_and_odd_reports(tab, tmp_path, kind):
    tab.open(write(tmp_path, examples.report(**{"points": 20, "problems": ["alone"], **SMALL[kind]})))
    for metric in ("reward", "regret"):
        for scale in ("log", "linear"):
            tab.evaluate(f"location.hash = 'metric={metric}&scale={scale}&time={scale}'")
            tab.wait(f"driftmdp.state.metric === '{metric}' && driftmdp.state.scale === '{scale}'")
    tab.evaluate("document.querySelector('.plot').focus()")
    tab.press("ArrowRight", "ArrowLeft", "End", "PageUp")
    if SMALL[kind].get("points") == 1:
        assert tab.evaluate(f"driftmdp.view('{FIRST}').data('points').length") == len(REPORT.lines)


def test_many_panels_are_drawn_when_they_come_near(tab, tmp_path):
    tab.open(write(tmp_path, examples.report(problems=[f"problem {i}" for i in range(40)], points=10)))
    count = "document.querySelectorAll('.canvas svg').length"
    assert tab.evaluate(count) < 20
    tab.evaluate("document.querySelector('.panel:last-child').scrollIntoView({behavior: 'instant'})")
    tab.wait("document.querySelector('.panel:last-child .canvas svg')")
    assert tab.evaluate(count) < 40
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate(count) == 40


def test_the_browser_reports_what_goes_wrong(browser, tmp_path):
    path = tmp_path / "wrong.html"
    path.write_text("<script>console.error('bad'); fetch('https://example.invalid/'); boom()</script>")
    with browser.page() as page:
        with pytest.raises(BrowserError, match="driftmdp"):
            page.open(path)
        assert "error: bad" in page.messages
        assert any("boom" in message for message in page.messages)
        assert "https://example.invalid/" in page.requests


def rgb(colour):
    if colour.startswith("#"):
        return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return [float(number) for number in re.findall(r"[\d.]+", colour)[:3]]


def contrast(one, other):
    """Return the contrast ratio of two colours, as the Web Content Accessibility Guidelines define it."""

    def luminance(colour):
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)
