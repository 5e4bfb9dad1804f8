"""The people of an account, their roles, and invitations."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, current_app, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.confirmations import change_at_once, done
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("people", __name__, url_prefix="/people")

ACCOUNT_ROLES = ("owner", "sender", "viewer")


@pages.get("/")
def index() -> Any:
    """All members, and open invitations."""
    return _page(Form({"email": "", "role": "sender"}))


@pages.post("/invitations")
def invite() -> Any:
    """Invite a person. The link is shown once."""
    form = Form.posted()
    with form.asking():
        made = account().invitations.create(form["email"].strip(), form["role"], form.key)
        token = made.get("token")
        link = current_app.config["CONSOLE_URL"] + url_for("sign_in.invitation", token=token) if token else None
        return render_template("people/link.html", invitation=made, link=link)
    return _page(form), 400


@pages.post("/invitations/<uuid:invitation_id>/withdraw")
def withdraw(invitation_id: Any) -> Any:
    """Withdraw an invitation."""
    account().invitations.withdraw(str(invitation_id))
    return done(gettext("The invitation is withdrawn."), "people.index")


@pages.post("/<uuid:person_id>/role")
def change_role(person_id: Any) -> Any:
    """Change a member's role."""
    return _done(
        lambda: account().people.change_role(str(person_id), request.form["role"]), gettext("The role is changed.")
    )


@pages.post("/<uuid:person_id>/remove")
def remove(person_id: Any) -> Any:
    """Remove a member."""
    return _done(
        lambda: account().people.remove(str(person_id)), gettext("The person no longer belongs to the account.")
    )


def _done(act: Callable[[], object], text: str) -> Any:
    change_at_once(act, text)
    return redirect(url_for("people.index"))


def _page(form: Form) -> str:
    page = account().people.page(**paging())
    invitations = account().invitations.page(limit=100)["data"]
    return render_template(
        "people/index.html", page=page, invitations=invitations, form=form, account_roles=ACCOUNT_ROLES
    )
