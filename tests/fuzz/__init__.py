"""Fuzzers: seeded random attacks, each case in a folder of its own, all cases in a child process.

A fuzzer is a module of this package with ``case(rng, folder)``. It makes one case from ``rng`` and raises if the
answer is not allowed. Allowed are success and a :class:`driftmdp.errors.DriftmdpError` with one readable sentence
(:func:`tests.fuzz.harness.answered` checks that). A crash, a hang or a foreign exception fails the test, which
names the case. ``python -m tests.fuzz NAME --seed 0 --first 17 --cases 1`` runs that case again.
"""
