"""Old public names, which work for one more version with a warning that names the new name."""

import importlib
import warnings
from collections.abc import Callable
from typing import Any

Lookup = Callable[[str], Any]


def warn_renamed(old: str, new: str) -> None:
    """Warn at the caller's caller that ``old`` is now called ``new``."""
    warnings.warn(f"{old} is now called {new}. The old name goes in the next version.", DeprecationWarning, 3)


def renamed(module: str, otherwise: Lookup | None = None, /, **successors: str) -> Lookup:
    """Return a module's ``__getattr__`` that serves old names: ``renamed(__name__, Luck="Draws")``.

    A name that moved to another package is given in full, such as ``driftmdp.suite.run_suite``. That package is
    imported only when the old name is used, so a lower layer may name a higher one.
    """

    def find(name: str) -> Any:
        if name not in successors:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_renamed(f"{module}.{name}", successors[name])
        home, _, new = successors[name].rpartition(".")
        return getattr(importlib.import_module(home or module), new)

    return find
