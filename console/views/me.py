"""What people set for themselves: name, language, time zone, password, second factor, sessions."""

from io import BytesIO
from typing import Any

import segno
from bulksms_client.errors import ApiError
from flask import Blueprint, g, render_template, request
from flask_babel import gettext, refresh
from markupsafe import Markup

from console.pages.confirmations import done
from console.pages.forms import Form
from console.pages.languages import LANGUAGES
from console.pages.languages import ZONES as ALL_ZONES
from console.session import current

pages = Blueprint("me", __name__, url_prefix="/me")

LONGEST_URI = 700
"""Characters that fit into a QR code, which takes 2,953 bytes."""
ZONES = sorted(zone for zone in ALL_ZONES if "/" in zone and not zone.startswith("Etc/"))


@pages.route("/profile", methods=["GET", "POST"])
def profile() -> Any:
    """Name, language and time zone."""
    details = current.person().details
    if request.method == "GET":
        form = Form({name: str(details.get(name) or "") for name in ("name", "locale", "time_zone")})
        return render_template("me/profile.html", form=form, languages=LANGUAGES, zones=ZONES)
    form = Form.posted()
    changes = {name: form.text(name) for name in ("name", "locale", "time_zone") if form.text(name)}
    if "name" not in changes:
        form.errors["name"] = gettext("Enter your name.")
    else:
        with form.asking():
            current.me().change(changes)
            g.pop("person", None)
            refresh()  # the language may be another one now
            return done(gettext("Your profile is saved."), "me.profile")
    return render_template("me/profile.html", form=form, languages=LANGUAGES, zones=ZONES), 400


@pages.get("/security")
def security() -> Any:
    """Password, second factor and sessions."""
    return _security()


@pages.post("/password")
def change_password() -> Any:
    """Change the password. All other sessions end."""
    form = Form.posted()
    try:
        current.me().change_password(form["password"] or None, form["new_password"])
    except ApiError as error:
        return _security(password=form.refuse_password(error, "password", gettext("Wrong password."))), 400
    return done(gettext("Your password has been changed. You are signed out everywhere else."), "me.security")


@pages.post("/totp")
def start_totp() -> Any:
    """Show a secret for an authenticator app."""
    form = Form.posted()
    try:
        begun = current.me().start_totp(form["password"])
    except ApiError as error:
        return _security(totp=form.refuse_password(error, "password", gettext("Wrong password."))), 400
    return _totp(Form({"secret": begun["secret"], "uri": begun["uri"], "code": ""}))


@pages.post("/totp/confirm")
def confirm_totp() -> Any:
    """Turn the second factor on. Recovery codes are shown once."""
    form = Form.posted()
    try:
        confirmed = current.me().confirm_totp(form.code("code") or "")
    except ApiError as error:
        return _totp(form.refuse_password(error, "code", gettext("Wrong password."))), 400
    return render_template("me/recovery_codes.html", codes=confirmed["recovery_codes"])


@pages.post("/totp/disable")
def disable_totp() -> Any:
    """Turn the second factor off."""
    form = Form.posted()
    try:
        current.me().disable_totp(form["password"])
    except ApiError as error:
        return _security(totp=form.refuse_password(error, "password", gettext("Wrong password."))), 400
    return done(gettext("The second factor is off."), "me.security")


@pages.post("/sessions/<uuid:session_id>/end")
def end_session(session_id: Any) -> Any:
    """End another session of the person."""
    current.me().end_session(str(session_id))
    return done(gettext("The session has ended."), "me.security")


def _security(password: Form | None = None, totp: Form | None = None) -> str:
    return render_template(
        "me/security.html",
        person=current.person().details,
        sessions=current.me().sessions()["data"],
        password=password or Form({"password": "", "new_password": ""}),
        totp=totp or Form({"password": ""}),
    )


def _totp(form: Form) -> str:
    return render_template("me/totp.html", form=form, qr=_qr_code(form["uri"]))


def _qr_code(text: str) -> Markup:
    """The text as an SVG image; empty if it is not an `otpauth` URI of ours."""
    if not text.startswith("otpauth://") or len(text) > LONGEST_URI:
        return Markup()
    drawn = BytesIO()
    segno.make(text, micro=False).save(
        drawn, kind="svg", svgclass="qr", lineclass=None, xmldecl=False, border=0, omitsize=True
    )
    return Markup(drawn.getvalue().decode())  # made by segno: paths only
