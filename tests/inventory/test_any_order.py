"""Any order of anything, beside a model in memory."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from driftmdp.errors import InvalidInputError
from driftmdp.inventory import (
    Count,
    Shop,
    Sold,
)
from driftmdp.inventory.order_engine import OrderEngine
from tests.inventory.shops import Oracle, create, day

ROOT = Path(__file__).parents[2]


# ---- any order of anything, beside a model in memory


class AnyDays(RuleBasedStateMachine):
    """Mornings and evenings of a few items, right and wrong, in any order; a dict of daily sales knows better."""

    lead_time, pack, folder = 0, 1, None
    count = 0

    @initialize()
    def begin(self):
        AnyDays.count += 1
        self.path = self.folder / f"{type(self).__name__}-{self.lead_time}-{self.pack}-{AnyDays.count}.db"
        self.shop = create(self.path, self.lead_time, self.pack)
        self.oracle = Oracle(self.lead_time, pack=self.pack)
        self.decisions, self.last, self.told = {}, {}, {}

    def teardown(self):
        if hasattr(self, "shop"):
            self.shop.close()

    items = st.sampled_from(["A", "=B", "C"])
    days = st.sampled_from([0, 1, 2, 3, 4, 30, 31, 60, 61])  # over several checkpoints
    mostly = st.sampled_from([True, True, True, False])
    units = st.sampled_from([0, 1, 2, 12])

    @rule(sku=items, n=days, stock=units, correct=mostly)
    def decide(self, sku, n, stock, correct):
        when, key = day(n), (sku, day(n))
        known = self.decisions.get(key)
        allowed = known is not None and known[0] == stock
        is_new = not allowed and (known is None or correct)
        is_new = is_new and key not in self.oracle.daily_sales and (correct or self.last.get(sku, when) <= when)
        try:
            (advice,) = self.shop.decide([Count(sku, stock)], when, correct=correct).advice
        except InvalidInputError:
            assert not allowed
            assert not is_new
            return
        assert allowed or is_new
        if allowed:
            assert advice.order == known[1]
        else:
            if self.lead_time < 2:
                assert advice.order == self.oracle.order(self.shop, sku, when, stock)
            self.decisions[key] = stock, advice.order
            self.last[sku] = when

    @rule(
        sku=items,
        n=days,
        sold=units,
        stock=st.none() | units,
        ordered=st.none() | units,
        correct=mostly,
        plenty=mostly,
    )
    def record(self, sku, n, sold, stock, ordered, correct, plenty):
        key = sku, day(n)
        before = self.oracle.daily_sales.get(key)
        known = before or self.decisions.get(key)
        possible = known is not None or stock is not None or plenty
        there = known[0] if known is not None and stock is None else stock
        placed = known[1] if known is not None and ordered is None else ordered
        evening = there, placed if there is None else placed or 0, sold
        allowed = possible and (before in (None, evening) or correct)
        told = Sold(sku, day(n), sold, ordered, stock)
        try:
            receipt = self.shop.record([told], correct=correct, plenty=plenty)
        except InvalidInputError:
            assert not allowed
            return
        assert allowed
        expected = (before is None, before == evening, before not in (None, evening))
        assert (receipt.recorded, receipt.repeated, receipt.corrected) == expected
        self.oracle.daily_sales[key] = evening
        self.told[key] = told
        self.last[sku] = max(self.last.get(sku, day(n)), day(n))

    @precondition(lambda self: self.told)
    @rule(data=st.data(), plenty=st.booleans())
    def tell_again(self, data, plenty):
        """The last sales recorded for a day are repeated, number by number."""
        told = self.told[data.draw(st.sampled_from(sorted(self.told)))]
        receipt = self.shop.record([told], plenty=plenty)
        assert (receipt.recorded, receipt.repeated, receipt.corrected) == (0, 1, 0)

    @rule(sku=items, n=days)
    def open_again(self, sku, n):
        """A file that contradicts itself is refused whole; then a new shop opens the same log."""
        wrong = [Sold("D", day(n), 1, stock=1), *(Sold(sku, day(n), k, stock=2) for k in (1, 2))]
        with pytest.raises(InvalidInputError):
            self.shop.record(wrong)
        self.shop.close()
        self.shop = Shop(self.path)

    @invariant()
    def agree(self):
        if hasattr(self, "shop"):
            assert self.shop.verify()
            assert set(self.shop.skus) == {sku for sku, _ in (*self.decisions, *self.oracle.daily_sales)}
            assert self.oracle.agrees(self.shop)


QUICK = settings(max_examples=7, stateful_step_count=35, phases=[Phase.generate])  # to shrink is slow


@pytest.mark.parametrize(("lead_time", "pack"), [(0, 4), (2, 3)])
def test_any_order_of_anything_leads_to_what_the_evenings_say(tmp_path, lead_time, pack):
    AnyDays.lead_time, AnyDays.pack, AnyDays.folder = lead_time, pack, tmp_path
    run_state_machine_as_test(AnyDays, settings=QUICK)


class ChainedEngine(OrderEngine):
    """An engine that remembers every call to learn, in its order, and shares all it learns."""

    chain, last = bytes(32), 0

    def is_current(self, day):
        return day > self.last

    def learn(self, day, items, seen, on_sale, units):
        self.last = day
        told = repr((day, items.tolist(), seen.tolist(), on_sale.tolist(), units.tolist()))
        self.chain = hashlib.sha256(self.chain + told.encode()).digest()
        super().learn(day, items, seen, on_sale, units)

    def as_bytes(self):
        return self.chain + self.last.to_bytes(8, "little") + super().as_bytes()

    def restore(self, content):
        super().restore(content[40:])
        self.chain, self.last = bytes(content[:32]), int.from_bytes(content[32:40], "little")


@pytest.mark.parametrize("lead_time", [2])
def test_an_engine_that_shares_learns_each_day_once_in_the_order_of_the_calendar(tmp_path, monkeypatch, lead_time):
    for module in ("driftmdp.inventory.learned_demand", "tests.inventory.shops"):
        monkeypatch.setattr(f"{module}.OrderEngine", ChainedEngine)
    AnyDays.lead_time, AnyDays.pack, AnyDays.folder = lead_time, 1, tmp_path
    run_state_machine_as_test(AnyDays, settings=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(("lead_time", "pack"), [(0, 1), (0, 4), (1, 1), (2, 3)])
def test_any_order_of_anything_at_length(tmp_path, lead_time, pack):
    AnyDays.lead_time, AnyDays.pack, AnyDays.folder = lead_time, pack, tmp_path
    run_state_machine_as_test(AnyDays, settings=settings(max_examples=100, stateful_step_count=60))
