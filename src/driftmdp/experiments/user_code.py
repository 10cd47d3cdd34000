"""The user's own code: found by ``module:name``, identified by a digest of its files, and sent to other machines.

The source files travel with the function. A worker writes them into a folder of their own at the end of its import
path, as the folder of the spec is here. What is then imported must have the digest that is part of a run's
identity. So a worker that imports another file of that name is refused. Why this is not cloudpickle:
docs/decisions, 18.
"""

import ast
import functools
import hashlib
import importlib
import importlib.util
import re
import shutil
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, TypeAlias

from driftmdp.errors import InvalidInputError, UnknownNameError
from driftmdp.validation import nearest_name

DIGEST_ATTRIBUTE = "__driftmdp_digest__"
INSTALL_FOLDERS = {"site-packages", "dist-packages"}
ON_EVERY_WORKER = {*sys.stdlib_module_names, "driftmdp"}  # top-level names

Files: TypeAlias = "tuple[tuple[str, bytes], ...]"  # path and content

_lock = threading.Lock()


def find(name: str) -> Any:
    """Return the class or function ``module:name``.

    Examples
    --------
    >>> from driftmdp.experiments.user_code import find
    >>> find("fractions:Fraction")
    <class 'fractions.Fraction'>
    """
    module_name, _, attribute = name.partition(":")
    module = None
    try:
        module = found = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        advice = _attribute_advice(attribute, module) if module else _import_advice(module_name, error)
        place = place_in_user_code(traceback.format_exc())
        what = f"{error}" if place in str(error) else f"{error}{place}"  # a syntax error has its place
        raise UnknownNameError(f"There is no {name!r}: {type(error).__name__}: {what}.{advice}") from None
    if not callable(found):
        raise InvalidInputError(f"{name} must be a class or a function; got {found!r}.")
    return found


def _attribute_advice(attribute: str, module: ModuleType) -> str:
    """Return the class or function of a module that may be meant, or what it has."""
    named = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    return nearest_name(attribute, named) or (f" It has {', '.join(named[:10])}." if named else "")


def _import_advice(module_name: str, error: BaseException) -> str:
    """Return what to do about a module that cannot be imported."""
    stem = Path(module_name.removesuffix(".py")).name.lstrip(".")
    if stem != module_name and re.search(r"[/\\\\]|\.py$|^\.", module_name):
        return f" Write the module as an import does, such as '{stem}:Mine', and start in its folder."
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None or missing.partition(".")[0] != module_name.partition(".")[0]:
        return f" Mend {module_name}, or what it imports."
    return " Write 'module:name', with the module in the folder of the spec, in the current one, or installed."


def place_in_user_code(text: str) -> str:
    """Return the last place of a traceback in the code of the user, such as `` (mine.py, line 3)``."""
    ours, python = str(Path(__file__).parents[1]), str(Path(importlib.__file__).parents[1])
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    users = [(file, line) for file, line in places if not file.startswith((ours, "<", f"{python}/importlib"))]
    return f" ({Path(users[-1][0]).name}, line {users[-1][1]})" if users else ""


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
    # All of Python is in one folder with the modules of the standard library.
    if root.name in INSTALL_FOLDERS or top in sys.stdlib_module_names:
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


@dataclass(frozen=True)
class ShippedFunction:
    """A function with the source files of the user's own modules.

    Attributes
    ----------
    function
        The function.
    files
        Path below the import folder, and content, of each file that is not installed.
    digests
        Each ``module:name``, and the digest of its code.
    """

    function: Callable[[Any], Any]
    files: Files
    digests: tuple[tuple[str, str], ...]

    def __call__(self, task: Any) -> Any:
        """Make the code importable, then call the function."""
        with _lock:
            problem = _install(self.files, self.digests)
        if problem:
            raise InvalidInputError(problem)
        return self.function(task)


def with_user_code(function: Callable[[Any], Any], names: Iterable[str]) -> Callable[[Any], Any]:
    """Return the function, with the code of each ``module:name`` if there is any.

    Examples
    --------
    >>> from driftmdp.experiments.user_code import with_user_code
    >>> with_user_code(abs, [])(-3)
    3
    """
    own = sorted(set(names))
    if not own:
        return function
    files = {path: file.read_bytes() for name in own for path, file in files_of(name)}
    digests = tuple((name, digest_of_code(name)) for name in own)
    return ShippedFunction(function, tuple(sorted(files.items())), digests)


@functools.lru_cache(maxsize=1)
def _install(files: Files, digests: tuple[tuple[str, str], ...]) -> str:
    """Make the code importable, once until other code comes; return what is wrong with it here, or nothing."""
    tops = {PurePosixPath(path).parts[0].removesuffix(".py") for path, _ in files} - ON_EVERY_WORKER
    _forget_modules(tops)
    if files:
        _replace_folder(files)
    for name, digest in digests:
        try:
            found = digest_of_code(name)
        except Exception as error:
            return f"{name} must be importable on every worker; there: {type(error).__name__}: {error}."
        if found != digest:
            return _differs(name, importlib.import_module(name.partition(":")[0]).__file__)
    for top in sorted(tops):
        spec = importlib.util.find_spec(top)
        places = [*(spec.submodule_search_locations or []), spec.origin] if spec else []
        place = Path(places[0]) if places and places[0] else None
        if place is None or not _has_files(place.parent, top, files):
            return _differs(top, place)
    return ""


def _differs(name: str, place: Any) -> str:
    return (
        f"{name} must be the same on every worker; one has another in {place}. Remove it there, or start the "
        "worker in another folder."
    )


def _has_files(folder: Path, top: str, files: Files) -> bool:
    """Return whether a folder has all files of a top-level name, with the same content."""
    own = ((folder / path, content) for path, content in files if path.split("/")[0] in {top, f"{top}.py"})
    return all(file.is_file() and file.read_bytes() == content for file, content in own)


def _forget_modules(tops: set[str]) -> None:
    """Forget modules that were imported before under these names, because they may be other code by now."""
    for name, module in list(sys.modules.items()):
        is_installed = INSTALL_FOLDERS & set(Path(getattr(module, "__file__", None) or "").parts)
        if name.partition(".")[0] in tops and not is_installed:
            del sys.modules[name]
    importlib.invalidate_caches()


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    """Return this process's folder for shipped code. It is removed when the process ends.

    A dask worker's lies in the worker's own folder, which dask removes even after a kill.
    """
    try:
        from distributed import get_worker

        place = str(get_worker().local_directory)
    except (ImportError, ValueError):
        place = None
    return tempfile.TemporaryDirectory(prefix="driftmdp-code-", dir=place, ignore_cleanup_errors=True)


def _replace_folder(files: Files) -> None:
    """Write the files into a new folder at the end of the import path, and remove the one before."""
    root = Path(_root().name)
    folder = Path(tempfile.mkdtemp(dir=root))
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    sys.path[:] = [path for path in sys.path if not Path(path).is_relative_to(root)]
    sys.path.append(str(folder))
    for old in root.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
