"""One lock per agent, held by every public method, because compiled code runs without Python's own lock."""

import copy
import functools
import threading
from abc import ABC
from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, Self, TypeVar

P = ParamSpec("P")
Answer = TypeVar("Answer")


class AgentLock(type(threading.RLock())):  # type: ignore[misc]
    """A reentrant lock. A copy of it is a new lock, so that its owner can be copied and pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return AgentLock, ()


def locked(method: Callable[P, Answer]) -> Callable[P, Answer]:
    """Let a method hold the lock of its object."""

    @functools.wraps(method)
    def holding(*args: P.args, **keywords: P.kwargs) -> Answer:
        with args[0].lock:  # type: ignore[attr-defined]
            return method(*args, **keywords)

    return holding


class Locked(ABC):
    """An object whose public methods, those of subclasses too, wait for each other.

    Attributes
    ----------
    lock
        Reentrant: ``with agent.lock:`` keeps several calls together.
    """

    lock: AgentLock

    def __init__(self) -> None:
        self.lock = AgentLock()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, found in list(vars(cls).items()):
            if isinstance(found, FunctionType) and not name.startswith("_"):
                setattr(cls, name, locked(found))

    @locked
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        fresh = memo[id(self)] = object.__new__(type(self))
        vars(fresh).update(copy.deepcopy(vars(self), memo))
        return fresh
