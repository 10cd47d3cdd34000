"""What a report shows, before it is drawn: plain values with names, and nothing of HTML.

======== =====================================================================================================
word     meaning
======== =====================================================================================================
panel    one problem: a small chart of its own
line     one agent: a colour and a dash pattern, the same in every panel
setting  a choice of the agents' parameters that the reader switches between; a report has at least one
curve    the means of one (problem, agent, parameters) over its seeds, with intervals, at the checkpoints
======== =====================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field

from driftmdp.display import brief


@dataclass(frozen=True)
class Band:
    """A mean with the bounds of its interval, one of each for every checkpoint."""

    mean: list[float]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class Curve:
    """What an agent collected and missed in a problem, by time; each band is cumulative."""

    t: list[int]
    reward: Band
    regret: Band
    n_seeds: int


@dataclass(frozen=True)
class Line:
    """An agent, as a line in every panel."""

    id: str
    label: str


@dataclass(frozen=True)
class Panel:
    """A problem, as a small chart."""

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
    """What stands in a table: text for people and, where it is a number, the number."""

    text: str
    value: float | None = None
    kind: str = ""  # "", "best", "kept", "reproduced", "partly", "not": how it is marked


@dataclass(frozen=True)
class Table:
    """Columns and rows; ``setting`` is the id of the setting that it belongs to, or empty for all."""

    id: str
    caption: str
    columns: list[str]
    rows: list[list[TableCell]]
    setting: str = ""
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing that does not move: SVG text, with a description for those who cannot see it."""

    id: str
    caption: str
    description: str
    svg: str
    setting: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, some paragraphs, then tables and figures; empty sections are not made."""

    id: str
    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


@dataclass(frozen=True)
class ReportContent:
    """Everything that a page shows, in the order in which it shows it.

    The interactive charts (``panels`` x ``lines`` for the chosen setting) stand after the section ``lead``, and
    before ``sections``.
    """

    title: str
    lead: Section
    panels: list[Panel]
    lines: list[Line]
    settings: list[Setting]  # the first is shown first
    curves: dict[str, Curve]
    sections: list[Section]
    static: Figure  # the charts once more, for readers without scripts

    __repr__ = brief
