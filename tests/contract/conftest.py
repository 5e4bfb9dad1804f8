"""A database for each test module, and patience with it."""

from tests.integration.conftest import engine, patient_sessions

__all__ = ["engine", "patient_sessions"]
