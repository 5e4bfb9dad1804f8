"""A person's browser in front of the console: cookies, forms, and the time until the first byte of a page."""

import http.client
import re
import time
import urllib.parse
from html import unescape

from bulksms.local.ports import LOOPBACK

CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
PART = re.compile(r'hx-get="([^"]+)" hx-trigger="every (\d+)s"')


class Browser:
    """One connection that is reused, with the session's cookie. A pause of a minute ends the connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        self.cookie = ""

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def sign_in_by_link(self, token: str) -> None:
        """Sign in by a link. Raises AssertionError if the console refuses it."""
        self._sign_in(f"/sign-in/link/{token}")

    def sign_in(self, email: str, password: str) -> None:
        """Sign in by a password. Raises AssertionError if the console refuses it."""
        self._sign_in("/sign-in", email=email, password=password)

    def get(self, path: str, *, part: bool = False) -> tuple[int, str, float]:
        """Status and body of a page, and the seconds until its first byte. `part`: ask for it as htmx does."""
        begun = time.perf_counter()
        self._connection.request(
            "GET", path, headers={"Cookie": self.cookie} | ({"HX-Request": "true"} if part else {})
        )
        response = self._connection.getresponse()
        first_byte = time.perf_counter() - begun
        return *self._read(response), first_byte

    def _sign_in(self, path: str, **fields: str) -> None:
        form = CSRF.search(self.get(path)[1])
        assert form is not None, f"the page {path} has no form"
        body = urllib.parse.urlencode({"csrf_token": unescape(form.group(1)), **fields})
        self._connection.request(
            "POST", path, body, {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        )
        status, page = self._answer()
        assert status == http.HTTPStatus.FOUND, f"the console refused to sign in with {status}: {page[:200]}"

    def _answer(self) -> tuple[int, str]:
        return self._read(self._connection.getresponse())

    def _read(self, response: http.client.HTTPResponse) -> tuple[int, str]:
        self.cookie = (response.headers.get("Set-Cookie") or self.cookie).partition(";")[0]
        return response.status, response.read().decode()


def next_look(page: str) -> tuple[str, int] | None:
    """The path of the part of a page that refreshes itself, and the seconds until then; None if nothing does."""
    found = PART.search(page)
    return (unescape(found.group(1)), int(found.group(2))) if found else None
