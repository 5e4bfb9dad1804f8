"""Accepted sends: list, show, change, pause, resume and cancel them."""
