"""Speed ratios against yardsticks and pip-installable peers, measured in one run on one machine.

``python -m benchmarks`` prints the tables. ``--markdown PATH`` also writes them for the documentation. ``--quick``
uses small sizes to show that everything runs. Names run only those benchmarks. A speed that misses its target is
shown as NO. Only a crash or a wrong answer fails the run.

Each file in ``suite/`` is one benchmark: ``run(quick)`` returns rows. The other files are shared code and scripts
for figures and tables of the documentation, such as ``python -m benchmarks.growth_figure``.
"""
