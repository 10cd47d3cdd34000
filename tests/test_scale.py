"""The simulated cluster keeps the laws that any queue keeps."""

from dataclasses import replace

import pytest
from benchmarks.scale import simulation
from benchmarks.scale.simulation import Cluster, Job, simulate_cluster

JOB = Job(
    tasks=20_000,
    batch=100,
    task_seconds=0.01,
    making_seconds=0.0,
    taking_seconds=1e-4,
    scheduling_seconds=2e-3,
    task_bytes=100,
    result_bytes=1000,
)


def floors(job, cluster):
    """Return what each part needs for the whole job, if it never waits."""
    return {
        "cores": job.core_seconds / cluster.cores,
        "client": job.tasks * job.taking_seconds / cluster.clients,
        "scheduler": job.tasks / job.batch * job.scheduling_seconds,
        "link": job.tasks * (job.task_bytes + job.result_bytes) / cluster.link_bytes / cluster.clients,
    }


@pytest.mark.parametrize("cores", [1, 7, 64, 1000])
@pytest.mark.parametrize("clients", [1, 4])
def test_no_part_is_faster_than_its_own_work_and_the_slowest_is_named(cores, clients):
    cluster = Cluster(cores, clients=clients)
    needs, found = floors(JOB, cluster), simulate_cluster(JOB, cluster)
    assert found.seconds >= max(needs.values()) * (1 - 1e-9)
    assert found.busy == pytest.approx({name: need / found.seconds for name, need in needs.items()})
    assert found.bottleneck == max(needs, key=needs.get)


def test_few_cores_are_never_idle():
    assert simulate_cluster(JOB, Cluster(cores=2)).busy["cores"] > 0.99


def test_more_cores_are_never_slower():
    times = [simulate_cluster(JOB, Cluster(cores)).seconds for cores in (1, 2, 4, 8, 16, 32)]
    assert times == sorted(times, reverse=True)


def test_deaths_cost_time_and_lose_nothing():
    calm, wild = (simulate_cluster(JOB, Cluster(4, life_seconds=life)) for life in (float("inf"), 20.0))
    assert calm.deaths == 0
    assert wild.deaths > 0
    assert wild.seconds > calm.seconds


def test_a_long_job_goes_on_at_its_rate(monkeypatch):
    job = replace(JOB, tasks=400_000)
    for cluster in (Cluster(4, start_seconds=30), Cluster(300), Cluster(40, clients=8)):
        whole = simulate_cluster(job, cluster)
        with monkeypatch.context() as patched:
            patched.setattr(simulation, "MOST_BATCHES", 1000)
            part = simulate_cluster(job, cluster)
        assert part.seconds == pytest.approx(whole.seconds, rel=0.03)
        assert part.bottleneck == whole.bottleneck
