"""The user's own code: found by ``module:name``, and identified by a digest of its files."""

from __future__ import annotations

import ast
import hashlib
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from driftmdp.errors import InvalidInputError, UnknownNameError

DIGEST_ATTRIBUTE = "__driftmdp_digest__"
INSTALL_FOLDERS = {"site-packages", "dist-packages"}
ON_EVERY_WORKER = {*sys.stdlib_module_names, "driftmdp"}  # top-level names


def find(name: str) -> Any:
    """Return the class or function ``module:name``.

    Examples
    --------
    >>> from driftmdp.experiments.user_code import find
    >>> find("fractions:Fraction")
    <class 'fractions.Fraction'>
    """
    module_name, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UnknownNameError(
            f"There is no {name!r}: {type(error).__name__}: {error}. Write 'module:name', with the module in the "
            "folder of the spec, in the current one, or installed."
        ) from None
    if not callable(found):
        raise InvalidInputError(f"{name} must be a class or a function; got {found!r}.")
    return found


def digest_of_code(name: str) -> str:
    """Return a digest of the module, and of all modules beside it that it imports, directly or not.

    Raises
    ------
    InvalidInputError
        If a file was edited after this process had imported it: the old code would run under the new name.
    """
    module = importlib.import_module(name.partition(":")[0])
    loaded = {file: found for found in list(sys.modules.values()) if (file := _file_of(found)) is not None}
    whole = hashlib.sha256()
    for file in sorted(_files(module)):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        if file in loaded and vars(loaded[file]).setdefault(DIGEST_ATTRIBUTE, content) != content:
            raise InvalidInputError(
                f"{file} was edited after it was imported, so its old code would run; start Python again."
            )
        whole.update(f"{file.name} {content}\n".encode())
    return whole.hexdigest()[:16]


def files_of(name: str) -> list[tuple[str, Path]]:
    """Return the files of the digest, each with its path below the folder that it is imported from.

    Installed files and files of Python are left out.

    Examples
    --------
    >>> from driftmdp.experiments.user_code import files_of
    >>> files_of("fractions:Fraction")
    []
    """
    module = importlib.import_module(name.partition(":")[0])
    file = _file_of(module)
    if file is None or module.__name__.partition(".")[0] in ON_EVERY_WORKER or INSTALL_FOLDERS & set(file.parts):
        return []
    above = _above(module, file)
    return sorted((found.relative_to(above).as_posix(), found) for found in _files(module))


def _above(module: ModuleType, file: Path) -> Path:
    """Return the folder that has the top-level name of a module."""
    return file.parents[module.__name__.count(".") + (file.name == "__init__.py")]


def _files(module: ModuleType) -> set[Path]:
    """Return a module's file and those that it imports, by its text, from its folder; if installed, its package."""
    file = _file_of(module)
    if file is None:
        return set()
    above = _above(module, file)
    is_package = "." in module.__name__ or file.name == "__init__.py"
    is_installed = bool(INSTALL_FOLDERS & set(file.parts))
    top = module.__name__.partition(".")[0]
    root = above / top if is_package and is_installed else above
    if (
        root.name in INSTALL_FOLDERS or top in sys.stdlib_module_names
    ):  # all of Python is in one folder with the latter
        return {file}
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current not in found and current.is_file() and current.is_relative_to(root):
            found.add(current)
            waiting += [path for dotted in _imports(current, above) for path in _places(dotted, above)]
    return found


def _imports(file: Path, above: Path) -> list[str]:
    """Return the full names that a file imports, anywhere in it: of modules, or of things in modules."""
    package = list(file.relative_to(above).parent.parts)
    names = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = [*base, *(node.module.split(".") if node.module else [])]
            names += [".".join([*origin, alias.name]) for alias in node.names]
    return names


def _places(dotted: str, above: Path) -> list[Path]:
    """Return where the modules of a dotted name may be: itself, and each package above it."""
    parts = dotted.split(".")
    stems = [above.joinpath(*parts[:length]) for length in range(1, len(parts) + 1)]
    return [path for stem in stems for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")]


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and file.endswith(".py") else None
