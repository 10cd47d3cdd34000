"""The commands that change what a shop has recorded: ``Shop`` has them all."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import date

import numpy as np

from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.lines import as_day
from driftmdp.inventory.log_entries import ADVICE, SALES, WITHDRAWN, DayEntries
from driftmdp.inventory.results import Withdrawal
from driftmdp.inventory.withdraw import rows_to_withdraw


class ShopChanges:
    """What ``Shop`` can change. Each method is one transaction."""

    _log: EventLog
    _states: ItemStates

    def withdraw(self, day: date, skus: Iterable[str] | None = None, orders: bool = False) -> Withdrawal:
        """Take back a day that was recorded wrongly, so that it can be recorded again.

        Its sales are taken back. Where an item has advice of that day but never had sales, count and advice are
        taken back. Advice of later days stays as it was given. Withdrawing again changes nothing.

        Parameters
        ----------
        day
            The day, or the Monday of the week.
        skus
            The items. By default all that have records of the day.
        orders
            Take back count and advice too, and so what is on its way.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidInputError
            If the day never had records of an item.
        """
        when = as_day(day).toordinal()
        with self._writing((), ()):
            asked = None if skus is None else np.array([self._item(sku) for sku in skus], np.int64)
            rows = rows_to_withdraw(self._states, self._log, when, self._read_day(when), asked, orders)
            if rows["item"].size:
                self._states.append(self._log, WITHDRAWN, when, rows, ())
        what = rows["what"]
        return Withdrawal(day, int((what & SALES != 0).sum()), int((what & ADVICE != 0).sum()))

    # ---- of Shop

    def _writing(
        self, items: Iterable[ItemSettings], calendar: Iterable[SpecialDay]
    ) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _read_day(self, day: int) -> DayEntries:
        raise NotImplementedError

    def _item(self, sku: str) -> int:
        raise NotImplementedError
