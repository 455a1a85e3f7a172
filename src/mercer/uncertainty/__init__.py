"""Uncertainty of predictions: conformal sets, abstention, explanations."""
