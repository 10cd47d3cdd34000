"""The benchmarks, one per file. Each has ``run(quick)``, which returns rows."""
