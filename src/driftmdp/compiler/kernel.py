"""Kernels: Python functions that are compiled when they are first called with arguments of some types."""

import ctypes
import functools
import hashlib
import inspect
import os
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, cast

from driftmdp.compiler import cache, machine
from driftmdp.compiler.door import expectations, require_known_layout, write_door
from driftmdp.compiler.kernel_types import BOOL, FLOAT, Tuple, Type, describe, type_of
from driftmdp.compiler.notice import telling_who_waits
from driftmdp.compiler.results import Buffer, buffer_for, decoder_for
from driftmdp.compiler.runtime import ALIAS_TAGS, ARENA, DECLARATIONS
from driftmdp.compiler.translate import Module

Function = TypeVar("Function", bound=Callable[..., Any])

DOOR = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
GIVE_BACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
MAX_WAYS = 8  # that a kernel remembers: objects of equal types need not be of the same type object


class _Way(NamedTuple):
    """A way into compiled code, for arguments whose types are the very objects that it expects."""

    door: Callable[..., int]
    table: Any
    new_buffer: Callable[[], Buffer]
    decode: Callable[[Buffer], Any]
    expected: list[object]  # kept alive: the table has their addresses


def kernel(function: Function) -> Function:
    """Compile ``function`` on first call and keep the machine code on disk. It runs without the GIL.

    Its language is a part of Python (docs/kernel-language.md). Division by zero gives infinities and NaNs, as in
    numpy. Kernels look for them where it matters. With ``NUMBA_DISABLE_JIT=1`` it stays a Python function.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") == "1":
        return function
    compiled: Any = Kernel(function)
    return cast(Function, compiled)


class Kernel:
    """A function, and the machine code for each combination of argument types that it was called with."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func: FunctionType = function
        cache.sources_hash()  # of the sources as they are loaded, not as they may be edited later
        self._ways: tuple[_Way, ...] = ()
        self._compiled: dict[tuple[Type, ...], tuple[Any, Type]] = {}
        self._lock = threading.Lock()

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.py_func)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__module__}.{self.py_func.__qualname__}>"

    def __reduce__(self) -> str:  # found again by name, as functions are
        return self.py_func.__qualname__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run compiled code."""
        if named:
            return self(*self._in_order(arguments, named))
        for way in self._ways:
            buffer = way.new_buffer()
            if way.door(arguments, buffer, way.table):
                return way.decode(buffer)
        return self._call_by_new_way(self._in_order(arguments, named))

    def _in_order(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments, with defaults, by position."""
        try:
            bound = self._signature.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{self!r}: {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _call_by_new_way(self, arguments: tuple[Any, ...]) -> Any:
        types = tuple(self._argument_types(arguments))
        plain = tuple(_as_plain(argument, kind) for argument, kind in zip(arguments, types, strict=True))
        for way in self._ways:  # which the numbers did not fit as they were: an int for a float
            buffer = way.new_buffer()
            if way.door(plain, buffer, way.table):
                return way.decode(buffer)
        way = self._new_way(plain, types)
        buffer = way.new_buffer()
        if not way.door(plain, buffer, way.table):
            raise TypeError(f"{self!r} cannot read its arguments")
        self._ways = (way, *self._ways[: MAX_WAYS - 1])
        return way.decode(buffer)

    def _argument_types(self, arguments: tuple[Any, ...]) -> Iterator[Type]:
        parameters = self._signature.parameters
        for argument, (name, parameter) in zip(arguments, parameters.items(), strict=True):
            try:
                yield type_of(argument, parameter.annotation)
            except TypeError as error:
                raise TypeError(f"{name} of {self!r}: {error}") from None

    def _new_way(self, arguments: tuple[Any, ...], types: tuple[Type, ...]) -> _Way:
        with self._lock:
            if types not in self._compiled:
                self._compiled[types] = self._load(types)
            engine, result = self._compiled[types]
        expected = expectations(arguments, Tuple(types))
        table = (ctypes.c_void_p * max(1, len(expected)))(*(id(item) for item in expected))
        door = DOOR(engine.get_function_address("door"))
        give_back = GIVE_BACK(engine.get_function_address("give_back"))
        return _Way(door, table, buffer_for(result), decoder_for(result, give_back), expected)

    def _load(self, types: tuple[Type, ...]) -> tuple[Any, Type]:
        """Return the machine code for arguments of these types, and the type of its result."""
        require_known_layout()
        if self.py_func.__module__.startswith("driftmdp.kernels."):
            made_from = "; ".join(describe(kind) for kind in types)  # the folder's name stands for the sources
        else:
            text, result = self._translate(types)
            made_from = text + describe(result)
        key = hashlib.sha256(made_from.encode()).hexdigest()[:20]
        name = f"{self.py_func.__module__.rpartition('.')[2]}.{self.py_func.__name__}-{key}"
        found = cache.read(name)
        if found is None:
            with telling_who_waits():
                text, result = self._translate(types)
                found = result, machine.assemble(text)
            cache.write(name, found)
        result, code = found
        return machine.load(code), result

    def _translate(self, types: tuple[Type, ...]) -> tuple[str, Type]:
        module = Module()
        translated = module.function(self.py_func, types)
        text = module.text + write_door(translated, types) + DECLARATIONS + ARENA + ALIAS_TAGS
        return text, translated.result


def _as_plain(value: Any, kind: Type) -> Any:
    """Return a value with numbers that the door can read.

    It reads numpy's as it reads Python's: np.float64 is a float, and all its whole numbers answer as an int.
    """
    if isinstance(kind, Tuple):
        items = [_as_plain(item, part) for item, part in zip(value, kind.items, strict=True)]
        if all(one is other for one, other in zip(items, value, strict=True)):
            return value
        return kind.kind(*items) if kind.names else tuple(items)
    if kind == FLOAT:
        return value if isinstance(value, float) else float(value)
    if kind == BOOL:
        return bool(value)
    return value
