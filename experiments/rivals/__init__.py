"""Comparison of estimators on the same folds: ours, and those that users would pick instead."""
