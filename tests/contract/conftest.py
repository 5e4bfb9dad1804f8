"""A database for each test module."""

from tests.integration.conftest import engine

__all__ = ["engine"]
