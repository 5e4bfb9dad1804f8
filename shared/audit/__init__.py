"""Proves the promises of the database: `check.py` runs the rules of `rules/`."""
