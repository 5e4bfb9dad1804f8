"""Signing in through an OpenID Connect provider, and accepting an invitation with it.

The provider is reached by links, not by forms: `form-action` allows only the console's own addresses, even after
redirects. The state of an attempt is in the browser's session cookie.
"""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, request, session, url_for
from flask_babel import gettext

from console.pages.forms import Form
from console.pages.problems import describe
from console.session.before_sign_in import before_sign_in
from console.views.sign_in import begin, begin_first

pages = Blueprint("oidc", __name__)

ATTEMPT = "oidc_attempt"
LONGEST_ZONE, LONGEST_PAGE = 64, 1000
"""The most characters that are kept in the cookie: browsers drop a cookie larger than 4 kB."""


@pages.get("/sign-in/oidc")
def to_provider() -> Any:
    """Send the browser to the identity provider."""
    wanted = request.args.get("next", "")
    return _to_provider({"next": wanted if len(wanted) <= LONGEST_PAGE else ""})


@pages.get("/invitations/<token>/oidc")
def to_provider_with_invitation(token: str) -> Any:
    """Send the browser to the identity provider, to accept an invitation."""
    return _to_provider({"invitation": token, "time_zone": request.args.get("time_zone", "")[:LONGEST_ZONE]})


@pages.get("/sign-in/oidc/callback")
def callback() -> Any:
    """Sign in with what the browser brings back. Only the browser that began has the attempt, and only once."""
    kept = session.pop(ATTEMPT, {})
    state, code = request.args.get("state", ""), request.args.get("code", "")
    if not (kept and state and code):
        flash(gettext("The sign-in was not completed. Try again."), "warn")
        return _back(kept)
    try:
        response = before_sign_in().complete_oidc(kept["attempt"], state, code, kept.get("invitation"))
    except ApiError as error:
        flash(describe(error), "bad")
        return _back(kept)
    if "invitation" in kept:
        return begin_first(response, Form({"time_zone": kept["time_zone"]}))
    return begin(response, kept["next"])


def _to_provider(kept: dict[str, str]) -> Any:
    try:
        begun = before_sign_in().begin_oidc()
    except ApiError as error:
        flash(describe(error), "bad")
        return _back(kept)
    session[ATTEMPT] = {**kept, "attempt": begun["attempt"]}
    return redirect(begun["authorization_url"])


def _back(kept: dict[str, str]) -> Any:
    """To the page where the sign-in began."""
    if "invitation" in kept:
        return redirect(url_for("sign_in.invitation", token=kept["invitation"]))
    return redirect(url_for("sign_in.show", next=kept.get("next") or None))
