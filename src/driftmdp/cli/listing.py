"""``driftmdp list``: the names that a spec may use."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from driftmdp import problems
from driftmdp.agents import BuiltinAgent
from driftmdp.cli.output import print_columns
from driftmdp.experiments.catalogue import spec_agents
from driftmdp.validation import one_of

What = Annotated[str, typer.Argument(help="problems or agents", metavar="problems|agents", show_default=False)]


ONLY = {
    "": "",
    "bandits": " (bandits only: problems with one state)",
    "inventory": " (inventory only)",
}


def list_names(what: What) -> None:
    """List the problems or the agents that a spec may name."""
    if one_of(what, "what to list", ("problems", "agents")) == "problems":
        print_columns([[entry.name, entry.summary] for entry in problems.list()])
    else:
        known = sorted(spec_agents().items(), key=lambda item: item[0].lower())
        print_columns([[name, _summary(kind)] for name, kind in known])


def _summary(kind: type[BuiltinAgent]) -> str:
    return f"{(inspect.getdoc(kind) or '').partition(chr(10))[0]}{ONLY[kind.only_for]}"
