"""Patience with the database."""

from tests.integration.conftest import patient_sessions

__all__ = ["patient_sessions"]
