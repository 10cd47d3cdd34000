"""The state of a shop, computed from its event log: items, their terms, their last days, what is learned."""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import log_entries as entries
from driftmdp.inventory.calendar_csv import SpecialDay
from driftmdp.inventory.event_log import EventBatch, EventLog
from driftmdp.inventory.learned_demand import Checkpoint, LearnedDemand
from driftmdp.inventory.log_entries import ALWAYS, CALENDAR, DECIDED, ITEMS, SOLD, UNKNOWN, Columns
from driftmdp.inventory.order_engine import OrderEngine
from driftmdp.inventory.periods import days
from driftmdp.inventory.special_days import SpecialDays
from driftmdp.inventory.terms import ItemTerms, Settings, ShopTerms, merged
from driftmdp.kernels.arrays import Longs

SNAPSHOT_VERSION = 5
LEARNED_FROM = ("group", "period", "capacity")  # terms that change what is learned
LAST_DAY = np.dtype([(name, "<i4") for name in ("day", "stock", "sales", "evening")])
GROWTH = 1.5  # of the array, when it is full


class ItemStates:
    """All items of a shop, by number.

    Parameters
    ----------
    shop
        The shop's terms.
    forecaster
        A plug-in of the engine, or None.

    Attributes
    ----------
    numbers, skus, terms
        The number of each name, then names and terms by number.
    own
        Items' own settings, by name. Items that were never sold or counted may have some.
    calendar
        The special days.
    demand
        What is learned of the demand.
    last
        Each item's last day. The array may be longer than there are items. Days count from 0001-01-01. ``stock``
        was counted in the morning, ``sales`` are UNKNOWN until they are recorded, and ``evening`` is what was
        then left.
    last_batch
        The number of the last batch that was applied.
    longest_lead
        The longest lead time that any item ever had.
    """

    def __init__(self, shop: ShopTerms, forecaster: str | None = None) -> None:
        self.shop, self._forecaster = shop, forecaster
        self.numbers: dict[str, int] = {}
        self.skus: list[str] = []
        self.terms: list[ItemTerms] = []
        self.own: dict[str, dict[str, Any]] = {}
        self.calendar = SpecialDays()
        self.demand = LearnedDemand(forecaster)
        self.last = _new_last(0)
        self.last_batch = 0
        self.longest_lead = shop.lead_time
        self.is_unsaved = False  # more was learned than the snapshot has
        self._terms_of: dict[str, ItemTerms] = {}

    def add_items(self, skus: Sequence[str]) -> None:
        """Append new items."""
        terms = [self._item_terms(sku) for sku in skus]
        self.numbers.update((sku, len(self.skus) + place) for place, sku in enumerate(skus))
        self.skus += skus
        self.terms += terms
        self.demand.add_items(skus, terms)
        have, need = self.last.size, len(self.skus)
        if need > have:
            self.last = np.concatenate([self.last, _new_last(max(need, int(GROWTH * have)) - have)])

    def _item_terms(self, sku: str) -> ItemTerms:
        """Return an item's terms. Items with the same settings share them."""
        own = self.own.get(sku, {})
        key = json.dumps(own, sort_keys=True)
        if key not in self._terms_of:
            self._terms_of[key] = self.shop.for_item(own)
            self.longest_lead = max(self.longest_lead, self._terms_of[key].lead_time)
        return self._terms_of[key]

    def check_settings(self, sku: str, given: Settings) -> None:
        """Refuse settings that do not fit the shop's, or the item's records."""
        own = merged(self.own.get(sku, {}), given)
        terms = self.shop.for_item({"pack": 1} | own if self.shop.chooses_packs else own)
        item = self.numbers.get(sku)
        if item is not None and self.terms[item].period != terms.period and self.last["day"][item] != UNKNOWN:
            rule = f"{sku} must keep its period, a {self.terms[item].period}, as it has records"
            raise InvalidInputError(f"{rule}; got {terms.period}. Give the item a new name.")

    # ---- from the log

    def catch_up(self, log: EventLog, use_snapshot: bool = True) -> None:
        """Apply the batches that were not applied yet, only while the log is read or written."""
        snapshot = log.load_snapshot() if use_snapshot and self.last_batch == 0 else None
        if snapshot is not None:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # only a cache: the batches have it all
                self._restore(*snapshot)
        self.is_unsaved |= self.last_batch == 0 and log.number > 0
        for batch in log.batches(after=self.last_batch):
            self._apply_batch(batch)
        self.relearn(log)

    def _apply_batch(self, batch: EventBatch) -> None:
        header, columns = entries.unpack(batch.kind, batch.content)
        if batch.kind == ITEMS:
            self._apply_settings(header["items"])
        elif batch.kind == CALENDAR:
            self._apply_calendar(header["days"])
        else:
            self._add_from_header(header["new"])
            self._apply(batch.kind, date.fromisoformat(batch.day).toordinal(), columns)
        self.last_batch += 1

    def _add_from_header(self, new: Sequence[Any]) -> None:
        """Add a batch's new items. Earlier versions wrote the units in a lot beside the name."""
        for item in new:
            if not isinstance(item, str):
                self.own[item[0]] = {"pack": item[1]}
        self.add_items([item if isinstance(item, str) else item[0] for item in new])

    def append(self, log: EventLog, kind: str, day: int, columns: Columns, new: Sequence[str]) -> None:
        """Add a batch of rows to the log and apply it. The ``new`` items were added already."""
        order = np.argsort(columns["item"], kind="stable")
        ordered = {name: np.asarray(column)[order] for name, column in columns.items()}
        log.append(kind, date.fromordinal(day).isoformat(), entries.pack({"new": list(new)}, ordered))
        self._apply(kind, day, ordered)
        self.last_batch += 1
        self.is_unsaved |= kind == SOLD

    def append_settings(self, log: EventLog, given: Mapping[str, Settings]) -> int:
        """Add items' own settings to the log and apply them; return how many were new."""
        own = self.own
        news = [
            (sku, dict(values))
            for sku, values in given.items()
            if merged(own.get(sku, {}), values) != own.get(sku, {})
        ]
        if news:
            log.append(ITEMS, ALWAYS, entries.pack({"items": news}))
            self._apply_settings(news)
            self.last_batch += 1
        return len(news)

    def append_calendar(self, log: EventLog, lines: Iterable[SpecialDay]) -> int:
        """Add special days to the log and apply them; return how many were new."""
        known = set(self.calendar.lines)
        news = [list(line) for line in lines if line not in known]
        if news:
            log.append(CALENDAR, ALWAYS, entries.pack({"days": news}))
            self._apply_calendar(news)
            self.last_batch += 1
        return len(news)

    def _apply_settings(self, rows: Iterable[tuple[str, Settings]]) -> None:
        for sku, given in rows:
            self.own[sku] = merged(self.own.get(sku, {}), given)
            item = self.numbers.get(sku)
            if item is not None:
                before, self.terms[item] = self.terms[item], self._item_terms(sku)
                self.engine.set_terms(item, self.terms[item])
                if any(getattr(before, name) != getattr(self.terms[item], name) for name in LEARNED_FROM):
                    self.demand.change_past()

    def _apply_calendar(self, rows: Sequence[Sequence[Any]]) -> None:
        self.calendar = self.calendar.with_lines(SpecialDay(*row) for row in rows)
        self.engine.set_calendar(self.calendar.lines)
        self.demand.change_past()

    def _apply(self, kind: str, day: int, columns: Columns) -> None:
        """Apply rows, whose new items were added already."""
        if kind == DECIDED:
            last, items = self.last, columns["item"]
            last["day"][items], last["stock"][items] = day, columns["stock"]
            last["sales"][items] = last["evening"][items] = UNKNOWN
        else:
            self._apply_sales(day, entries.sold_columns(columns, self.shop.lead_time))

    def _apply_sales(self, day: int, sold: Columns) -> None:
        last, items = self.last, sold["item"]
        newest = last["day"][items] <= day
        now = items[newest]
        last["day"][now] = day
        last["stock"][now], last["sales"][now] = sold["stock"][newest], sold["sales"][newest]
        last["evening"][now] = _evening(sold)[newest]
        self.demand.learn(day, items, sold)

    def relearn(self, log: EventLog) -> None:
        """Learn again what is outdated, as the past or the settings changed."""
        what = self.skus, self.terms, self.calendar.lines
        self.is_unsaved |= self.demand.relearn(log, *what, self.shop.lead_time)

    @property
    def engine(self) -> OrderEngine:
        """What is believed of the demand."""
        return self.demand.engine

    # ---- for one morning

    def steps(self, items: Longs) -> Longs:
        """Return the days of a period of items."""
        return np.array([days(self.terms[item].period) for item in items.tolist()], np.int64)

    def lead_times(self, items: Longs) -> Longs:
        """Return the lead times of items."""
        return np.array([self.terms[item].lead_time for item in items.tolist()], np.int64)

    def packs(self, items: Longs) -> Longs:
        """Return the packs of items."""
        return np.array([self.terms[item].pack for item in items.tolist()], np.int64)

    # ---- snapshot

    def as_bytes(self) -> bytes:
        """Return all that follows from the log."""
        described = {
            "version": SNAPSHOT_VERSION,
            "skus": self.skus,
            "own": self.own,
            "calendar": [list(line) for line in self.calendar.lines],
            "longest_lead": self.longest_lead,
        }
        n = len(self.skus)
        header = json.dumps(described, sort_keys=True).encode()
        arrays = self.last[:n].tobytes(), self.demand.learned[:n].tobytes()
        return _joined([header, *arrays, self.engine.as_bytes()])

    def snapshot(self) -> bytes:
        """Return what follows from the log, and checkpoints, which save time when a late day comes."""
        kept = self.demand.checkpoints
        about = json.dumps([(checkpoint.day, checkpoint.items) for checkpoint in kept]).encode()
        return _joined([self.as_bytes(), about, *(checkpoint.engine for checkpoint in kept)])

    def _restore(self, last_batch: int, content: bytes) -> None:
        """Take over a snapshot. One that does not fit raises ValueError, KeyError or TypeError."""
        whole, about, *engines = _parts(memoryview(content))  # views, as there may be hundreds of megabytes
        text, last, learned, engine = _parts(whole)
        header = json.loads(bytes(text))
        if header["version"] != SNAPSHOT_VERSION:
            raise ValueError("the snapshot is of another version")
        found = ItemStates(self.shop, self._forecaster)
        found.own = header["own"]
        found.calendar = SpecialDays(SpecialDay(*line) for line in header["calendar"])
        found.engine.set_calendar(found.calendar.lines)
        found.add_items(header["skus"])
        n = len(found.skus)
        found.last[:n] = np.frombuffer(last, LAST_DAY)
        found.demand.learned[:n] = np.frombuffer(learned, np.int64)
        found.engine.restore(engine)
        pairs = zip(json.loads(bytes(about)), engines, strict=True)
        found.demand.checkpoints = [Checkpoint(day, items, kept) for (day, items), kept in pairs]
        found.last_batch, found.longest_lead = last_batch, header["longest_lead"]
        self.__dict__.update(found.__dict__)


def _joined(parts: Sequence[bytes | memoryview]) -> bytes:
    """Return parts as one, each with its length before it."""
    return b"".join(piece for part in parts for piece in (len(part).to_bytes(8, "little"), part))


def _parts(content: memoryview) -> list[memoryview]:
    """Return the parts of what ``_joined`` made."""
    parts, place = [], 0
    while place < len(content):
        end = place + 8 + int.from_bytes(content[place : place + 8], "little")
        parts.append(content[place + 8 : end])
        place = end
    if place != len(content):
        raise ValueError("the snapshot has the wrong length")
    return parts


def _evening(sold: Columns) -> Longs:
    """Return what is left in the evening, UNKNOWN without a count."""
    there = entries.on_sale(sold)
    left = np.clip(there - sold["sales"], 0, np.iinfo(np.int32).max)
    return np.where(there == UNKNOWN, UNKNOWN, left)


def _new_last(n: int) -> NDArray[np.void]:
    last = np.zeros(n, LAST_DAY)
    for name in ("day", "sales", "evening"):
        last[name] = UNKNOWN
    return last
