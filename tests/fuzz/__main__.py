"""``python -m tests.fuzz NAME [--seed N] [--first K] [--cases N]``: run the cases of a fuzzer."""

import argparse
import sys

from tests.fuzz.harness import run_cases

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
parser.add_argument("name", help="a module of tests/fuzz, such as csv_files")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--first", type=int, default=0, help="the number of the first case")
parser.add_argument("--cases", type=int, default=100)
given = parser.parse_args()
sys.exit(1 if run_cases(given.name, given.seed, given.first, given.cases) else 0)
