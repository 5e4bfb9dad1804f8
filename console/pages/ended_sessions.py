"""The response to a request whose session has ended: the sign-in page, which keeps what was typed.

A live part never replaces its page, which may hold unsaved input: it only shows a line that the session has ended.
"""

from typing import Any

from flask import flash, redirect, render_template, request, session, url_for
from flask_babel import gettext, refresh

from console.pages.addresses import is_here, page_here, page_of_form
from console.pages.forms import Form
from console.session import current
from console.session.current import SESSION_TOKEN
from console.session.lost_forms import LostForm, person_of_form, posted_form, unsealed

STOP_POLLING = 286
"""The status that makes htmx stop polling."""
OF_PART = {"HX-Retarget": "#signed-out", "HX-Reswap": "innerHTML"}
"""The line of the page that says so, instead of the part."""


def session_ended() -> Any:
    """Ask to sign in."""
    if current.is_part():  # keep the cookie: it may be that of a sign-in page in another tab
        return render_template("parts/signed_out.html"), STOP_POLLING, OF_PART
    was_signed_in = SESSION_TOKEN in session
    if was_signed_in:
        current.forget_session()
    if request.method != "POST":
        if was_signed_in:
            flash(gettext("Your session has ended. Sign in again."), "warn")
        return redirect(url_for("sign_in.show", next=request.full_path.rstrip("?")))
    page, owner = page_of_form(), person_of_form()
    if owner is not None:
        lost = posted_form(owner, page)
        if lost.has_content:
            return ask_to_sign_in(page, lost.sealed())
    if owner is not None or was_signed_in:
        flash(gettext("Your session has ended, and nothing was changed. Sign in again."), "warn")
    return redirect(url_for("sign_in.show", next=page or None))


def form_of_another_session() -> Any:
    """The response to a form whose token is not of this session; None if it is to be refused.

    So are forms of other sites: a new cookie would replace that of a person who is signed in.
    """
    lost, person = unsealed(request.form.get("lost", "")), current.maybe_person()
    if lost is not None and person is not None:  # signed in on another tab meanwhile
        return show_lost(lost) if str(person.details["person_id"]) == lost.person_id else None
    is_ours = is_here(request.headers.get("Origin") or request.host_url)
    return session_ended() if is_ours and SESSION_TOKEN not in session and person_of_form() is not None else None


def ask_to_sign_in(page: str, lost: str) -> Any:
    """The page to sign in, with the form that was lost; without one, it says that nothing is kept."""
    if lost:
        text = gettext("Your session has ended, and nothing was sent. Sign in again: what you typed is kept.")
    else:
        text = gettext("Your session has ended, and nothing was sent. What you typed is too large to be kept.")
    flash(text, "warn")
    return render_template("sign_in/password.html", form=Form({"next": page, "lost": lost})), 401


def show_lost(lost: LostForm) -> Any:
    """The page on which a person who has signed in again goes back to what they typed."""
    current.person()
    refresh()  # the language and the zone are theirs
    return render_template("sign_in/again.html", lost=lost, page=lost.page or "/", world=None, operating=False)


def to_page_of_form(page: str) -> Any:
    """Go back to the page of a button that had no effect."""
    flash(gettext("You have signed in again, and nothing was changed. Do it again if you still want it."), "warn")
    return redirect(page_here(page) or url_for("accounts.choose"))
