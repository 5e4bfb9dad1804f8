"""Tokens of operators."""
