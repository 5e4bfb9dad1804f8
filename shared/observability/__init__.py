"""Logs, metrics and traces of this process."""
