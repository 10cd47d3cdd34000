import pytest

from tests.cli.conftest import call
from tests.inventory.logs import DAYS
from tests.inventory.shops import copy_of, create, lines, state, work

__all__ = ["call"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.db"


@pytest.fixture
def shop(path):
    with create(path) as made:
        yield made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A closed log of five days, what follows from it, and its lines."""
    path = tmp_path_factory.mktemp("whole") / "shop.db"
    with create(path) as shop:
        work(shop, DAYS)
        return path, state(shop), lines(shop)


@pytest.fixture
def copy(whole, tmp_path):
    return copy_of(whole[0], tmp_path / "shop.db")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.csv"

    def write(content):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
