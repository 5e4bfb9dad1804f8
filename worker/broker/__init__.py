"""Celery's connection to its broker, kept alive."""
