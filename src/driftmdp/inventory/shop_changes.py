"""The commands that change what a shop has recorded: ``Shop`` has them all."""

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import date

import numpy as np

from driftmdp.inventory.calendar_csv import SpecialDay, checked_calendar
from driftmdp.inventory.change_names import merge_items, rename_item
from driftmdp.inventory.change_suppliers import record_suppliers
from driftmdp.inventory.change_terms import change_terms, checked_values
from driftmdp.inventory.decide import late_orders
from driftmdp.inventory.delivered_csv import Delivery
from driftmdp.inventory.doubts import Confirm, Doubt, confirm_all
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.former_names import calendar_by_present_names, former_names
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.lines import as_day
from driftmdp.inventory.log_entries import ADVICE, DELIVERIES, RECEIVED, SALES, WITHDRAWN, DayEntries
from driftmdp.inventory.receive import DeliveryCheck, more_than_open, new_deliveries, unique_deliveries
from driftmdp.inventory.results import Receipt, SettingsChange, Withdrawal
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms import DISCONTINUED, Settings
from driftmdp.inventory.terms_timeline import SHOP
from driftmdp.inventory.withdraw import rows_to_withdraw
from driftmdp.kernels.arrays import Longs


class ShopChanges:
    """What ``Shop`` can change. Each method is one transaction."""

    _log: EventLog
    _states: ItemStates

    def receive(
        self,
        delivered: Iterable[Delivery],
        correct: bool = False,
        supplier: str | None = None,
        day: date | None = None,
        confirm: Confirm | None = None,
    ) -> Receipt:
        """Tell what came of what was ordered, and what did not. Telling the same again changes nothing.

        From the first line of an item on, its orders are open until it is told that they came. How late they come
        is learned, and planned for.

        Parameters
        ----------
        delivered
            Lines of any days.
        correct
            Let lines replace what was told of the same item, day and order.
        supplier
            The lines are all that came from this supplier: what was due of its other items did not come.
        day
            The day of the supplier's delivery, where there are no lines at all.
        confirm
            As for ``decide``.

        Raises
        ------
        UnknownNameError
            If there is no such item, or supplier.
        InvalidInputError
            If lines contradict what was told, name an order that does not exist, or a doubt was not confirmed.
        """
        days = unique_deliveries(delivered)
        if supplier is not None and day is not None:
            days.setdefault(as_day(day), [])
        counts = Counter[str]()
        doubts = self._doubts((), np.array([when.toordinal() for when in days], np.int64), ())
        confirm_all(doubts, confirm)
        remarks = [doubt.sentence for doubt in doubts]
        with self._writing():
            states = self._states
            check = DeliveryCheck(states, self._log, supplier)
            for when, lines in days.items():
                number = when.toordinal()
                states.move_to(number)
                said = check.items(lines)
                found = new_deliveries(states, number, said, check.missing(number, lines), correct)
                counts += found.counts
                items = found.columns["item"]
                if items.size:
                    states.append(self._log, RECEIVED, number, found.columns, ())
                    remarks += more_than_open(states, number, items)
            told = {line.sku for lines in days.values() for line in lines if line.sku in states.numbers}
            remarks = [*former_names(states, told), *remarks]
            last = max(days, default=date.min).toordinal()
            remarks += late_orders(states, last, np.array([states.numbers[sku] for sku in sorted(told)], np.int64))
        return Receipt(counts["recorded"], counts["repeated"], counts["corrected"], tuple(remarks))

    def withdraw(
        self, day: date, skus: Iterable[str] | None = None, orders: bool = False, deliveries: bool = False
    ) -> Withdrawal:
        """Take back a day that was recorded wrongly, so that it can be recorded again.

        Its sales are taken back. Where an item has advice of that day but never had sales, count and advice are
        taken back, and where it has neither, what was told of its deliveries. Advice of later days stays as it was
        given. Withdrawing again changes nothing.

        Parameters
        ----------
        day
            The day, or the Monday of the week.
        skus
            The items. By default all that have records of the day.
        orders
            Take back count and advice too, and so what is on its way.
        deliveries
            Take back what was told of deliveries, and nothing else.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidInputError
            If the day never had records of an item.
        """
        when = as_day(day).toordinal()
        with self._writing():
            asked = None if skus is None else np.array([self._item(sku) for sku in skus], np.int64)
            rows = rows_to_withdraw(self._states, self._log, when, self._read_day(when), asked, orders, deliveries)
            if rows["item"].size:
                self._states.append(self._log, WITHDRAWN, when, rows, ())
        what = rows["what"]
        return Withdrawal(day, *(int((what & each != 0).sum()) for each in (SALES, ADVICE, DELIVERIES)))

    def set_terms(
        self,
        values: Settings,
        skus: Iterable[str] = (),
        first_day: date | None = None,
        calendar: Iterable[SpecialDay] = (),
        forgotten: Iterable[date] = (),
        suppliers: Iterable[Supplier] = (),
    ) -> SettingsChange:
        """Change settings from a day on, and special days.

        Advice of a day is given by the settings of that day. What is learned from sales is learned again from the
        first day on, if it depends on what changed. On a day, the settings that were written last count.

        Parameters
        ----------
        values
            By name, as in ``ItemSettings``. The shop has no group and no period, but ``closed_days``, a text.
        skus
            The items. By default the shop's own settings change, which items have that say nothing else.
        first_day
            From when on they hold. By default today. A group or a period holds for the whole past.
        calendar
            Special days to add.
        forgotten
            Dates whose special days were entered by mistake. With ``skus``, only those of these items alone.
        suppliers
            Terms of suppliers, from the first day on.

        Raises
        ------
        InvalidInputError
            If a setting does not exist, or does not fit the others on some day.
        """
        names, lines = tuple(dict.fromkeys(skus)) or (SHOP,), checked_calendar(calendar)
        checked, today = checked_values(names, values), self.today().toordinal()
        first = None if first_day is None else as_day(first_day).toordinal()
        days = {as_day(day).toordinal() for day in forgotten}
        with self._writing():
            states = self._states
            names = tuple(name if name == SHOP else states.skus[self._item(name)] for name in names)
            special = calendar_by_present_names(states, lines)
            changed = change_terms(states, self._log, names, first, today, checked) if checked else 0
            gone = [line for line in states.calendar.lines if line.day in days]
            gone = [line for line in gone if SHOP in names or line.sku in names]
            moved = record_suppliers(states, self._log, suppliers, today if first is None else first)
            return SettingsChange(changed, states.append_calendar(self._log, special, gone), moved)

    def discontinue(self, skus: Iterable[str], first_day: date | None = None, undo: bool = False) -> int:
        """Order items no more, from a day on. Return how many changed.

        They are not missed among a morning's counts any more. What is left may be counted, sold and recorded.

        Parameters
        ----------
        skus
            The items.
        first_day
            The first day without orders. By default today.
        undo
            Order them again from that day on.
        """
        first = (self.today() if first_day is None else as_day(first_day)).toordinal()
        with self._writing():
            names = [self._states.skus[self._item(sku)] for sku in skus]
            values = {DISCONTINUED: None if undo else True}
            return self._states.append_terms(self._log, list(dict.fromkeys(names)), first, values)

    def rename(self, old: str, new: str) -> bool:
        """Give an item another name; return whether it did not have it.

        Records, settings and special days go with it. The old name still stands for the item.

        Raises
        ------
        UnknownNameError
            If there is no item ``old``.
        InvalidInputError
            If another item has, or had, the new name. ``merge`` joins the two.
        """
        with self._writing():
            return rename_item(self._states, self._log, self._item(old), new)

    def merge(self, old: str, into: str) -> bool:
        """Let two items be one; return whether they were two.

        What both counted, ordered and sold on a day adds up. The settings of ``into`` hold, and its name. The old
        name stands for it from then on. Advice that was given stays as it was.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidInputError
            If one is sold by the day and the other by the week.
        """
        with self._writing():
            return merge_items(self._states, self._log, self._item(old), self._item(into))

    # ---- of Shop

    def today(self) -> date:
        """Return today, or the Monday of this week in a shop whose periods are weeks."""
        raise NotImplementedError

    def _writing(
        self,
        items: Iterable[ItemSettings] = (),
        calendar: Iterable[SpecialDay] = (),
        suppliers: Iterable[Supplier] = (),
    ) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _read_day(self, day: int) -> DayEntries:
        raise NotImplementedError

    def _doubts(self, skus: Iterable[str], days: Longs, items: Iterable[ItemSettings]) -> list[Doubt]:
        raise NotImplementedError

    def _item(self, sku: str) -> int:
        raise NotImplementedError
