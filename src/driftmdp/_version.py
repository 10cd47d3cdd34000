"""The package's version, read by the build and by results."""

__version__ = "0.1.0"

# Stands for the numbers that a simulation gives: raised by any change that moves one of them, so that stored
# results of other numbers are never taken for these.
NUMERICS = 3
