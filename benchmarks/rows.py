"""The rows that a benchmark returns. Their fields are the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

__all__ = ["Row", "Speed", "Verdict", "as_memory", "as_rate", "as_time", "require"]


@dataclass(frozen=True)
class Speed:
    """One measurement with its yardstick and its target."""

    title: ClassVar[str] = "Speed and memory"

    what: str
    ours: str
    yardstick: str
    ratio: str = "-"
    must_reach: str = "-"
    reached: str = "-"
    note: str = ""

    @classmethod
    def against(
        cls,
        what: str,
        seconds: float,
        yardstick: str,
        yardstick_seconds: float,
        must_reach: float | None = None,
        note: str = "",
        unfinished: bool = False,
    ) -> Speed:
        """Return a row with the ratio of two times. ``unfinished`` says that the yardstick was stopped."""
        ratio, bound = yardstick_seconds / seconds, "> " if unfinished else ""
        return cls(
            what,
            as_time(seconds),
            f"{yardstick}: {bound}{as_time(yardstick_seconds)}",
            f"{bound}{_three_digits(ratio)}x",
            "-" if must_reach is None else f"> {must_reach:g}x",
            "-" if must_reach is None else _yes_or_no(ratio > must_reach),
            note,
        )

    @classmethod
    def rate(
        cls,
        what: str,
        per_second: float,
        yardstick: str,
        yardstick_per_second: float,
        must_reach: float | None = None,
        note: str = "",
    ) -> Speed:
        """Return a row with steps per second, and a target rate if one is given."""
        return cls(
            what,
            as_rate(per_second),
            f"{yardstick}: {as_rate(yardstick_per_second)}",
            f"{_three_digits(per_second / yardstick_per_second)}x",
            "-" if must_reach is None else f"> {as_rate(must_reach)}",
            "-" if must_reach is None else _yes_or_no(per_second > must_reach),
            note,
        )

    @classmethod
    def growth(
        cls, what: str, seconds: float, smaller: str, smaller_seconds: float, limit: float, note: str
    ) -> Speed:
        """Return a row for a cost that must not grow by more than a factor from a smaller case."""
        ratio = seconds / smaller_seconds
        return cls(
            what,
            as_time(seconds),
            f"{smaller}: {as_time(smaller_seconds)}",
            f"grows {_three_digits(ratio)}x",
            f"< {limit:g}x",
            _yes_or_no(ratio < limit),
            note,
        )

    @classmethod
    def under(cls, what: str, seconds: float, limit: float | None, yardstick: str = "-", note: str = "") -> Speed:
        """Return a row for a time that must stay under a limit, if one is given."""
        return cls(
            what,
            as_time(seconds),
            yardstick,
            must_reach="-" if limit is None else f"< {as_time(limit)}",
            reached="-" if limit is None else _yes_or_no(seconds < limit),
            note=note,
        )

    @classmethod
    def within(
        cls,
        what: str,
        seconds: float,
        limit: float,
        yardstick: str,
        yardstick_seconds: float,
        most: float,
        note: str = "",
    ) -> Speed:
        """Return a row for a time that must stay under a limit and under a multiple of a yardstick's time."""
        ratio = seconds / yardstick_seconds
        return cls(
            what,
            as_time(seconds),
            f"{yardstick}: {as_time(yardstick_seconds)}",
            f"takes {_three_digits(ratio)}x",
            f"< {as_time(limit)} and < {most:g}x",
            _yes_or_no(seconds < limit and ratio < most),
            note,
        )

    @classmethod
    def memory(cls, what: str, used: int, limit: int | None, yardstick: str, note: str) -> Speed:
        """Return a row for a process's peak memory, which must stay under a limit if one is given."""
        return cls(
            what,
            as_memory(used),
            yardstick,
            must_reach="-" if limit is None else f"< {as_memory(limit)}",
            reached="-" if limit is None else _yes_or_no(used < limit),
            note=note,
        )


@dataclass(frozen=True)
class Verdict:
    """The answer of one solver where the exact answer is known."""

    title: ClassVar[str] = "Periodic chains: the answers"

    chain: str
    solver: str
    exact_gain: str
    returned_gain: str
    verdict: str
    time: str
    note: str = ""


Row: TypeAlias = Speed | Verdict


def as_time(seconds: float) -> str:
    """Return a time with three digits and a readable unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{_three_digits(seconds / 1e-9)} ns"


def as_rate(per_second: float) -> str:
    """Return a number of steps per second with three digits."""
    return f"{_three_digits(per_second / 1e6)} M steps/s"


def as_memory(size: float) -> str:
    """Return a number of bytes with three digits and a readable unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{_three_digits(size / scale)} {unit}"
    return f"{size:.0f} bytes"


def require(correct: bool, message: str) -> None:
    """Fail the run if an answer is wrong."""
    if not correct:
        raise AssertionError(message)


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _yes_or_no(reached: bool) -> str:
    return "yes" if reached else "NO"
