"""Experiments beyond the papers: public tasks with published results."""
