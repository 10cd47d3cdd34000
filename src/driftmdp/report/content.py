"""The content of a report as plain values, before it becomes HTML.

======== =====================================================================================================
word     meaning
======== =====================================================================================================
panel    one problem: a small chart of its own
line     one agent: a colour and a dash pattern, the same in every panel
setting  a choice of the agents' parameters that the reader switches between; a report has at least one
curve    means over the seeds of one (problem, agent, parameters), with intervals, at the checkpoints
======== =====================================================================================================
"""

from dataclasses import dataclass, field
from typing import Any

from driftmdp.display import brief


@dataclass(frozen=True)
class Band:
    """Means with the bounds of their intervals, one of each per checkpoint."""

    mean: list[float]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class Curve:
    """Cumulative reward and dynamic regret of an agent in a problem, over time."""

    t: list[int]
    reward: Band
    regret: Band
    n_seeds: int


@dataclass(frozen=True)
class Line:
    """An agent: one line in every panel."""

    id: str
    label: str


@dataclass(frozen=True)
class Panel:
    """A problem: one small chart."""

    id: str
    label: str
    horizon: int


@dataclass(frozen=True)
class Setting:
    """Which curve each line shows in each panel: ``curves[panel.id][line.id]`` keys ``ReportContent.curves``."""

    id: str
    label: str
    curves: dict[str, dict[str, str]]


@dataclass(frozen=True)
class TableCell:
    """One cell of a table: its text and, where it is a number, the number."""

    text: str
    value: float | None = None
    kind: str = ""  # the mark: "", "best", "least", "significant", "kept", "reproduced", "partly" or "not"
    shade: int | None = None  # the colour behind it, from -4 to 4


@dataclass(frozen=True)
class Table:
    """Columns and rows.

    ``setting`` is the id of the setting that the table belongs to, or empty for all. ``keys`` has a name for each
    row, by which the script of a filter bar finds it, or is empty.
    """

    id: str
    caption: str
    columns: list[str]
    rows: list[list[TableCell]]
    setting: str = ""
    note: str = ""
    keys: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """A static figure: SVG text, with a description for readers who cannot see it."""

    id: str
    caption: str
    description: str
    svg: str
    setting: str = ""


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its number as text, and its length as a share of the longest."""

    label: str
    text: str
    share: float
    kind: str = ""  # "", "ours", "own" or "pale"


@dataclass(frozen=True)
class BarChart:
    """Bars below each other, made of text and boxes, so that they fit any screen."""

    id: str
    caption: str
    bars: list[Bar]


@dataclass(frozen=True)
class Fold:
    """Paragraphs that are folded away below a title."""

    title: str
    paragraphs: list[str]


@dataclass(frozen=True)
class Section:
    """A heading, some paragraphs, then bars, tables and figures, and last what is folded away."""

    id: str
    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    bars: list[BarChart] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)


@dataclass(frozen=True)
class FilterChoice:
    """One thing that the reader chooses: pairs of a value and its label, the first for everything."""

    name: str
    title: str
    options: list[tuple[str, str]]


@dataclass(frozen=True)
class FilterBar:
    """Choices that decide what the sections after them show, by a script of the page's own.

    ``data`` is what the script reads as JSON from the element ``data``. Without scripts the bar is hidden.
    """

    choices: list[FilterChoice]
    data: Any
    script: str
    style: str


@dataclass(frozen=True)
class ReportContent:
    """The content of a page, in the order in which it appears.

    The interactive charts (``panels`` x ``lines`` for the chosen setting), or the filter bar, come after the
    section ``lead`` and before ``sections``.
    """

    title: str
    lead: Section
    panels: list[Panel]
    lines: list[Line]
    settings: list[Setting]  # the first is shown first
    curves: dict[str, Curve]
    sections: list[Section]
    static: Figure = Figure("static", "", "", "<svg/>")  # the charts again, for readers without scripts
    filters: FilterBar | None = None  # only in a page without charts
    headline: str = ""  # a sentence above the title

    __repr__ = brief
