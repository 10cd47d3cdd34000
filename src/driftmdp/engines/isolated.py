"""A shelter: tasks that may kill whoever runs them, in a process of their own, one for each death.

The child writes each outcome as soon as it is there. So if it dies, the first task without one is to blame, and the
rest go on in another child.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO

from driftmdp.engines.base import WorkerDiedError, failed, how_it_ended, run_one
from driftmdp.engines.pickling import portable

HEAD = struct.Struct("<Q")


def run_sheltered(function: bytes, tasks: bytes, indices: Sequence[int]) -> list[bytes]:
    """Return the pickled outcomes of pickled tasks, a :class:`WorkerDiedError` for each that ends its process.

    Examples
    --------
    >>> from driftmdp.engines.pickling import unpickled
    >>> [outcome] = run_sheltered(pickle.dumps(abs), pickle.dumps([-3]), [0])
    >>> unpickled(0, outcome).value
    3
    """
    outcomes: list[bytes] = []
    while len(outcomes) < len(indices):
        found, code = _run_child(pickle.dumps((function, tasks, list(indices), len(outcomes))))
        outcomes += found
        if len(outcomes) < len(indices):
            index = indices[len(outcomes)]
            error = WorkerDiedError(f"The worker process of task {index} must outlive it; it {how_it_ended(code)}.")
            outcomes.append(portable(failed(index, error, 0.0)))
    return outcomes


def _run_child(message: bytes) -> tuple[list[bytes], int]:
    command = [sys.executable, "-P", "-c", "from driftmdp.engines.isolated import serve; serve()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(message)
            child.stdin.close()
        except OSError:  # it died before it had read all
            pass
        found = _frames(child.stdout)
    return found, child.returncode


def _frames(pipe: IO[bytes]) -> list[bytes]:
    """Return what was written whole."""
    frames = []
    while len(head := pipe.read(HEAD.size)) == HEAD.size:
        frame = pipe.read(HEAD.unpack(head)[0])
        if len(frame) < HEAD.unpack(head)[0]:
            break
        frames.append(frame)
    return frames


def serve() -> None:
    """Be the child: run what standard input asks for, from a given task on."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as pipe:
        os.dup2(2, 1)  # what a task prints is no outcome
        function, tasks, indices, start = pickle.load(sys.stdin.buffer)
        call = pickle.loads(function)
        for index, task in list(zip(indices, pickle.loads(tasks), strict=True))[start:]:
            outcome = portable(run_one(call, index, task))
            pipe.write(HEAD.pack(len(outcome)) + outcome)
            pipe.flush()


def _end_with_parent(parent: int) -> None:
    """End this process soon after the worker that started it: nobody would read the outcome."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
