"""Headers against clickjacking, inline code and leaks, and CSRF protection for every form."""

from flask import Flask, Response
from flask_wtf.csrf import CSRFProtect

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ONE_YEAR = 31_536_000
"""Seconds for which a browser may keep what cannot change any more."""


def secure(app: Flask, tls: bool) -> None:
    """Protect every response and every form. `tls`: people reach the console over TLS."""
    CSRFProtect(app)
    app.config.update(
        SESSION_COOKIE_NAME="__Host-console" if tls else "console",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=tls,
        WTF_CSRF_TIME_LIMIT=None,  # a form is valid as long as its session
    )

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        if tls:
            response.headers["Strict-Transport-Security"] = f"max-age={ONE_YEAR}"
        if not response.headers.get("Cache-Control"):
            response.headers["Cache-Control"] = "no-store"
        return response
