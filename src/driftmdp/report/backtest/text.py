"""The texts of a backtest's report: its findings, its assumptions, and the names of items as they are shown."""

import math
from collections.abc import Sequence
from dataclasses import asdict

from driftmdp.display import counted
from driftmdp.inventory import RULES, Backtest
from driftmdp.inventory.backtest import BLOCK_DAYS
from driftmdp.inventory.sales_history import WARM_UP
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
    days, n_items = int(backtest.days.sum()), len(backtest.skus)
    size = f"1 item, {counted(days, 'day')}" if n_items == 1 else f"{n_items:,} items, {days:,} item-days"
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
    """Return our cost, and how it compares with that of every other rule."""
    us, name = ours(backtest), RULES[ours(backtest)]
    cost = backtest.cost_per_day(us)
    unit = "per day" if len(backtest.skus) == 1 else "per item and day"
    brackets = "" if math.isnan(cost.low) else " (95% intervals in brackets)"
    sentences = [f"{name[0].upper()}{name[1:]} cost {estimate_text(cost)} {unit}{brackets}."]
    others = ordered(backtest)[1:]
    fair, unfair = ([rule for rule in others if followable(rule) == wanted] for wanted in (True, False))
    if fair:
        sentences.append(f"Against rules that a shop could follow as well: {_against(backtest, fair)}.")
    if unfair:
        sentences.append(f"Against rules that see what no shop can see: {_against(backtest, unfair)}.")
    if not backtest.demand.any():
        return " ".join([*sentences, "There was no demand on the scored days."])
    sentences.append(
        f"It served {percent(backtest.service_level(us))} of the demand, with "
        f"{number(backtest.average_stock(us), 3)} lots on the shelf in the evening on average, and placed "
        f"{counted(backtest.orders_placed(us), 'order')}."
    )
    return " ".join(sentences)


def _against(backtest: Backtest, others: Sequence[str]) -> str:
    parts = []
    for other in others:
        found, name = cost_ratio(backtest, ours(backtest), other), f"the {RULES[other]}"
        parts.append(f"{comparison_text(found)} {name}" if found else f"no ratio, as {name} cost nothing")
    return "; ".join(parts)


def assumptions(backtest: Backtest) -> str:
    """Return what is assumed about costs, shelf, lots and demand."""
    lots = sorted({int(backtest.lots.min()), int(backtest.lots.max())})
    arrival = {0: "at once", 1: "a day later"}.get(backtest.lead_time, f"{backtest.lead_time} days later")
    lot = "A lot is one unit."
    if lots != [1]:
        size = f"{lots[0]:,} to {lots[1]:,} units, by item" if len(lots) == 2 else counted(lots[0], "unit")
        lot = f"A lot is {size}; each day's demand is rounded to whole lots."
    costs = {name: number(cost) for name, cost in asdict(backtest.costs).items()}
    capacity = counted(backtest.capacity, "lot")
    return note("backtest-assumptions", **costs, capacity=capacity, arrival=arrival, lot=lot, warm_up=WARM_UP)


def information(backtest: Backtest) -> str:
    """Return which rules see what no shop can see."""
    unfair = [rule for rule in ordered(backtest) if not followable(rule)]
    if not unfair:
        return "Each rule sees only its own sales."
    listed = "; ".join(f"the {RULES[rule]} ({SEES[rule]})" for rule in unfair)
    return (
        f"Yardsticks, which see what no shop can: {listed}. They also see demand that an empty shelf would hide. "
        "Every other rule sees only its own sales."
    )


def interval_note(backtest: Backtest) -> str:
    """Return what the intervals resample, and what they leave out."""
    n, what = len(backtest.skus), "item"
    text = note("backtest-intervals", block=BLOCK_DAYS)
    if n == 1:
        n, what = backtest.blocks[0].shape[1], "fortnight"
        text = f"Intervals resample the item's fortnights ({BLOCK_DAYS} days)."
    if n == 1:
        return f"There are no intervals: they take at least two fortnights ({2 * BLOCK_DAYS} days) to resample."
    return text if n >= MIN_SAMPLES else f"{text} With {n} {what}s they are narrower than they should be."
