"""Opt-outs."""
