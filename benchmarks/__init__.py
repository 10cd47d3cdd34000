"""Speed ratios against yardsticks and pip-installable peers, measured in one run on one machine.

``python -m benchmarks`` prints the tables, ``--markdown PATH`` also writes them for the documentation, ``--quick``
uses small sizes to show that everything runs, and names run only those benchmarks. A speed that falls short is
shown as NO; only a crash or a wrong answer fails the run.

Each file in ``suite/`` is one benchmark: ``run(quick)`` returns rows. The other files are what they share, but for
``growth_figure``, which draws a figure of the documentation: ``python -m benchmarks.growth_figure``.
"""
