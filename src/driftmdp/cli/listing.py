"""``driftmdp list``: the names that a spec may use."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from driftmdp import agents, problems
from driftmdp.cli.printing import print_columns
from driftmdp.validation import one_of

__all__ = ["list_names"]

What = Annotated[str, typer.Argument(help="problems or agents", metavar="problems|agents", show_default=False)]


def list_names(what: What) -> None:
    """List the problems or the agents that a spec may name."""
    if one_of(what, "what to list", ("problems", "agents")) == "problems":
        print_columns([[entry.name, entry.summary] for entry in problems.list()])
    else:
        known = sorted(agents.builtin().items(), key=lambda item: item[0].lower())
        print_columns([[name, (inspect.getdoc(kind) or "").partition("\n")[0]] for name, kind in known])
