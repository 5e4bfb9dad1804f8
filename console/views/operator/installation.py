"""The health of the installation: guard, audits and doctor."""

from typing import Any

from flask import Blueprint, render_template, url_for
from flask_babel import gettext

from console.pages.confirmations import Question, confirm
from console.pages.formats import counted
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.operator import operator

pages = Blueprint("installation", __name__, url_prefix="/health")

AUDITS = 20


@pages.get("/")
def index() -> Any:
    """The guard and the audits. The doctor takes longer, and is loaded separately."""
    api = operator().installation
    return render_template("operator/installation/index.html", guard=api.guard(), page=api.audits(**paging(AUDITS)))


@pages.get("/doctor")
def doctor() -> Any:
    """What the doctor finds."""
    return render_template("operator/installation/doctor.html", result=operator().installation.doctor())


@pages.route("/guard/release", methods=["GET", "POST"])
def release_guard() -> Any:
    """Let a database whose sending is held send again."""
    question = Question(
        gettext("Release the guard"),
        gettext("Sending will resume. First make sure that no other copy of this database is sending."),
        gettext("Release the guard"),
        url_for("operator.installation.index"),
    )

    def change(form: Form) -> str:
        api = operator().installation
        done = api.release_guard(form["reason"].strip(), send_open=bool(form["send_open"]), key=form.key)
        return counted(
            "Sending has resumed. %(count)s send is held for review.",
            "Sending has resumed. %(count)s sends are held for review.",
            done["held_sends"],
        )

    return confirm(question, change, template="operator/installation/release.html")
