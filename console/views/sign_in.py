"""Signing in and out, and accepting an invitation."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.addresses import page_here
from console.pages.ended_sessions import show_lost
from console.pages.forms import Form
from console.pages.languages import language
from console.session import current
from console.session.before_sign_in import before_sign_in
from console.session.encrypted_forms import seal, unseal
from console.session.lost_forms import unsealed

pages = Blueprint("sign_in", __name__)

PURPOSE = "sign-in"
"""The purpose of the sealed values that are kept until the code is entered."""
SECONDS = 300
"""How long they are kept."""


@pages.get("/sign-in")
def show() -> Any:
    """The sign-in page."""
    if current.maybe_person():
        return redirect(url_for("accounts.choose"))
    return render_template("sign_in/password.html", form=Form({"next": request.args.get("next", "")}))


@pages.post("/sign-in")
def with_password() -> Any:
    """Sign in with a password; a person with a second factor is asked for a code next."""
    form = Form.posted()
    if form["elsewhere"]:
        form.problem = gettext("You are not signed in yet.")
        return render_template("sign_in/password.html", form=form), 400
    try:
        response = before_sign_in().with_password(form["email"].strip(), form["password"])
    except ApiError as error:
        if error.code == "code_required":
            known = {"email": form["email"].strip(), "password": form["password"]}
            more = {"next": form["next"], "lost": form["lost"], "code": ""}
            return render_template("sign_in/code.html", form=Form({"sealed": seal(PURPOSE, known), **more}))
        return _refused("sign_in/password.html", form, error)
    return begin(response, form["next"], form["lost"])


@pages.post("/sign-in/code")
def with_code() -> Any:
    """Sign in with a code of the authenticator app, or a recovery code."""
    form = Form.posted()
    known = unseal(PURPOSE, form["sealed"], SECONDS)
    if known is None:
        flash(gettext("That took too long. Sign in again."), "warn")
        if form["lost"]:
            more = {"next": form["next"], "lost": form["lost"]}
            return render_template("sign_in/password.html", form=Form(more)), 400
        return redirect(url_for("sign_in.show", next=form["next"] or None))
    try:
        response = before_sign_in().with_password(known["email"], known["password"], form.code("code"))
    except ApiError as error:
        return _refused("sign_in/code.html", form, error, "code")
    return begin(response, form["next"], form["lost"])


@pages.route("/sign-in/link/<token>", methods=["GET", "POST"])
def with_link(token: str) -> Any:
    """Sign in by a link. It works once, so only the button of its page uses it."""
    form = Form.posted()
    if request.method == "GET":
        return render_template("sign_in/link.html", form=form)
    try:
        response = before_sign_in().with_link(token)
    except ApiError as error:
        return _refused("sign_in/link.html", form, error)
    return begin_first(response, form)


@pages.route("/invitations/<token>", methods=["GET", "POST"])
def invitation(token: str) -> Any:
    """Accept an invitation."""
    form = Form.posted()
    try:
        invited = before_sign_in().preview_invitation(token)
    except ApiError as error:
        return _refused("sign_in/link.html", form, error)
    if request.method == "GET":
        return render_template("sign_in/invitation.html", form=form, invited=invited)
    try:
        response = before_sign_in().accept_invitation(token, form["password"], form.text("name"), form.code("code"))
    except ApiError as error:
        field = {"code_required": "code", "invalid_code": "code"}.get(error.code, "password")
        wrong = gettext("Wrong password. If you are new here, enter your name too.")
        return _refused("sign_in/invitation.html", form, error, field, wrong, invited=invited)
    return begin_first(response, form)


@pages.post("/sign-out")
def sign_out() -> Any:
    """End the session, here and in the API."""
    current.sign_out()
    flash(gettext("You are signed out."), "good")
    return redirect(url_for("sign_in.show"))


def _refused(
    template: str, form: Form, error: ApiError, field: str = "", wrong_password: str = "", **more: Any
) -> tuple[str, int]:
    """The form again, with what is wrong; a wrong password or code is reported at its field."""
    shown = form.refuse_password(error, field, wrong_password) if field else form.refuse(error)
    return render_template(template, form=shown, **more), 400 if error.status == 401 else error.status


def begin_first(response: Mapping[str, Any], form: Form) -> Any:
    """A person with a link may be new: a time zone or language that is not set yet is taken from the browser."""
    spoken = language()
    shown = begin(response)
    person = response["person"]
    changes = {
        "time_zone": form.text("time_zone") if person["time_zone"] == "UTC" else None,
        "locale": spoken if person["locale"] == "en" else None,
    }
    wanted = {name: value for name, value in changes.items() if value and value != person[name]}
    if wanted:
        with suppress(ApiError):  # a zone that the API does not know
            current.me().change(wanted)
    return shown


def begin(response: Mapping[str, Any], wanted: str = "", lost: str = "") -> Any:
    """Begin the session, and show the requested page, or what the same person had typed before."""
    current.start_session(response)
    form = unsealed(lost)
    if form is not None and form.person_id == str(response["person"]["person_id"]):
        return show_lost(form)
    return redirect(page_here(wanted) or url_for("accounts.choose"))
