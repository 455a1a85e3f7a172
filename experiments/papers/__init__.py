"""Experiments for the tables and figures of the papers."""
