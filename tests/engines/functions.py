"""Functions for worker processes, which import them by name; and a script that is interrupted."""

import multiprocessing
import os
import signal
import sys
import threading
import time

from driftmdp import engines
from driftmdp.errors import NotConvergedError


def square(task):
    return task * task


def identity(task):
    return task


def nap(seconds):
    time.sleep(seconds)


class Unreadable:
    """Can be pickled, but not read again."""

    def __reduce__(self):
        return refuse, ("not here",)


class Unpicklable:
    def __reduce__(self):
        raise RuntimeError("not even here")


def refuse(reason):
    raise RuntimeError(reason)


def fail_on_odd(task):
    if task % 2:
        raise ValueError(f"odd: {task}")
    return task


class UnpicklableError(Exception):
    def __init__(self, first, second):
        super().__init__("a lock inside")
        self.lock = threading.Lock()


class UnreadableError(Exception):
    """Can be pickled, but not read again: its arguments are not its message."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def raise_awkward(task):
    if task == "typed":
        raise NotConvergedError("no", best=7)
    raise {"unpicklable": UnpicklableError, "unreadable": UnreadableError}[task](1, 2)


def make_lock(task):
    return threading.Lock()


def process_id(task):
    return os.getpid()


def wait_for(path):
    """Wait until the file exists, but not for ever."""
    deadline = time.monotonic() + 30
    while path is not None and not path.exists() and time.monotonic() < deadline:
        time.sleep(0.005)


def kill_on_three(task):
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def kill_on_thirds(task):
    time.sleep(0.1)
    if task % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


class Rude:
    """Interrupts whoever pickles it."""

    def __reduce__(self):
        raise KeyboardInterrupt


def rude_on_two(task):
    return Rude() if task == 2 else threading.Lock() if task == 4 else task


def exit_on_three(task):
    if task == 3:
        os._exit(5)
    return task


def leave_on_odd(task):
    if task % 2:
        raise SystemExit(4)
    return task


def interrupt_self(task):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
    return task


def large(task):
    return bytes(len(task))


def say_and_sleep(task):
    os.write(1, f"running {os.getpid()}\n".encode())  # at once: print may write the end of a line by itself
    time.sleep(0.2 if task == "thread" else 60)


def main(name):
    """Run tasks until Ctrl-C, then say which threads and processes are left."""
    task = "thread" if name == "threads" else "process"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell ran the tests with "&"
    try:
        for _ in engines.make(name, workers=2).map(say_and_sleep, iter(lambda: task, None)):
            pass
    except KeyboardInterrupt:
        threads = [thread for thread in threading.enumerate() if not thread.name.startswith("Dask-")]
        print(f"interrupted {len(threads) - 1} {len(multiprocessing.active_children())}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
