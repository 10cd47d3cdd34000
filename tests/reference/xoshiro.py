"""Random numbers as compiled agents draw them, in integers of Python: xoshiro256++ [BV21] and laws on top of it.

Gamma numbers are those of Marsaglia and Tsang (2000) for a shape of at least 1. Normal numbers are those of
Marsaglia's polar method, of which the first of the two is used.
"""

import math

ALL = 2**64 - 1


class Xoshiro:
    """The state is four whole numbers below 2^64."""

    def __init__(self, state):
        self.state = [int(number) for number in state]

    @classmethod
    def seeded_by(cls, rng):
        """From numpy's generator, as every compiled agent that draws."""
        return cls(rng.integers(0, 2**64, 4, dtype="uint64"))

    def bits(self):
        a, b, c, d = self.state
        result = (rotate((a + d) & ALL, 23) + a) & ALL
        shifted = (b << 17) & ALL
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        self.state = [a, b, c ^ shifted, rotate(d, 45)]
        return result

    def uniform(self):
        """The middle of one of 2^53 cells of (0, 1)."""
        return ((self.bits() >> 11) + 0.5) / 2**53

    def exponential(self):
        return -math.log(self.uniform())

    def normal(self):
        while True:
            x = 2 * self.uniform() - 1
            y = 2 * self.uniform() - 1
            square = x * x + y * y
            if 0 < square < 1:
                return x * math.sqrt(-2 * math.log(square) / square)

    def gamma(self, shape):
        if shape == 1:
            return self.exponential()
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self.normal()
            v = (1 + c * x) ** 3
            if v > 0:
                u = self.uniform()
                if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                    return d * v

    def beta(self, a, b):
        x = self.gamma(a)
        return x / (x + self.gamma(b))


def rotate(number, places):
    """The 64 bits of a number, those that leave on the left coming in on the right."""
    return ((number << places) | (number >> (64 - places))) & ALL
