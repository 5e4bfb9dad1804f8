"""Statements of months."""
