"""The page of a list that was asked for."""

from typing import Any
from urllib.parse import urlencode

from flask import request

LIMIT = 50
"""Entries of a page."""


def paging(limit: int = LIMIT) -> dict[str, Any]:
    """`limit` and `cursor` for the API."""
    return {"limit": limit, "cursor": request.args.get("cursor") or None}


def page_at(cursor: str | None) -> str:
    """The address of this list at another position, with the same filters; None is its beginning."""
    kept = [(name, value) for name, value in request.args.items(multi=True) if name != "cursor"]
    query = urlencode(kept + ([("cursor", cursor)] if cursor else []))
    return f"{request.path}?{query}" if query else request.path
