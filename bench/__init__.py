"""Measurements of the whole service on one machine, which anyone can run again: `python -m bench NAME [--short]`."""
