"""Addresses of the console's own pages."""

from urllib.parse import urlsplit

from flask import current_app, request
from werkzeug.exceptions import HTTPException


def page_here(wanted: str) -> str:
    """The path and query of a page of this console; empty if the address is not that of a page.

    Browsers take `//host`, `/\\host` and slashes with control characters between them for another site.
    """
    if not wanted.startswith("/") or wanted.startswith("//") or "\\" in wanted or not wanted.isprintable():
        return ""
    place = urlsplit(wanted)
    try:
        current_app.url_map.bind("console").match(place.path, "GET")
    except HTTPException:  # no page, or one whose address differs from this
        return ""
    return f"{place.path}?{place.query}" if place.query else place.path


def is_here(address: str) -> bool:
    """Whether an absolute URL belongs to this console."""
    try:
        host = urlsplit(address).netloc
    except ValueError:
        return False
    return host in (request.host, urlsplit(current_app.config["CONSOLE_URL"]).netloc)


def page_of_form() -> str:
    """The page that this request's form was on; empty if it is not known, or was a sign-in page."""
    came = request.referrer or ""
    place = urlsplit(came) if is_here(came) else None
    pages = [f"{place.path}?{place.query}" if place else "", request.full_path]
    found = (page_here(page.rstrip("?")) for page in pages if not page.startswith("/sign-in"))
    return next(filter(None, found), "")
