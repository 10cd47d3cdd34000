"""The benchmarks, one a file; each has ``run(quick)``, which returns rows."""
