"""Changes that are confirmed on a page of their own, with the reason for the audit log."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bulksms_client.errors import ApiError
from flask import flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.forms import Form
from console.pages.problems import describe


class Question(NamedTuple):
    """What is asked before a change."""

    title: str
    text: str
    """What the change does."""
    button: str
    back: str
    """The address of the page that led here, to which the browser returns after the change."""


def confirm(
    question: Question,
    change: Callable[[Form], str],
    *,
    values: Mapping[str, str] | None = None,
    template: str = "operator/confirm.html",
) -> Any:
    """Show the question, and make the change when the form is submitted. `change` returns the notice to show then."""
    if request.method == "GET":
        return render_template(template, question=question, form=Form({"reason": "", **(values or {})}))
    form = Form.posted()
    need_reason(form)
    notice = ""
    if not form.wrong:
        with form.asking():
            notice = change(form)
    if form.wrong:
        return render_template(template, question=question, form=form), 400
    flash(notice, "good")
    return redirect(question.back)


def need_reason(form: Form) -> None:
    """Report an error in the form if it gives no reason."""
    form.values.setdefault("reason", "")
    if not form.text("reason"):
        form.errors["reason"] = gettext("Give a reason.")


def done(notice: str, endpoint: str, **values: Any) -> Any:
    """Show a notice of success on a page, to which the browser goes after a form."""
    flash(notice, "good")
    return redirect(url_for(endpoint, **values))


def change_at_once(change: Callable[[], object], notice: str, conflict: str = "") -> None:
    """Make a change that needs no confirmation, and show a notice with its result.

    `conflict` is shown if the current state does not allow the change; without it, the API's reason.
    """
    try:
        change()
    except ApiError as error:
        if error.code not in ("state_conflict", "message_being_sent"):
            raise
        flash(conflict or describe(error), "warn")
    else:
        flash(notice, "good")
