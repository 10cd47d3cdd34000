"""What problems and agents are called: with the values of their grids, and as lines of a report."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from driftmdp.errors import InvalidInputError
from driftmdp.experiments.identity import canonical, shown
from driftmdp.experiments.spec import Choice, ReportOptions
from driftmdp.validation import nearest_name


class _Labelled(Protocol):
    @property
    def base(self) -> str: ...
    @property
    def varied(self) -> Mapping[str, Any]: ...


def labelled(base: str, varied: Mapping[str, Any]) -> str:
    """Return a label with the values of a grid: in the place of ``{key}``, or behind.

    Examples
    --------
    >>> labelled("V_r = {v_r}", {"v_r": "T^0.5", "horizon": 100})
    'V_r = T^0.5 (horizon=100)'
    """
    label, rest = base, []
    for key, value in varied.items():
        if f"{{{key}}}" in label:
            label = label.replace(f"{{{key}}}", shown(value))
        else:
            rest.append(f"{key}={shown(value)}")
    return f"{label} ({', '.join(rest)})" if rest else label


def line_label(base: str, varied: Mapping[str, Any], split: Sequence[str]) -> str:
    """Return what a report calls an agent whose ``split`` parameters the reader switches between.

    Examples
    --------
    >>> line_label("UCRL2 {scale}", {"scale": 0.1, "ties": "first"}, split=["scale"])
    'UCRL2 (ties=first)'
    """
    for key in split:
        base = base.replace(f"{{{key}}}", "")
    return labelled(" ".join(base.split()), {key: value for key, value in varied.items() if key not in split})


def agrees(varied: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Say whether a point of a grid has these values, as far as it has such keys."""
    return all(canonical(varied[key]) == canonical(value) for key, value in values.items() if key in varied)


def check_label(choice: Choice, place: str) -> None:
    """Refuse a ``{key}`` that the grid does not have."""
    for key in re.findall(r"\{([A-Za-z_]+)\}", choice.label or ""):
        if key not in choice.grid:
            raise InvalidInputError(
                f"{place}.label must name keys of its grid in braces; got '{{{key}}}'."
                f"{nearest_name(key, choice.grid)}"
            )


def check_report(options: ReportOptions, agents: Sequence[_Labelled], where: str) -> None:
    """Refuse a baseline, or a split, that no agent has; and a split that leaves two agents one line."""
    varied = {key for cell in agents for key in cell.varied}
    for key in options.split:
        if key not in varied:
            raise InvalidInputError(
                f"{where}: report.split must name parameters of the agents' grids; got {key!r}."
                f"{nearest_name(key, varied)}"
            )
    lines = [line_label(cell.base, cell.varied, options.split) for cell in agents]
    clash = _shared_line(lines, agents, options.split)
    if clash is not None:
        raise InvalidInputError(f"{where}: report.split leaves two agents the label {clash!r}; name them apart.")
    known = list(dict.fromkeys([*lines, *(cell.base for cell in agents)]))
    if options.baseline is not None and options.baseline not in known:
        raise InvalidInputError(
            f"{where}: report.baseline must be the label of an agent; got {options.baseline!r}."
            f"{nearest_name(options.baseline, known)} There are {', '.join(map(repr, lines[:12]))}."
        )


def _shared_line(lines: Sequence[str], agents: Sequence[_Labelled], split: Sequence[str]) -> str | None:
    """Return a label that two agents have at the same values of the split parameters that both have, if any."""
    by_line: dict[
        str, dict[frozenset[str], list[_Labelled]]
    ] = {}  # label -> split parameters that they have -> agents
    for line, cell in zip(lines, agents, strict=True):
        by_line.setdefault(line, {}).setdefault(frozenset(cell.varied).intersection(split), []).append(cell)
    for line, kinds in by_line.items():
        for (some, first), (others, second) in itertools.combinations_with_replacement(kinds.items(), 2):
            one, other = (
                [canonical({key: cell.varied[key] for key in some & others}) for cell in cells]
                for cells in (first, second)
            )
            if len(set(one)) < len(one) if first is second else set(one) & set(other):
                return line
    return None
