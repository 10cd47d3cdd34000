"""Outcomes as bytes: whatever a task gave or raised arrives, if need be as a sentence about it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace

from driftmdp.engines.base import TaskOutcome, failed


def portable(outcome: TaskOutcome) -> bytes:
    """Return the outcome pickled; what cannot be is named in a RuntimeError.

    Examples
    --------
    >>> unpickled(0, portable(TaskOutcome(0, 3, None, 0.5))).value
    3
    """
    if outcome.error is not None:
        outcome = replace(outcome, error=_portable_error(outcome.error))
    try:
        return pickle.dumps(outcome, protocol=-1)
    except BaseException as error:  # whatever a value does when it is pickled is its own failure
        reason = RuntimeError(f"The value of task {outcome.index} must be picklable; got {error!r}.")
        return pickle.dumps(failed(outcome.index, reason, outcome.seconds))


def portable_all(outcomes: Sequence[TaskOutcome]) -> bytes:
    """Return outcomes pickled together, which is smaller and quicker; one by one if a value cannot be pickled.

    Examples
    --------
    >>> [outcome.value for outcome in unpickled_all(range(1), portable_all([TaskOutcome(0, 3, None, 0.5)]))]
    [3]
    """
    safe = [
        outcome if outcome.error is None else replace(outcome, error=_portable_error(outcome.error))
        for outcome in outcomes
    ]
    try:
        return pickle.dumps(safe, protocol=-1)
    except BaseException:  # the others need not suffer
        return pickle.dumps([portable(outcome) for outcome in outcomes], protocol=-1)


def unpickled_all(indices: range, message: bytes) -> list[TaskOutcome]:
    """Return the outcomes that were pickled together or one by one."""
    found = pickle.loads(message)
    return [
        unpickled(index, one) if isinstance(one, bytes) else one for index, one in zip(indices, found, strict=True)
    ]


def unpickled(index: int, message: bytes) -> TaskOutcome:
    """Return the outcome that was pickled; one that cannot be read is a failure of its task.

    Examples
    --------
    >>> unpickled(4, b"no pickle").error
    UnpicklingError(...)
    """
    try:
        outcome: TaskOutcome = pickle.loads(message)
    except Exception as error:
        return failed(index, error, 0.0)
    return outcome


def _portable_error(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # some can be pickled but not read again
    except BaseException:
        return RuntimeError(repr(error))
    return error
