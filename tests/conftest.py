"""Shared settings: property-based tests are deterministic, and the files that take longest begin first."""

import pytest
from hypothesis import HealthCheck, settings

# By the sum of their tests. A worker that begins one of them last keeps the others waiting.
LONGEST = (
    "test_document_blocks.py",
    "test_mutations.py",
    "test_dask.py",
    "test_page.py",
    "test_runner.py",
    "test_checks.py",
    "test_conformance.py",
    "test_cluster.py",
    "test_claims.py",
    "test_processes.py",
    "test_cli.py",
    "test_trust.py",
    "test_documents.py",
    "test_warm.py",
)

settings.register_profile(
    "driftmdp",
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("driftmdp")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files begin first."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))
