"""The page of a list that was asked for."""

from typing import Any

from flask import request

LIMIT = 50


def paging(limit: int = LIMIT) -> dict[str, Any]:
    """`limit` and `cursor` for the API."""
    return {"limit": limit, "cursor": request.args.get("cursor") or None}
