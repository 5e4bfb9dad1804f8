"""Metrics for operators, in the Prometheus text format."""
