"""The operator API under `/operator/v1`, one package per theme. Importing this package declares its endpoints."""

from importlib import import_module
from pkgutil import walk_packages

import api.operator.auth.routes  # noqa: F401 - the reference begins with tokens

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
