"""One package per resource. Importing this package declares all endpoints."""

from importlib import import_module
from pkgutil import walk_packages

import api.resources.sms.routes  # noqa: F401 - the reference begins with sending

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
