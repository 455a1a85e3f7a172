"""Examples of helpers that users do not call.

>>> from mercer.cli.presets import parse_kernel
>>> parse_kernel("spectrum:1-3/normalized")
Spectrum(length=(1, 3)).normalized()
>>> parse_kernel("subsequence:3,0.5 + positions")
Subsequence(length=3, decay=0.5) + Positions()
"""
