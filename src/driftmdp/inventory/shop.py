"""A shop: advice on orders, records of sales, and explanations.

A shop is an event log (``event_log.py``) and the state computed from it (``item_states.py``), read and written
together. ``decide.py`` and ``record.py`` compute the rows that a command adds to the log.
"""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Self

import numpy as np

from driftmdp.display import counted, listed
from driftmdp.errors import StorageError, UnknownNameError
from driftmdp.inventory.calendar_csv import SpecialDay, checked_calendar
from driftmdp.inventory.change_suppliers import record_suppliers
from driftmdp.inventory.decide import Morning, advice_of, new_advice, unique_counts
from driftmdp.inventory.doubts import (
    Confirm,
    Doubt,
    confirm_all,
    doubtful_days,
    doubtful_names,
    doubtful_sales,
    shop_days,
)
from driftmdp.inventory.event_log import EventLog
from driftmdp.inventory.forecast import DemandForecast, forecast_demand
from driftmdp.inventory.former_names import (
    calendar_by_present_names,
    counts_by_present_names,
    former_names,
    sales_by_present_names,
    settings_by_present_names,
)
from driftmdp.inventory.history import as_series, last_advice, read_events
from driftmdp.inventory.item_settings import NO_END, add_new_items, new_names, not_in_shop, record_settings
from driftmdp.inventory.item_states import ItemStates
from driftmdp.inventory.items_csv import ItemSettings
from driftmdp.inventory.lines import Count, Sold, as_day
from driftmdp.inventory.log_entries import DECIDED, SOLD, UNKNOWN, DayEntries, read_day
from driftmdp.inventory.order_engine import OrderEngine
from driftmdp.inventory.periods import DAY, OrderDays, period_of
from driftmdp.inventory.reason import reason_for
from driftmdp.inventory.record import (
    HowSold,
    beyond_capacity,
    new_sales,
    refuse_unknown,
    sold_when_closed,
)
from driftmdp.inventory.results import Decision, Event, Reason, Receipt
from driftmdp.inventory.sales_history import Series
from driftmdp.inventory.sales_table import SalesTable
from driftmdp.inventory.shop_changes import ShopChanges
from driftmdp.inventory.suppliers import Supplier
from driftmdp.inventory.terms import ItemTerms, ShopTerms, as_closed_days, parsed_setting
from driftmdp.kernels.arrays import Longs
from driftmdp.problems.inventory import Costs
from driftmdp.validation import nearest_name


class Shop(ShopChanges):
    """An open shop. ``with Shop(path) as shop`` closes it again.

    Parameters
    ----------
    path
        Of the database that ``Shop.create`` or ``driftmdp inventory init`` made.

    Attributes
    ----------
    terms
        What items have that say nothing else: costs, capacity, lead time, and so on.

    Raises
    ------
    StorageError
        If it is damaged, was edited, or stays locked by another process.

    Examples
    --------
    >>> from driftmdp.inventory import Costs, Count, Shop, Sold
    >>> import tempfile
    >>> from datetime import date
    >>> monday = date(2026, 11, 16)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Shop.create(f"{folder}/shop.db", Costs(), capacity=20, pack=6) as shop:
    ...         first = shop.decide([Count("A", stock=1)], monday)
    ...         again = shop.decide([Count("A", stock=1)], monday)
    ...         receipt = shop.record([Sold("A", monday, units=1)])
    >>> first.advice == again.advice, first.advice[0].order % 6, receipt.recorded
    (True, 0, 1)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._log = EventLog(path)
        try:
            self.terms, self._forecaster = self._read_terms()
            self._states = self._no_states()
            with self._reading():
                pass
        except BaseException:
            self._log.close()
            raise

    def _read_terms(self) -> tuple[ShopTerms, str | None]:
        settings = self._log.settings
        try:
            return ShopTerms.from_json(settings), settings.get("forecaster")
        except (KeyError, TypeError, ValueError, AttributeError):
            rule = f"{self._log.path} must be a shop's database"
            raise StorageError(f"{rule}; its settings do not fit together.") from None

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        costs: Costs,
        capacity: int | None,
        lead_time: int = 0,
        pack: int | str = 1,
        *,
        minimum: int = 0,
        period: str = DAY,
        order_days: str = "every 1",
        closed_days: str = "",
        service: float | None = None,
        service_measure: str = "units",
        shelf_life: int | None = None,
        waste: float = 0.0,
        forecaster: str | None = None,
    ) -> Self:
        """Make an empty shop and open it. An item may have its own terms, see ``ItemSettings``.

        Parameters
        ----------
        path
            Of the new database. No file may be there yet.
        costs
            Per unit, but for the fixed cost of an order.
        capacity
            Units of each item, on the shelf and on their way. None is no limit.
        lead_time
            Periods from an order to its arrival, 0 to 60.
        pack, minimum
            Orders are multiples of ``pack``, and at least ``minimum``. ``"auto"`` chooses a new item's pack from 60
            days of its sales, which must then be recorded at once. Capacity and costs are then per pack.
        period
            ``"day"`` or ``"week"``.
        order_days
            When orders may be placed: ``"mon,thu"``, ``"every 2"``, or ``"every 2 from 2026-01-05"``, in periods.
        closed_days
            Weekdays without demand, costs and orders: ``"sun"``.
        service, service_measure
            The share of demand to serve, in place of the cost of a lost sale: of ``"units"``, or of ``"periods"``.
        shelf_life, waste
            The periods in which a unit can be sold, and what it costs if it spoils. None: nothing spoils.
        forecaster
            A forecaster of your own, ``module:name``.
        """
        days = parsed_setting("order_days", OrderDays.parse, order_days)
        closed = parsed_setting("closed_days", as_closed_days, closed_days)
        served: tuple[float | None, str] = (service, service_measure)
        terms = ShopTerms(
            costs,
            capacity,
            pack,
            minimum,
            lead_time,
            period,
            days,
            closed,
            *served,
            shelf_life=shelf_life,
            waste=waste,
        )
        OrderEngine(forecaster)  # refuses one that does not exist, before a file is made
        EventLog.create(path, terms.as_json() | ({"forecaster": forecaster} if forecaster else {}))
        return cls(path)

    def close(self) -> None:
        """Close the database."""
        self._log.close()

    def __repr__(self) -> str:
        items = f"{counted(len(self._states.present_skus), 'item')} when last read"
        size = f"capacity {self.terms.capacity}, lead time {self.terms.lead_time}"
        return f"<Shop in {str(self._log.path)!r}: {items}, {size}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def skus(self) -> tuple[str, ...]:
        """The names of all items, in the order in which they came."""
        with self._reading():
            return tuple(self._states.present_skus)

    def present_name(self, sku: str) -> str:
        """Return the name that an item has now, which may have been renamed, or merged into another."""
        with self._reading():
            return self._states.skus[self._item(sku)]

    def today(self) -> date:
        """Return today, or the Monday of this week in a shop whose periods are weeks."""
        return date.fromordinal(period_of(date.today().toordinal(), self.terms.period))

    def terms_of(self, sku: str, day: date | None = None) -> ItemTerms:
        """Return an item's terms on a day, by default today, with the shop's filled in."""
        with self._reading():
            name = self._states.skus[self._item(sku)]
            return self._states.timeline.terms_on(name, (day or date.today()).toordinal())

    def decide(
        self,
        counts: Iterable[Count],
        day: date,
        correct: bool = False,
        strict: bool = False,
        until: date | None = None,
        items: Iterable[ItemSettings] = (),
        calendar: Iterable[SpecialDay] = (),
        suppliers: Iterable[Supplier] = (),
        confirm: Confirm | None = None,
    ) -> Decision:
        """Return what to order on a day. The answer is recorded before it is given.

        Asked again for the same day, the answer is the same.

        Parameters
        ----------
        counts
            What is on the shelf this morning, and perhaps what is coming.
        day
            The day, or the Monday of the week.
        correct
            Let another count, or another end, replace the one that was given for this day.
        strict
            Refuse counts that differ from what the records expect, instead of taking them as the truth.
        until
            The period that contains it is the last that counts.
        items, calendar, suppliers
            Items' own settings, special days, and suppliers' terms, to record first.
        confirm
            Is called with each doubt about the input, and returns whether to go on. By default all doubtful input
            is taken. What was taken is remarked on.

        Raises
        ------
        InvalidInputError
            If a count contradicts the one given before, the day is over, a later day was decided, or a doubt was
            not confirmed.
        """
        given, today = unique_counts(counts), as_day(day).toordinal()
        own, special = tuple(items), checked_calendar(calendar)
        last = UNKNOWN if until is None else as_day(until).toordinal()
        doubts = self._doubts([count.sku for count in given], np.array([today]), own)
        confirm_all(doubts, confirm)
        with self._writing(own, special, suppliers):
            states = self._states
            asked = counts_by_present_names(states, given)
            states.move_to(today)
            new = add_new_items(states, self._log, asked)
            numbers = np.array([states.numbers[count.sku] for count in asked], np.int64)
            morning, before = Morning(today, last, asked, numbers), self._read_day(today)
            columns, remarks = new_advice(states, self._log, morning, before, correct, strict)
            if columns["item"].size:
                states.append(self._log, DECIDED, today, columns, new)
            advice = advice_of(states, morning, self._read_day(today).decided)
        repeated = len(asked) - int(columns["item"].size)
        told = *former_names(states, (count.sku for count in given)), *(doubt.sentence for doubt in doubts)
        told = *not_in_shop(states, own, special), *told, *new_names(states, new, _names_in(doubts))
        return Decision(day, advice, repeated, (*told, *remarks))

    def record(
        self,
        sold: Iterable[Sold],
        correct: bool = False,
        plenty: bool = False,
        demand: bool = False,
        items: Iterable[ItemSettings] = (),
        calendar: Iterable[SpecialDay] = (),
        suppliers: Iterable[Supplier] = (),
        confirm: Confirm | None = None,
    ) -> Receipt:
        """Record what was sold, and learn from it. Recording the same again changes nothing.

        Parameters
        ----------
        sold
            Of any days. A day may come late. A ``SalesTable`` of ``read_sold`` is faster than ``Sold`` objects.
        correct
            Let sales replace what was recorded for the same item and day.
        plenty
            Days of which the stock is unknown were not sold out: for a history of sales without stocks.
        demand
            The units were asked for, and may be more than were sold.
        items, calendar, suppliers
            Items' own settings, special days, and suppliers' terms, to record first.
        confirm
            As for ``decide``.

        Raises
        ------
        InvalidInputError
            If sales contradict what is recorded, the stock is unknown, or a doubt was not confirmed.
        """
        given = sold if isinstance(sold, SalesTable) else SalesTable.of(sold)
        own, special = tuple(items), checked_calendar(calendar)
        how, counts = HowSold(correct, plenty, demand), Counter[str]()
        unknown, oversold = list[str](), list[str]()
        doubts = [*self._doubts(given.skus, np.unique(given.day), own), *doubtful_sales(self._states, given)]
        confirm_all(doubts, confirm)
        with self._writing(own, special, suppliers):
            states = self._states
            table = sales_by_present_names(states, given)
            new = unwritten = add_new_items(states, self._log, table)
            for day, places in table.by_day():
                states.move_to(day)
                found = new_sales(states, day, table, places, self._read_day(day), how)
                counts += found.counts
                unknown += found.unknown
                oversold += found.oversold
                if found.columns["item"].size and not unknown:
                    states.append(self._log, SOLD, day, found.columns, unwritten)
                    unwritten = []
            refuse_unknown(unknown)
        remarks = [
            *not_in_shop(states, own, special),
            *former_names(states, given.skus),
            *(doubt.sentence for doubt in doubts),
            *new_names(states, new, _names_in(doubts)),
            *beyond_capacity(states, table),
            *sold_when_closed(states, table),
        ]
        if oversold:
            what = "More was sold than was there, so a count was wrong; taken as sold out"
            remarks.append(f"{what}: {listed(oversold)}.")
        return Receipt(counts["recorded"], counts["repeated"], counts["corrected"], tuple(remarks))

    def explain(self, sku: str) -> Reason:
        """Return what is believed of an item's demand, the order that follows, and its last advice."""
        name = self.present_name(sku)
        advice = last_advice(self.history(name), name)
        with self._reading():
            return reason_for(self._states, self._log, self._item(sku), advice)

    def forecast(
        self, skus: Sequence[str] | None = None, periods: int = 8, day: date | None = None
    ) -> DemandForecast:
        """Return the demand of coming periods.

        Parameters
        ----------
        skus
            The items. By default all.
        periods
            How many periods.
        day
            The first of them. By default the one after the last recorded.
        """
        with self._reading():
            chosen = self._states.present_skus if skus is None else skus
            numbers = np.array([self._item(sku) for sku in chosen], np.int64)
            start = None if day is None else as_day(day).toordinal()
            return forecast_demand(self._states, numbers, periods, start)

    def history(self, sku: str | None = None) -> Iterator[Event]:
        """Yield what is recorded of one item or of all, in the order in which it was written.

        That is advice and sales, and changes of settings and of the calendar.
        """
        with self._reading():
            states = self._states
            parts = None if sku is None else states.parts_of(self._item(sku))
            group = "" if parts is None else states.terms[parts[0]].group
            batches = list(self._log.batches())  # a slow reader must not hold up the writers
            names = list(states.skus), dict(states.numbers)
        return read_events(batches, *names, parts, group, self.terms.lead_time)

    def sales_of(self, sku: str) -> Series:
        """Return the recorded sales of an item: the last entry of each day."""
        return as_series(self.present_name(sku), self.history(sku))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of the shop as a new file, whole and checked. Others may use the shop meanwhile.

        Raises
        ------
        InvalidInputError
            If there is a file at ``path`` already. It is left as it is.
        StorageError
            If the copy could not be written.
        """
        self._log.backup(path)

    def verify(self) -> bool:
        """Return whether the shop's state equals a replay of the whole event log, to the last bit.

        All pages and the whole chain are checked first, which an opening does for small files only.

        Raises
        ------
        StorageError
            If the file is damaged or was edited.
        """
        self._log.check_all()
        with self._reading():
            replayed = self._no_states()
            replayed.catch_up(self._log, use_snapshot=False)
            return replayed.as_bytes() == self._states.as_bytes()

    def _doubts(self, skus: Iterable[str], days: Longs, items: Iterable[ItemSettings]) -> list[Doubt]:
        """Return doubts about the names and days of a command. Items with settings are no misspellings."""
        with self._reading():
            known, has_settings = self._states.numbers, {item.sku for item in items}
            new = [sku for sku in skus if sku not in known and sku not in has_settings]
            new = [sku for sku in new if not self._states.timeline.own_on(sku, NO_END)]
            shop = shop_days(self._states, self._log.days, date.today().toordinal())
            return [*doubtful_days(shop, days), *doubtful_names(new, known)]

    def _no_states(self) -> ItemStates:
        return ItemStates(self.terms, self._forecaster)

    def _read_day(self, day: int) -> DayEntries:
        return read_day(self._log, day, self.terms.lead_time)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._log.reading():
            self._states.catch_up(self._log)
            yield

    @contextlib.contextmanager
    def _writing(
        self,
        items: Iterable[ItemSettings] = (),
        calendar: Iterable[SpecialDay] = (),
        suppliers: Iterable[Supplier] = (),
    ) -> Iterator[None]:
        """Be the only writer, after new settings. If an error leaves the block, log and state are as they were."""
        try:
            with self._log.writing():
                self._states.catch_up(self._log)
                record_suppliers(self._states, self._log, suppliers)
                record_settings(self._states, self._log, settings_by_present_names(self._states, items))
                self._states.append_calendar(self._log, calendar_by_present_names(self._states, calendar))
                self._states.relearn(self._log)
                yield
                self._states.relearn(self._log)
                if self._states.is_unsaved:
                    self._log.save_snapshot(self._states.snapshot())
                    self._states.is_unsaved = False
        except BaseException:
            self._states = self._no_states()
            with contextlib.suppress(StorageError), self._reading():
                pass
            raise

    def _item(self, sku: str) -> int:
        numbers = self._states.numbers
        if sku not in numbers:
            raise UnknownNameError(f"{self._log.path} has no item {sku!r}.{nearest_name(sku, numbers)}")
        return numbers[sku]


def _names_in(doubts: Iterable[Doubt]) -> set[str]:
    """Return the new names that doubts are about."""
    return {sku for doubt in doubts for sku in doubt.skus}
