"""Decoders that construct sequences, among them answers that no training output has."""
