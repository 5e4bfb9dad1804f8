"""Signing in as a person."""
