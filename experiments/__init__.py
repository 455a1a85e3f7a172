"""Experiments on the papers and beyond, benchmarks and baselines; run from a clone by ``python -m experiments``."""
