"""Pages that say what went wrong."""

from typing import Any

from bulksms_client.errors import ApiError, Unreachable
from flask import Flask, Response, redirect, render_template, request, session, url_for
from flask_babel import gettext
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from console.current import SignedOut, forget_person
from console.problems import SESSION_OVER, describe


def add_error_pages(app: Flask) -> None:
    """Answer every error with a page, and the end of a session with the page to sign in."""

    @app.errorhandler(SignedOut)
    def signed_out(error: SignedOut) -> Any:
        return _to_sign_in()

    @app.errorhandler(ApiError)
    def refused(error: ApiError) -> Any:
        if error.status == 401 and error.code in SESSION_OVER:
            return _to_sign_in()
        return _page(error.status, describe(error), str(error.problem.get("request_id") or ""))

    @app.errorhandler(Unreachable)
    def unreachable(error: Unreachable) -> Any:
        app.logger.warning("The API does not answer: %s", error)
        return _page(503, gettext("The service does not answer at the moment. Try again shortly."))

    @app.errorhandler(CSRFError)
    def stale_form(error: CSRFError) -> Any:
        return _page(400, gettext("This form is no longer valid. Go back, reload the page, and send it again."))

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Any:
        code = error.code or 500
        if code < 400:
            return error
        texts = {
            404: gettext("There is no such page."),
            405: gettext("This page cannot be used that way."),
            413: gettext("This is too large."),
        }
        return _page(code, texts.get(code, gettext("Something went wrong. Try again.")))


def _page(status: int, text: str, request_id: str = "") -> tuple[str, int]:
    template = "parts/problem.html" if "HX-Request" in request.headers else "error.html"
    return render_template(template, status=status, text=text, request_id=request_id), status


def _to_sign_in() -> Any:
    forget_person()
    session.clear()
    wanted = request.full_path.rstrip("?") if request.method == "GET" and "HX-Request" not in request.headers else None
    address = url_for("sign_in.show", next=wanted)
    if "HX-Request" in request.headers:
        return Response(status=200, headers={"HX-Redirect": address})
    return redirect(address)
