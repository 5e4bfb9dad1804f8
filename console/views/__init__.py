"""The pages, a module for each theme."""

from importlib import import_module
from pkgutil import iter_modules

from flask import Blueprint

THEMES: dict[str, Blueprint] = {
    each.name: import_module(f"{__name__}.{each.name}").pages for each in iter_modules(__path__)
}
OF_NO_ACCOUNT = ("accounts", "me", "oidc", "operator", "sign_in")
PAGES = tuple(THEMES[name] for name in OF_NO_ACCOUNT)
"""Pages of a person, of the operator, and those that need nobody signed in."""
ACCOUNT_PAGES = tuple(pages for name, pages in THEMES.items() if name not in OF_NO_ACCOUNT)
"""Pages of an account: their paths begin with /accounts/<account_id>/<world>."""
