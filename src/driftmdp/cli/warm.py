"""``driftmdp warm``: machine code ahead of need."""

from typing import Annotated

import typer

from driftmdp import warm as library
from driftmdp.cli.output import remark
from driftmdp.display import counted

Workers = Annotated[int | None, typer.Option(help="Processes; by default one per core.", min=1, show_default=False)]


def warm(workers: Workers = None) -> None:
    """Compile every kernel for this machine now, so that nobody waits later: for images and clusters.

    Machine code is kept in NUMBA_CACHE_DIR if that is set, otherwise in your cache folder. It fits one kind of
    processor, and one version of this package, of Python and of llvmlite.
    """
    done = library.warm(workers)
    print(done.folder)
    kernels = counted(done.kernels, "kernel")
    what = f"{done.compiled} of {kernels} compiled" if done.compiled else f"All {kernels} were there already"
    remark(f"{what}, in {done.seconds:.1f} s.")
