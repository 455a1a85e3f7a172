"""Recipes for the data sets: the upstream files, the conversion, and the SHA-256 of both."""
