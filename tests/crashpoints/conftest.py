"""Patience with the database."""

from tests.harness.long_sessions import patient_sessions

__all__ = ["patient_sessions"]
