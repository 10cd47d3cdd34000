"""Predict what a large job needs from measured costs, as tables and a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.rows import as_time
from benchmarks.scale.jobs import ITEMS, KINDS
from benchmarks.scale.measuring import Measured
from benchmarks.scale.simulation import Cluster, Job, Outlook, simulate_cluster

__all__ = ["CORES", "draw", "job_of", "tables"]

CORES = (2, 16, 64, 256, 1024)
RUNS, SKUS = 10**8, 10**6
START_SECONDS = 90.0  # a worker's start on a machine that has to compile first
BUSY = 0.9  # the share of the cores' time that several clients should reach
WHAT = {kind.name: kind.what for kind in (*KINDS, ITEMS)}


def job_of(measured: Measured, tasks: int) -> Job:
    """Return a job of so many tasks, each of which costs what was measured."""
    return Job(
        tasks=tasks,
        batch=max(1, round(measured.tasks / max(1, measured.batches))),
        task_seconds=measured.task_seconds,
        making_seconds=0.0,
        taking_seconds=measured.client_seconds,
        scheduling_seconds=measured.scheduling_seconds,
        task_bytes=measured.task_bytes,
        result_bytes=measured.result_bytes,
    )


def tables(measured: Mapping[str, Measured], facts: Mapping[str, float]) -> str:
    """Return all tables as Markdown."""
    parts = [_constants(measured), _memory(measured, facts), _check(measured)]
    parts += [_outlook(name, measured[name]) for name in measured]
    return "\n\n".join(parts) + "\n"


def _constants(measured: Mapping[str, Measured]) -> str:
    header = (
        "task",
        "core, per task",
        "client, per task",
        "scheduler, per batch",
        "tasks per batch",
        "bytes sent, received",
    )
    rows = [
        (
            WHAT[name],
            as_time(m.task_seconds),
            as_time(m.client_seconds),
            as_time(m.scheduling_seconds),
            f"{m.tasks / max(1, m.batches):.0f}",
            f"{m.task_bytes:,.0f}, {m.result_bytes:,.0f}",
        )
        for name, m in measured.items()
    ]
    return _table("Measured costs", header, rows)


def _memory(measured: Mapping[str, Measured], facts: Mapping[str, float]) -> str:
    worker = max(m.worker_memory for m in measured.values())
    scheduler = max(m.scheduler_memory for m in measured.values())
    rows = [
        ("a worker of one thread", f"{worker / 1e6:,.0f} MB"),
        ("the scheduler", f"{scheduler / 1e6:,.0f} MB"),
        ("the client, per run of the spec", f"{facts['run_bytes']:,.0f} bytes"),
        ("the client, per item of a backtest, once read", f"{facts['item_bytes']:,.0f} bytes"),
        ("the client, per line of a sales file while it is read", f"{facts['line_bytes']:,.0f} bytes"),
        ("time to read one line of a sales file", as_time(facts["line_seconds"])),
    ]
    return _table("Memory and reading", ("what", "measured"), rows)


def _check(measured: Mapping[str, Measured]) -> str:
    rows = []
    for name, m in measured.items():
        said = simulate_cluster(job_of(m, m.tasks), Cluster(m.cores)).seconds
        rows.append((WHAT[name], f"{m.tasks:,}", as_time(m.seconds), as_time(said), f"{said / m.seconds - 1:+.0%}"))
    header = ("task", "tasks", f"measured, {m.cores} cores", "simulated", "error")
    return _table("The simulation against the real cluster", header, rows)


def _outlook(name: str, m: Measured) -> str:
    tasks = SKUS if name == ITEMS.name else RUNS
    job = job_of(m, tasks)
    moved = tasks * (m.task_bytes + m.result_bytes)
    rows = [_outlook_row(job, cores) for cores in CORES]
    title = (
        f"{tasks:,} tasks: {WHAT[name]} ({job.core_seconds / 3600:,.1f} core hours, {moved / 1e9:,.0f} GB over the "
        "clients' links)"
    )
    header = (
        "cores",
        "time with one client",
        "cores busy",
        "first bottleneck",
        f"clients for {BUSY:.0%} busy",
        "time then",
    )
    return _table(title, header, rows)


def _outlook_row(job: Job, cores: int) -> tuple[str, ...]:
    alone = simulate_cluster(job, Cluster(cores, start_seconds=START_SECONDS))
    clients, then = _enough_clients(job, cores, alone)
    return (
        str(cores),
        _hours(alone.seconds),
        f"{alone.busy['cores']:.0%}",
        alone.bottleneck,
        str(clients)
        if then.busy["cores"] >= BUSY
        else f"{clients}, {then.busy['cores']:.0%} busy ({then.bottleneck})",
        _hours(then.seconds),
    )


def _enough_clients(job: Job, cores: int, alone: Outlook) -> tuple[int, Outlook]:
    """Return how many clients keep the cores busy, or after how many more of them no longer help."""
    clients, found = 1, alone
    while found.busy["cores"] < BUSY and clients < 64:
        more = simulate_cluster(job, Cluster(cores, clients=2 * clients, start_seconds=START_SECONDS))
        if more.seconds > 0.97 * found.seconds:
            break
        clients, found = 2 * clients, more
    return clients, found


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join([f"**{title}**", "", *_lines([header, ["---"] * len(header), *rows])])


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.1f} min"


def draw(measured: Mapping[str, Measured], path: Path) -> None:
    """Draw how the time of each job falls with the cores, with one client and with enough of them."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(measured), figsize=(3.1 * len(measured), 3.4), sharex=True)
    for axis, (name, m) in zip(axes, measured.items(), strict=True):
        job = job_of(m, SKUS if name == ITEMS.name else RUNS)
        cores = [2**k for k in range(1, 11)]
        for clients, colour in ((1, "#0072b2"), (8, "#d55e00")):
            clusters = [Cluster(n, clients=clients, start_seconds=START_SECONDS) for n in cores]
            hours = [simulate_cluster(job, cluster).seconds / 3600 for cluster in clusters]
            axis.loglog(cores, hours, marker="o", ms=3, color=colour, label=f"{clients} client{'s'[: clients - 1]}")
        axis.loglog(cores, [job.core_seconds / 3600 / n for n in cores], ":", color="0.5", label="cores alone")
        axis.set(title=f"{job.tasks:,} {name}", xlabel="cores")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("hours")
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
