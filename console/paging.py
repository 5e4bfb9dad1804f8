"""The page of a list that was asked for."""

from flask import request

LIMIT = 50


def paging() -> dict[str, str | int | None]:
    """`limit` and `cursor` for the API."""
    return {"limit": LIMIT, "cursor": request.args.get("cursor") or None}
