"""Benchmarks: speed and memory as ratios to plain NumPy and SciPy, measured in one run."""
