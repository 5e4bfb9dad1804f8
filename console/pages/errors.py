"""Pages that say what went wrong."""

from http import HTTPStatus
from typing import Any

from bulksms_client.errors import ApiError, Unreachable
from flask import Flask, g, render_template, request, session
from flask_babel import gettext
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from console.load.body_limits import LISTS
from console.pages.addresses import page_of_form
from console.pages.ended_sessions import ask_to_sign_in, form_of_another_session, session_ended, to_page_of_form
from console.pages.problems import REFUSALS, SESSION_OVER, describe
from console.session.current import (
    SESSION_TOKEN,
    NotAllowed,
    SignedOut,
    account_name,
    is_part,
    maybe_person,
    membership,
    person,
)
from console.session.shown_again import SHOWN_AGAIN


def add_error_pages(app: Flask) -> None:
    """Answer every error with a page, and the end of a session with the page to sign in."""

    @app.errorhandler(SignedOut)
    def signed_out(error: SignedOut) -> Any:
        return session_ended()

    @app.errorhandler(ApiError)
    def refused(error: ApiError) -> Any:
        if error.status == 401 and error.code in SESSION_OVER:
            return session_ended()
        if error.code == SHOWN_AGAIN:
            return to_page_of_form(request.form[SHOWN_AGAIN])
        if error.code == "insufficient_scope" and "world" in g:
            return _page(403, describe(error), template="not_allowed.html")
        if error.code == "account_suspended" and "world" in g and maybe_person():
            return _inactive(describe(error))
        status = error.status if error.status >= 400 else HTTPStatus.BAD_GATEWAY
        return _page(status, describe(error), str(error.problem.get("request_id") or ""))

    @app.errorhandler(NotAllowed)
    def not_allowed(error: NotAllowed) -> Any:
        return _page(403, str(REFUSALS["insufficient_scope"]), template="not_allowed.html")

    @app.errorhandler(Unreachable)
    def unreachable(error: Unreachable) -> Any:
        app.logger.warning("The API does not respond: %s", error)
        return _page(503, gettext("The service is not responding at the moment. Try again shortly."))

    @app.errorhandler(CSRFError)
    def stale_form(error: CSRFError) -> Any:
        response = form_of_another_session()
        if response is not None:
            return response
        return _page(400, gettext("This form is no longer valid. Go back, reload the page, and send it again."))

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Any:
        code = error.code or 500
        if code < 400:
            return error
        if code == 413 and request.endpoint in LISTS and SESSION_TOKEN not in session:
            return ask_to_sign_in(page_of_form(), "")
        texts = {
            404: gettext("There is no such page."),
            405: gettext("This page cannot be used that way."),
            413: gettext("This is too large."),
        }
        return _page(code, texts.get(code, gettext("Something went wrong. Try again.")))


def _page(status: int, text: str, request_id: str = "", template: str = "error.html") -> tuple[str, int]:
    if is_part():
        template = "parts/problem.html"
    return render_template(template, status=status, text=text, request_id=request_id), status


def _inactive(text: str) -> tuple[str, int]:
    """A page without the account's menu, which would need an account token."""
    if is_part():
        return _page(403, text)
    here = membership()
    status = here.get("status") if here is not None else None
    others = [each for each in person().accounts if each is not here]
    return render_template("inactive.html", name=account_name(), status=status, others=others, world=None), 403
