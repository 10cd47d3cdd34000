"""``driftmdp init``: an example spec to begin with."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from driftmdp.cli.output import remark
from driftmdp.errors import InvalidInputError
from driftmdp.files import write_whole

Target = Annotated[Path, typer.Argument(help="The file to write.")]


def init(path: Target = Path("spec.toml")) -> None:
    """Write a commented example spec; a file that is there is never overwritten."""
    if os.path.lexists(path):
        raise InvalidInputError(f"{path} must not be there yet; nothing was changed. Name another file.")
    example = resources.files("driftmdp.experiments").joinpath("example.toml").read_bytes()
    try:
        write_whole(path, example)
    except OSError as error:
        raise InvalidInputError(f"{path} must be in a folder that can be written to; {error.strerror}.") from None
    print(path)
    remark(f"Run it: driftmdp run {path}")
