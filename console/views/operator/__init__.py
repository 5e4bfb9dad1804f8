"""The operator's pages, a module for each theme. Their paths begin with /operator."""

from typing import Any

from flask import Blueprint, redirect, url_for

from console.pages.navigation import operator_navigation
from console.session import operator
from console.views.operator import (
    access,
    accounts,
    carriers,
    changes,
    doubts,
    inbound,
    installation,
    margin,
    messages,
    prices,
    queue,
    sender_ids,
)

pages = Blueprint("operator", __name__, url_prefix="/operator")

for _theme in (
    access,
    accounts,
    carriers,
    changes,
    doubts,
    inbound,
    installation,
    margin,
    messages,
    prices,
    queue,
    sender_ids,
):
    pages.register_blueprint(_theme.pages)


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
