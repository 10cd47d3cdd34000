"""The texts of a backtest's report: its findings, its assumptions, and the names of items as they are shown."""

import math
from collections.abc import Sequence
from dataclasses import replace

from driftmdp.display import counted
from driftmdp.inventory import Backtest
from driftmdp.inventory.ordering_rules import OWN, TITLES
from driftmdp.inventory.periods import EVERY_PERIOD, WEEK
from driftmdp.inventory.sales_history import warm_up
from driftmdp.inventory.scores import BLOCK_PERIODS
from driftmdp.inventory.terms import ItemTerms, ShopTerms
from driftmdp.kernels.yardstick_rules import MOST_LEVELS
from driftmdp.report.backtest.comparison import SEES, cost_ratio, followable, ordered, ours
from driftmdp.report.text import interval_text, note, number
from driftmdp.statistics import Interval

MIN_SAMPLES = 10  # with fewer, a bootstrap interval is too narrow
MAX_NAME_LENGTH = 60  # characters, in a table
MAX_DRAWN_NAME_LENGTH = 40
REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    r"""Return a text on one line, without characters that control how it is shown.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import printable
    >>> printable("a\tb\x00c") == "a b\ufffdc"
    True
    """
    return "".join(c if c.isprintable() else " " if c.isspace() else REPLACEMENT for c in text)


def shown_name(name: str, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a printable name. One that is too long is cut in the middle.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import shown_name
    >>> shown_name("85123A"), shown_name("a very long name, number 7", max_length=12)
    ('85123A', 'a very l…r 7')
    """
    text, tail = printable(name), max_length // 4
    return text if len(text) <= max_length else f"{text[: max_length - tail - 1]}…{text[-tail:]}"


def drawable_name(name: str) -> str:
    """Return a short name in characters that the figures' font has.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import drawable_name
    >>> drawable_name("Tasse é"), drawable_name("\u6f22") == "\ufffd"
    ('Tasse é', True)
    """
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))  # part of matplotlib
    shown = shown_name(name, MAX_DRAWN_NAME_LENGTH)
    return "".join(c if font.get_char_index(ord(c)) else REPLACEMENT for c in shown)


def title(backtest: Backtest) -> str:
    """Return the title of the report."""
    periods, n_items, period = int(backtest.periods.sum()), len(backtest.skus), backtest.terms.period
    size = (
        f"1 item, {counted(periods, period)}" if n_items == 1 else f"{n_items:,} items, {periods:,} item-{period}s"
    )
    return f"Inventory backtest: {size}"


def estimate_text(found: Interval) -> str:
    """Return an estimate with its interval, if there is one.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import estimate_text
    >>> from driftmdp.statistics import Interval
    >>> estimate_text(Interval(1.5, float("nan"), float("nan"), 0.95)), estimate_text(Interval(1.5, 1, 2, 0.95))
    ('1.5', '1.50 [1.00, 2.00]')
    """
    return number(found.estimate) if math.isnan(found.low) else interval_text(found)


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import percent
    >>> percent(0.73045)
    '73.0%'
    """
    return f"{100 * share:.1f}%"


def comparison_text(found: Interval) -> str:
    """Return a ratio of costs as how much more or less, with its interval.

    Examples
    --------
    >>> from driftmdp.report.backtest.text import comparison_text
    >>> from driftmdp.statistics import Interval
    >>> comparison_text(Interval(1.018, 1.012, 1.023, 0.95))
    '1.8% more [1.2% to 2.3%] than'
    >>> comparison_text(Interval(0.99, 0.97, 1.01, 0.95))
    '1.0% less [3.0% less to 1.0% more; too close to call] than'
    """
    estimate = _more(found.estimate)
    if math.isnan(found.low) or found.low == found.high:
        return "exactly as much as" if found.estimate == 1 else f"{estimate} than"
    if found.low <= 1 <= found.high:
        return f"{estimate} [{_more(found.low)} to {_more(found.high)}; too close to call] than"
    nearer, further = sorted((found.low, found.high), key=lambda ratio: abs(ratio - 1))
    return f"{estimate} [{_more(nearer).split()[0]} to {_more(further).split()[0]}] than"


def _more(ratio: float) -> str:
    if not math.isfinite(ratio):
        return "without bound more" if ratio > 0 else "without bound less"
    return f"{100 * abs(ratio - 1):,.1f}% {'less' if ratio < 1 else 'more'}"


def findings(backtest: Backtest) -> str:
    """Return how our cost compares with that of every other rule, and what we served."""
    us, others = ours(backtest), ordered(backtest)[1:]
    sentences = []
    fair, unfair = ([rule for rule in others if followable(rule) == wanted] for wanted in (True, False))
    if fair:
        sentences.append(f"Against rules that a shop could follow as well: {_against(backtest, fair)}.")
    if unfair:
        sentences.append(f"Against rules that see what no shop can see: {_against(backtest, unfair)}.")
    if not backtest.demand.any():
        return " ".join([*sentences, f"There was no demand on the scored {backtest.terms.period}s."])
    sentences.append(
        f"It served {percent(backtest.service_level(us))} of the demand, with "
        f"{number(backtest.average_stock(us), 3)} units of an item on the shelf in the evening on average, and "
        f"placed {counted(backtest.orders_placed(us), 'order')}."
    )
    return " ".join(sentences)


def _against(backtest: Backtest, others: Sequence[str]) -> str:
    parts = []
    for other in others:
        found, name = (
            cost_ratio(backtest, ours(backtest), other),
            TITLES[other] if other == OWN else f"the {TITLES[other]}",
        )
        parts.append(f"{comparison_text(found)} {name}" if found else f"no ratio, as {name} cost nothing")
    return "; ".join(parts)


def assumptions(backtest: Backtest) -> str:
    """Return what is assumed about costs, shelf, packs and demand."""
    terms = backtest.terms
    good, period = "pack" if terms.per_pack else "unit", terms.period
    shortage = f"a lost sale {number(terms.costs.lost_sale)} per {good}"
    if terms.service is not None:
        what = "demand" if terms.service_measure == "units" else f"{period}s"
        shortage = f"{percent(terms.service)} of {what} should be served, and lost sales are not counted as cost"
    arrival = "at once" if terms.lead_time == 0 else f"{counted(terms.lead_time, period)} later"
    days = (
        "" if terms.order_days == EVERY_PERIOD else f" Orders are placed on order days only ({terms.order_days})."
    )
    if any(_has_own_terms(terms, path.terms) for path in backtest.paths):
        days += " Some items have terms of their own."
    if any(not path.terms.shared_order.is_alone for path in backtest.paths):
        days += note("backtest-shared-orders")
    shelf = "may hold any number" if terms.capacity is None else f"holds {counted(terms.capacity, good)}"
    return note(
        "backtest-assumptions",
        fixed=number(terms.costs.fixed),
        unit=number(terms.costs.unit),
        holding=number(terms.costs.holding),
        good=good,
        shortage=shortage,
        shelf=shelf,
        arrival=arrival,
        packs=_packs_text(backtest) + days,
        warm_up=counted(warm_up(period), period),
    )


def _has_own_terms(shop: ShopTerms, terms: ItemTerms) -> bool:
    own = {"pack": terms.pack} if shop.chooses_packs else {}
    return replace(terms, group="") != shop.for_item(own)


def _packs_text(backtest: Backtest) -> str:
    sizes = sorted({int(backtest.packs.min()), int(backtest.packs.max())})
    minimum = backtest.terms.minimum
    least = f" of at least {counted(minimum, 'unit')}" if minimum > 1 else ""
    if sizes == [1]:
        return f" Orders are in whole units{least}."
    size = f"{sizes[0]:,} to {sizes[1]:,} units, by item" if len(sizes) == 2 else counted(sizes[0], "unit")
    return f" Orders are whole packs of {size}{least and ','}{least}."


def information(backtest: Backtest) -> str:
    """Return which rules see what no shop can see."""
    unfair = [rule for rule in ordered(backtest) if not followable(rule)]
    bound = "" if backtest.lowest is None else note("backtest-lowest")
    if not unfair:
        return f"Each rule sees only its own sales.{_grid_note(backtest)}{bound}"
    listed = "; ".join(f"the {TITLES[rule]} ({SEES[rule]})" for rule in unfair)
    return (
        f"Yardsticks, which see what no shop can: {listed}. They also see demand that an empty shelf would hide. "
        f"Every other rule sees only its own sales.{_grid_note(backtest)}{bound}"
    )


def _grid_note(backtest: Backtest) -> str:
    """Return how levels are sought where there are too many to try all of them."""
    packs = (path.terms.capacity and path.terms.capacity // path.terms.pack for path in backtest.paths)
    if all(most is not None and most <= MOST_LEVELS for most in packs):
        return ""
    return f" On shelves for more than {MOST_LEVELS} packs, s and S are sought on a grid, and its best is refined."


def block_name(period: str, plural: bool = False) -> str:
    """Return what the periods are called that are resampled together."""
    if period == WEEK:
        return "four-week blocks" if plural else "four-week block"
    return "fortnights" if plural else "fortnight"


def interval_note(backtest: Backtest) -> str:
    """Return what the intervals resample, and what they leave out."""
    period, n, what = backtest.terms.period, len(backtest.skus), "item"
    size, blocks = counted(BLOCK_PERIODS[period], period), block_name(period, plural=True)
    text = note("backtest-intervals", blocks=blocks, size=size)
    if n == 1:
        n, what = backtest.blocks[0].shape[1], block_name(period)
        text = f"Intervals resample the item's {blocks} ({size})."
    if n == 1:
        least = counted(2 * BLOCK_PERIODS[period], period)
        return f"There are no intervals: they take at least two {blocks} ({least}) to resample."
    return text if n >= MIN_SAMPLES else f"{text} With {n} {what}s they are narrower than they should be."
