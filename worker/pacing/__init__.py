"""Rates of carriers and the circuit breakers before them."""
