"""The operator's pages, a module for each theme. Their paths begin with /operator."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from flask import Blueprint, redirect, url_for

from console.pages.navigation import operator_navigation
from console.session import operator

pages = Blueprint("operator", __name__, url_prefix="/operator")

for _module in iter_modules(__path__):
    pages.register_blueprint(import_module(f"{__name__}.{_module.name}").pages)


@pages.get("/")
def start() -> Any:
    """The first page of the menu."""
    return redirect(url_for("operator.accounts.index"))


@pages.context_processor
def names() -> dict[str, Any]:
    """Variables for the templates of these pages: `may` checks the role in the installation."""
    return {
        "may": operator.operator_may,
        "navigation": operator_navigation,
        "operating": True,
        "reason_given": operator.reason,
    }
