import pytest

from tests.cli.conftest import call
from tests.inventory.shops import create

__all__ = ["call"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.db"


@pytest.fixture
def shop(path):
    with create(path) as made:
        yield made
