"""Addresses of the console's own pages."""

from urllib.parse import urlsplit

from flask import current_app
from werkzeug.exceptions import HTTPException


def page_here(wanted: str) -> str:
    """The path and query of a page of this console; empty if the address is of no such page.

    A browser reads `//host`, `/\\host` and slashes with control characters between them as another site.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or "\\" in wanted or not wanted.isprintable():
        return ""
    place = urlsplit(wanted)
    try:
        current_app.url_map.bind("console").match(place.path, "GET")
    except HTTPException:  # no page, or one whose address differs from this
        return ""
    return f"{place.path}?{place.query}" if place.query else place.path
