"""Experiments beyond the papers: public tasks with figures to beat."""
