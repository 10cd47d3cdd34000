"""The generator of the compiled agents, xoshiro256++ of Blackman and Vigna, in whole numbers."""

import numpy as np

MASK = 2**64 - 1


class Xoshiro:
    """Uniform numbers in (0, 1); the four words of its state are drawn from a numpy generator."""

    def __init__(self, rng):
        self.words = [int(word) for word in rng.integers(0, 2**64, 4, dtype=np.uint64)]

    def random(self):
        a, b, c, d = self.words
        bits = (rotated((a + d) & MASK, 23) + a) & MASK
        c, d = c ^ a, d ^ b
        self.words = [a ^ d, b ^ c, c ^ (b << 17 & MASK), rotated(d, 45)]
        return ((bits >> 11) + 0.5) * 2.0**-53


def rotated(word, places):
    """The 64 bits of a word, moved to the left in a circle."""
    return (word << places | word >> (64 - places)) & MASK
