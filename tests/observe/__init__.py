"""Alerts on the running service, with a real Prometheus: `make alerts`."""
