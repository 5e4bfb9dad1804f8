"""Erasure of a person."""
