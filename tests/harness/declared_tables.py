"""The tables that the code declares."""

from importlib import import_module
from pkgutil import iter_modules

import shared.db.tables
from shared.db.tables.base import metadata

for module in iter_modules(shared.db.tables.__path__):
    import_module(f"shared.db.tables.{module.name}")

__all__ = ["metadata"]
