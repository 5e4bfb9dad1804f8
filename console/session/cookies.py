"""Reads the session cookie, whichever of the console's hosts has written it."""

import time

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from itsdangerous import BadSignature


class SessionCookies(SecureCookieSessionInterface):
    """Flask's session cookies, also from a host whose clock is ahead: Flask takes those for expired."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """The session of the request's cookie; an empty one without a valid cookie."""
        serializer, cookie = self.get_signing_serializer(app), request.cookies.get(self.get_cookie_name(app))
        if serializer is None:
            return None
        try:
            content, written_at = serializer.loads(cookie or "", return_timestamp=True)
        except BadSignature:
            return self.session_class()
        is_over = time.time() > written_at.timestamp() + app.permanent_session_lifetime.total_seconds()
        return self.session_class(None if is_over else content)
