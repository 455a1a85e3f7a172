"""Kernels on strings and other sequences of symbols."""
