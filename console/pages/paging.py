"""The page of a list that was asked for."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from flask import render_template, request

from console.pages.forms import Form

LIMIT = 50
"""Entries of a page."""


def paging(limit: int = LIMIT) -> dict[str, Any]:
    """`limit` and `cursor` for the API."""
    return {"limit": limit, "cursor": request.args.get("cursor") or None}


def listed(template: str, ask: Callable[..., Any], filters: tuple[str, ...], **shown: Any) -> Any:
    """The response with a page of a list, by the filters in the query, each of which is a field of its form."""
    form = Form({name: request.args.get(name, "") for name in filters})
    page = form.page(lambda: ask(**{name: form.text(name) for name in filters}, **paging()))
    return render_template(template, page=page, form=form, **shown), 400 if form.wrong else 200


def page_at(cursor: str | None) -> str:
    """The address of this list at another position, with the same filters; None is its beginning."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name != "cursor"]
    query = urlencode(kept + ([("cursor", cursor)] if cursor else []))
    return f"{request.path}?{query}" if query else request.path
