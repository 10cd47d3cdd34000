"""Every docstring example runs in an empty namespace, as when it is pasted into a fresh Python."""

import pytest


def pytest_collection_modifyitems(items):
    """Empty the namespace of every docstring example."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.dtest.globs = {"__name__": "__main__"}
