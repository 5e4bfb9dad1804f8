"""A database for each test module, and patience with it."""

from tests.harness.long_sessions import patient_sessions
from tests.integration.conftest import engine

__all__ = ["engine", "patient_sessions"]
