"""A small log, what anyone can do to it, and what it must then say."""

import contextlib
import sqlite3

from driftmdp.errors import DriftmdpError
from driftmdp.inventory import Shop
from tests.inventory.shops import lines, state

DAYS = 5
BATCHES = 2 * DAYS


def change(path, *statements):
    """Do what anyone with sqlite3 can do."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        for trigger in ("batches_are_not_changed", "batches_are_not_removed"):
            database.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            database.execute(statement)
        database.commit()


def opens_as(path, whole):
    """Whether a log opens and says the same as the whole one."""
    with Shop(path) as shop:
        return shop.verify() and state(shop) == whole[1] and lines(shop) == whole[2]


def never_silent(path, whole):
    """Return the sentence a log is refused with; if it is not, it must say what it always said."""
    try:
        assert opens_as(path, whole)
    except DriftmdpError as error:
        return str(error)
    return ""
