"""``driftmdp init``, ``driftmdp list`` and ``driftmdp show``: what a spec may contain."""

import inspect
import os
import re
import textwrap
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from driftmdp import problems
from driftmdp.cli.output import print_columns, remark
from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.experiments.catalogue import FROM_PROBLEM, Maker, agent_maker, problem_maker, spec_agents
from driftmdp.files import write_whole
from driftmdp.validation import nearest_name, one_of

SpecPath = Annotated[Path, typer.Argument(help="The file to write.")]
Kind = Annotated[str, typer.Argument(help="problems or agents", metavar="problems|agents", show_default=False)]
Name = Annotated[str, typer.Argument(help="A problem or an agent of `driftmdp list`.", show_default=False)]
RESTRICTIONS = {"": "", "bandits": " (bandits only: problems with one state)", "inventory": " (inventory only)"}
REFERENCES = (
    Path(__file__).parents[1] / "references.md",  # in a wheel
    Path(__file__).parents[3] / "docs" / "references.md",  # in a checkout
)


def init(path: SpecPath = Path("spec.toml")) -> None:
    """Write a commented example spec. An existing file is never overwritten."""
    if os.path.lexists(path):
        raise InvalidInputError(f"{path} must not be there yet; nothing was changed. Name another file.")
    example = resources.files("driftmdp.experiments").joinpath("example.toml").read_bytes()
    try:
        write_whole(path, example)
    except OSError as error:
        raise InvalidInputError(f"{path} must be in a folder that can be written to; {error.strerror}.") from None
    print(path)
    remark(f"Run it: driftmdp run {path}")


def list_names(what: Kind) -> None:
    """List the problems or the agents that a spec may name."""
    if one_of(what, "what to list", ("problems", "agents")) == "problems":
        print_columns([[entry.name, entry.summary] for entry in problems.list()])
        return
    agents = sorted(spec_agents().items(), key=lambda item: item[0].lower())
    summaries = [(inspect.getdoc(agent) or "").partition("\n")[0] for _, agent in agents]
    restrictions = [RESTRICTIONS[agent.only_for] for _, agent in agents]
    print_columns([[name, a + b] for (name, _), a, b in zip(agents, summaries, restrictions, strict=True)])


def show(name: Name) -> None:
    """Show what a problem or an agent is: parameters, defaults, reference."""
    maker, documented = _find(name)
    documentation = inspect.getdoc(documented) or ""
    sections = _sections(documentation)
    about = _plain(sections[""]).strip()
    print("\n\n".join(part for part in (maker.name, about, "Parameters in a spec") if part))
    described = _described(sections.get("Parameters", "")) | _described_by_maker(maker, documented)
    for parameter, default in maker.defaults.items():
        print(f"  {parameter}{_shown_default(parameter, default, is_agent=name in spec_agents())}")
        if parameter in described:
            print(textwrap.indent(textwrap.fill(_plain(described[parameter]), 94), "      "))
    if not maker.defaults:
        print("  none")
    module = inspect.getmodule(inspect.unwrap(documented))
    references = _references(f"{documentation} {(module.__doc__ if module else '') or ''}")
    if references:
        print("\nReference")
        print("\n".join(f"  {text}" for text in references))


def _find(name: str) -> tuple[Maker, Any]:
    """Return the maker of a problem or an agent, and the object that has its documentation."""
    if name in spec_agents():
        return agent_maker(name), spec_agents()[name]
    try:
        maker = problem_maker(name)
        is_user_agent = isinstance(maker.make, type) and hasattr(maker.make, "act")
        return agent_maker(name) if is_user_agent else maker, maker.make
    except UnknownNameError:
        names = [*spec_agents(), *(entry.name for entry in problems.list())]
        raise UnknownNameError(
            f"There is no problem or agent {name!r}.{nearest_name(name, names)} `driftmdp list problems` and "
            "`driftmdp list agents` have them all."
        ) from None


def _shown_default(parameter: str, default: Any, is_agent: bool) -> str:
    if is_agent and parameter in FROM_PROBLEM:
        return " = the problem's"
    if default is inspect.Parameter.empty:
        return " = chosen for the problem" if is_agent else ""
    return f" = {default!r}"


def _sections(documentation: str) -> dict[str, str]:
    """Return a numpydoc text by its headings; the part before the first heading has the key ``""``."""
    parts = re.split(r"^(\w+)\n-{3,}\n", documentation, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def _described(parameters: str) -> dict[str, str]:
    """Return the description of each parameter in numpydoc's section ``Parameters``."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in parameters.splitlines():
        if line and not line.startswith(" "):
            names = [word.strip() for word in line.partition(":")[0].split(",")]
        elif line.strip():
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names}
    return found


def _described_by_maker(maker: Maker, documented: Any) -> dict[str, str]:
    """Return the descriptions in the maker's own docstring, and that of a parameter which differs in a spec."""
    own = _described(_sections(inspect.getdoc(maker.make) or "").get("Parameters", ""))
    if "reward_range" in maker.defaults:
        raw = ' "raw" takes them as they are, without a cap.' if _may_be_raw(documented) else ""
        own["reward_range"] = f"Bounds [lo, hi] on the rewards.{raw}"
    return own


def _may_be_raw(documented: Any) -> bool:
    """Return whether an agent takes None as its reward range."""
    parameter = inspect.signature(documented).parameters.get("reward_range")
    return parameter is not None and type(None) in get_args(parameter.annotation)


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _references(text: str) -> list[str]:
    """Return the full references of the keys that a text cites."""
    keys = list(dict.fromkeys(re.findall(r"\[([A-Z]{1,5}\d\d)[\],]", text)))
    source = next((path.read_text(encoding="utf-8") for path in REFERENCES if path.is_file()), "")
    entries = dict(re.findall(r"^\*\*\[([A-Z]+\d\d)\]\*\* (.*?)(?:\n\n|\Z)", source, re.MULTILINE | re.DOTALL))
    return [f"[{key}] {_reference(entries.get(key, ''))}".strip() for key in keys]


def _reference(entry: str) -> str:
    """Return authors, title (between stars) and place, which ends with a number or a bracket, without the notes."""
    line = " ".join(entry.split())
    found = re.match(r".*?\*.*?\*.*?[\d)]\.(?= |$)", line)
    return (found.group() if found else line).replace("*", "")
