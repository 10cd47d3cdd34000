"""Names of items as people read them; a file may call an item anything."""

from __future__ import annotations

LONGEST = 60  # characters of a name in a table
LONGEST_DRAWN = 40
UNKNOWN = "\ufffd"


def printable(text: str) -> str:
    r"""Return a text on one line, without characters that control how it is shown.

    Examples
    --------
    >>> printable("a\tb\x00c") == "a b\ufffdc"
    True
    """
    return "".join(c if c.isprintable() else " " if c.isspace() else UNKNOWN for c in text)


def shown_name(name: str, most: int = LONGEST) -> str:
    """Return a name that is printable and not longer than so much; what is left out is in its middle.

    Examples
    --------
    >>> shown_name("85123A"), shown_name("a very long name, number 7", most=12)
    ('85123A', 'a very l…r 7')
    """
    text = printable(name)
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def drawable_name(name: str, most: int = LONGEST_DRAWN) -> str:
    """Return a short name in characters that the figures' font has.

    Examples
    --------
    >>> drawable_name("Tasse é"), drawable_name("\u6f22") == "\ufffd"
    ('Tasse é', True)
    """
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))  # which matplotlib brings along
    return "".join(c if font.get_char_index(ord(c)) else UNKNOWN for c in shown_name(name, most))
