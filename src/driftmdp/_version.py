"""The package's version, read by the build and by results."""

__version__ = "0.1.0"
