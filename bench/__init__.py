"""Reproducible benchmarks of the whole service on one machine: `python -m bench NAME [--short]`."""
