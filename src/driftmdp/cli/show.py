"""``driftmdp show``: what a problem or an agent is, its parameters and where it comes from."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from driftmdp import problems
from driftmdp.errors import UnknownNameError
from driftmdp.experiments.catalogue import FROM_PROBLEM, Maker, agent_maker, problem_maker, spec_agents
from driftmdp.validation import nearest_name

Name = Annotated[str, typer.Argument(help="A problem or an agent of `driftmdp list`.", show_default=False)]
REFERENCES = (
    Path(__file__).parents[1] / "references.md",  # in a wheel
    Path(__file__).parents[3] / "docs" / "references.md",  # in a checkout
)


def show(name: Name) -> None:
    """Show what a problem or an agent is: parameters, defaults, reference."""
    maker, documented = _find(name)
    documentation = inspect.getdoc(documented) or ""
    sections = _sections(documentation)
    about = _plain(sections[""]).strip()
    print("\n\n".join(part for part in (maker.name, about, "Parameters in a spec") if part))
    described = _described(sections.get("Parameters", "")) | _described_by_maker(maker)
    for parameter, default in maker.defaults.items():
        shown = _shown_default(parameter, default, is_agent=name in spec_agents())
        print(f"  {parameter}{shown}")
        if parameter in described:
            print(_indented(described[parameter]))
    if not maker.defaults:
        print("  none")
    module = inspect.getmodule(inspect.unwrap(documented))
    references = _references(f"{documentation} {(module.__doc__ if module else '') or ''}")
    if references:
        print("\nReference")
        print("\n".join(f"  {text}" for text in references))


def _shown_default(parameter: str, default: Any, is_agent: bool) -> str:
    if is_agent and parameter in FROM_PROBLEM:
        return " = the problem's"
    if default is inspect.Parameter.empty:
        return " = chosen for the problem" if is_agent else ""
    return f" = {default!r}"


def _described_by_maker(maker: Maker) -> dict[str, str]:
    """Return what the function that makes agents says of its own parameters, and of two that differ in a spec."""
    own = _described(_sections(inspect.getdoc(maker.make) or "").get("Parameters", ""))
    if "reward_range" in maker.defaults:
        own["reward_range"] = 'Bounds [lo, hi] on the mean rewards; "raw" takes them as they are, without a cap.'
    return own


def _find(name: str) -> tuple[Maker, Any]:
    """Return what makes it, and what has its documentation."""
    if name in spec_agents():
        return agent_maker(name), spec_agents()[name]
    try:
        maker = problem_maker(name)
        is_agent = isinstance(maker.make, type) and hasattr(maker.make, "act")  # of one's own
        return agent_maker(name) if is_agent else maker, maker.make
    except UnknownNameError:
        known = [*spec_agents(), *(entry.name for entry in problems.list())]
        raise UnknownNameError(
            f"There is no problem or agent {name!r}.{nearest_name(name, known)} `driftmdp list problems` and "
            "`driftmdp list agents` have them all."
        ) from None


def _sections(documentation: str) -> dict[str, str]:
    """Return a numpydoc text by its headings; what comes before the first has none."""
    parts = re.split(r"^(\w+)\n-{3,}\n", documentation, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def _described(parameters: str) -> dict[str, str]:
    """Return what numpydoc says of each parameter."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in parameters.splitlines():
        if line and not line.startswith(" "):
            names = [word.strip() for word in line.partition(":")[0].split(",")]
        elif line.strip():
            for parameter in names:
                found[parameter] = f"{found.get(parameter, '')} {line.strip()}".strip()
    return found


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _indented(text: str) -> str:
    return textwrap.fill(_plain(text), 100, initial_indent="      ", subsequent_indent="      ")


def _references(text: str) -> list[str]:
    """Return the full references of the keys that a text cites."""
    keys = list(dict.fromkeys(re.findall(r"\[([A-Z]{1,5}\d\d)[\],]", text)))
    source = next((path.read_text(encoding="utf-8") for path in REFERENCES if path.is_file()), "")
    listed = dict(re.findall(r"^\*\*\[([A-Z]+\d\d)\]\*\* (.*?\d{4}\.)", source, re.MULTILINE | re.DOTALL))
    return [f"[{key}] {' '.join(listed.get(key, '').replace('*', '').split())}".strip() for key in keys]
