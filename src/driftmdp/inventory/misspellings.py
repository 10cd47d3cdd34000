"""New names that look like names that a shop has.

A name looks like another if both are the same but for

- capitals, accents, spaces and hyphens, ``O`` for ``0``, ``l`` or ``I`` for ``1``, a lost leading zero, or ``.0``
  behind a number, which spreadsheets do, or
- one word, by one letter that is missing, added, another or swapped with the next (in words of eight letters, two).

Codes that differ in other digits are no misspelling, nor are short words: S and M are sizes.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from driftmdp.kernels.arrays import Longs

FEW_NAMES, FEW_SHARE, MOST_NAMES = 10, 0.1, 1000  # new ones among the known: more are a catalogue
SHORTEST_WORD, LONG_WORD = 4, 8  # letters of words that one letter, and two, may be wrong of
CLASSES = 32  # of letters, for a quick comparison
_CONFUSED = str.maketrans("oil", "011")
_GAPS = re.compile(r"(?<!\d)[\s\-_]+|[\s\-_]+(?!\d)")  # but for those between digits
_WORDS = re.compile(r"[^\W\d_]+")


def misspellings(new: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """Return the known name that a new one looks like, for those that look like one.

    Examples
    --------
    >>> from driftmdp.inventory.misspellings import misspellings
    >>> misspellings(["cofee", "7", "A-102", "Shirt M"], ["coffee", "007", "A-101", "Shirt S"])
    {'cofee': 'coffee', '7': '007'}
    """
    if not new or len(new) > min(max(FEW_NAMES, FEW_SHARE * len(known)), MOST_NAMES):
        return {}
    plain: dict[str, str] = {}
    for name in known:
        plain.setdefault(_plain(name), name)
    found = {name: plain[_plain(name)] for name in new if _plain(name) in plain}
    others = [name for name in new if name not in found and _has_long_word(name)]
    if others:
        letters = LetterCounts(known)
        near = (
            (name, next((each for each in letters.near(name) if _is_slip(name, each)), None)) for name in others
        )
        found |= {name: each for name, each in near if each is not None}
    return {name: found[name] for name in new if name in found}


def _plain(name: str) -> str:
    """Return a name without what people and spreadsheets write differently."""
    text = name.casefold()
    if not text.isascii():
        text = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    number = re.fullmatch(r"0*(\d+)(?:\.0+)?", text.strip())
    if number:
        return number[1]
    return _GAPS.sub("", text).translate(_CONFUSED) if len(text) > 1 else text


def _has_long_word(name: str) -> bool:
    return any(len(word) >= SHORTEST_WORD - 1 for word in _WORDS.findall(name))


class LetterCounts:
    """How often each letter is in names, to find few that may be near.

    Parameters
    ----------
    names
        To be searched.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._counts = _counts(self._names)

    def near(self, name: str) -> list[str]:
        """Return names whose letters are at most two insertions, losses or changes away."""
        away = np.abs(self._counts - _counts([name])).sum(axis=1)
        return [self._names[place] for place in np.flatnonzero(away <= 4).tolist()]


def _counts(names: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.int8]]":
    texts = [name.casefold() for name in names]
    signs = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.int64)
    owners: Longs = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    found = np.bincount(owners * CLASSES + signs % CLASSES, minlength=len(texts) * CLASSES)
    return np.minimum(found, 63).astype(np.int8).reshape(len(texts), CLASSES)


def _is_slip(name: str, known: str) -> bool:
    """Return whether two names are the same but for a slip in one word."""
    name, known = name.casefold(), known.casefold()
    if _WORDS.sub("\0", name) != _WORDS.sub("\0", known):
        return False
    pairs = zip(_WORDS.findall(name), _WORDS.findall(known), strict=True)
    ((word, right), *more) = [pair for pair in pairs if pair[0] != pair[1]]
    if more or min(len(word), len(right)) < SHORTEST_WORD - 1 or max(len(word), len(right)) < SHORTEST_WORD:
        return False
    return slips(word, right) <= (2 if min(len(word), len(right)) >= LONG_WORD else 1)


def slips(word: str, right: str) -> int:
    """Return how many letters are missing, added, others, or swapped with the next.

    Examples
    --------
    >>> from driftmdp.inventory.misspellings import slips
    >>> slips("cofee", "coffee"), slips("mikl", "milk"), slips("rolls", "bun")
    (1, 1, 5)
    """
    rows = [list(range(len(right) + 1))]
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, other in enumerate(right, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == right[j - 2] and word[i - 2] == other:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
