"""Reports to draw: made up, seeded, with the shape of real ones."""

from __future__ import annotations

import numpy as np

from driftmdp.report.content import (
    Band,
    Curve,
    Figure,
    Line,
    Panel,
    ReportContent,
    Section,
    Setting,
    Table,
    TableCell,
)

AGENTS = ["SWUCRL2-CW", "BORL", "UCRL2", "UCRL2.S", "Sliding window", "Random", "Oracle"]
HOSTILE = [
    "<script>window.hacked = 1; alert(1)</script>",
    "</script><script>window.hacked = 2</script>",
    '"\'><img src=x onerror="window.hacked = 3">',
    "{{ 7 * 7 }} {% raw %}",
    "<!--<script>\u2028 &lt;b&gt; &amp;",
    "javascript:window.hacked=4//datum['a']",
]


def band(rng: np.random.Generator, mean: np.ndarray, spread: float, single: bool = False) -> Band:
    width = spread * np.arange(1, len(mean) + 1) ** 0.5 * rng.uniform(0.8, 1.2)
    none = [None] * len(mean)
    low, high = (mean - width).tolist(), (mean + width).tolist()
    return Band(mean.tolist(), none if single else low, none if single else high)


def curve(seed: int, horizon: int, points: int, single: bool = False) -> Curve:
    rng = np.random.default_rng(seed)
    t = np.unique(np.linspace(horizon / points, horizon, points).astype(int))
    rate = rng.uniform(0.3, 0.6)
    wave = horizon * 0.01 * np.sin(t / horizon * rng.uniform(4, 9))
    reward = band(rng, rate * t + wave, horizon * 1e-3, single)
    regret = band(rng, (0.65 - rate) * t ** rng.uniform(0.85, 1.0) - wave, horizon * 1e-3, single)
    return Curve(t.tolist(), reward, regret, n_seeds=1 if single else 50)


def drawing(words: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="120" viewBox="0 0 640 120">'
        '<rect width="640" height="120" fill="#f4f4f4"/><path d="M0 100 C 200 0 400 120 640 20" fill="none" '
        f'stroke="#0072b2"/><text x="20" y="30">{words}</text></svg>'
    )


def results(setting: str, seed: int, agents: list[str]) -> Table:
    rng = np.random.default_rng(seed)
    values = rng.uniform(1000, 3000, (len(agents), 4))
    rows = [
        [
            TableCell(agent),
            *(
                TableCell(f"{value:,.1f}", float(value), "best" if value == values[:, j].max() else "")
                for j, value in enumerate(row)
            ),
        ]
        for agent, row in zip(agents, values, strict=True)
    ]
    columns = ["agent", *(f"panel {j + 1}, T = 5000, mean" for j in range(4))]
    return Table(f"final-{setting}", "Final cumulative reward", columns, rows, setting, "Means over 50 seeds.")


def claims() -> Table:
    sentence = "SWUCRL2-CW outperforms UCRL2.S in every scenario, and by more where the budgets are larger."
    rows = [
        [
            TableCell(sentence),
            TableCell("+412.3", 412.3),
            TableCell("383.1 to 441.0"),
            TableCell("reproduced", kind="reproduced"),
            TableCell(""),
        ],
        [
            TableCell("BORL is close."),
            TableCell("-35.2", -35.2),
            TableCell("-60.1 to -9.9"),
            TableCell("partly", kind="partly"),
            TableCell("In 3 of 4."),
        ],
        [
            TableCell("UCRL2 fails."),
            TableCell("+1.0", 1.0),
            TableCell("-8.0 to 9.0"),
            TableCell("no", kind="not"),
            TableCell("Its interval has 0."),
        ],
    ]
    return Table("claims", "Claims of the paper", ["sentence", "measured", "interval", "verdict", "why"], rows)


def report(
    agents: list[str] | None = None,
    problems: list[str] | None = None,
    points: int = 400,
    horizon: int = 5000,
    single: bool = False,
    title: str = "The numerical section, reproduced",
) -> ReportContent:
    agents = AGENTS if agents is None else agents
    small, large = "T^0.2", "T^0.5"
    problems = problems or [f"V_r = {r}, V_p = {p}" for r in (small, large) for p in (small, large)]
    lines = [Line(f"line-{i}", label) for i, label in enumerate(agents)]
    panels = [Panel(f"problem-{i}", label, horizon) for i, label in enumerate(problems)]
    settings, curves = [], {}
    for k, name in enumerate(["as printed", "scaled radii, constant 0.1"]):
        keys = {panel.id: {line.id: f"{k}/{panel.id}/{line.id}" for line in lines} for panel in panels}
        settings.append(Setting(f"setting-{k}", name, keys))
        every = [key for row in keys.values() for key in row.values()]
        curves |= {key: curve(1000 * k + i, horizon, points, single) for i, key in enumerate(every)}
    tables = [results(setting.id, k, agents) for k, setting in enumerate(settings)] if agents else []
    drift = Figure("drift", "The drift itself.", "Two curves that rise and fall.", drawing("drift"))
    arms = Figure("arms", "BORL's arms.", "Bars.", drawing("arms"), settings[1].id)
    return ReportContent(
        title,
        Section("lead", "What was found", ["The windowed agents win where the world moves. " * 4], [claims()]),
        panels,
        lines,
        settings,
        curves,
        [
            Section("final", "Final rewards", ["Common random numbers make differences sharp."], tables),
            Section("drift", "The drift", figures=[drift, arms]),
            Section("provenance", "Provenance", tables=[provenance()]),
        ],
        Figure("static", "Cumulative reward.", "Four panels of rising lines.", drawing("static")),
    )


def provenance() -> Table:
    rows = [
        [TableCell("revision"), TableCell("18d2209" * 6)],
        [TableCell("seeds"), TableCell("0 to 49")],
        [TableCell("version"), TableCell("0.1.0")],
    ]
    return Table("provenance", "Where this comes from", ["what", "value"], rows)


def hostile() -> ReportContent:
    """Every text that a spec or a file can bring, as bad as it can be."""
    return report(agents=HOSTILE, problems=HOSTILE, points=20, title=HOSTILE[0])
