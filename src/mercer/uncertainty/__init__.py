"""Answers that say how sure they are: conformal sets, abstention, explanations."""
