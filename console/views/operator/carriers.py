"""Carriers as the workers report them, on a page that refreshes itself; pausing and resuming them.

How many messages per second go to each is known from two readings of the API. The earlier one is in the query of the
part that refreshes itself, so that the console keeps no state.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext
from werkzeug.datastructures import MultiDict

from console.pages.confirmations import Question, change_at_once, confirm
from console.pages.forms import Form
from console.session.operator import operator

pages = Blueprint("carriers", __name__, url_prefix="/carriers")


@pages.get("/")
def index() -> Any:
    """All carriers."""
    return render_template("operator/carriers/index.html", **_now())


@pages.get("/now")
def now() -> Any:
    """The same, for a page that refreshes itself. The query has the previous reading."""
    return render_template("operator/carriers/now.html", **_now())


@pages.route("/<carrier>/pause", methods=["GET", "POST"])
def pause(carrier: str) -> Any:
    """Pause a carrier."""
    name = operator().carriers.one(carrier)["carrier"]
    question = Question(
        gettext("Pause the carrier %(carrier)s", carrier=name),
        gettext("Nothing is submitted to it. Its messages take another route, or wait until it is resumed."),
        gettext("Pause"),
        url_for("operator.carriers.index"),
    )

    def change(form: Form) -> str:
        operator().carriers.pause(name, form["reason"].strip(), form.key)
        return str(gettext("The carrier is paused."))

    return confirm(question, change)


@pages.post("/<carrier>/resume")
def resume(carrier: str) -> Any:
    """Resume a carrier."""
    key = Form.posted().key
    change_at_once(lambda: operator().carriers.resume(carrier, key=key), gettext("The carrier is resumed."))
    return redirect(url_for("operator.carriers.index"))


def _now() -> dict[str, Any]:
    carriers, at = operator().carriers.all()["data"], time.time()
    return {
        "carriers": carriers,
        "used": rates_since(request.args, carriers, at),
        "reading": reading(carriers, at),
    }


def reading(carriers: Sequence[Mapping[str, Any]], now: float) -> dict[str, Any]:
    """This reading as query parameters, for the next one to compare with. `now` is in seconds."""
    return {
        "at": f"{now:.3f}",
        "carrier": [each["carrier"] for each in carriers],
        "submitted": [each["submitted"] for each in carriers],
    }


def rates_since(query: MultiDict[str, str], carriers: Sequence[Mapping[str, Any]], now: float) -> dict[str, float]:
    """Messages per second since the reading in the query, by carrier. Empty without a reading, or after a restart."""
    try:
        seconds = now - float(query.get("at", ""))
        before = dict(zip(query.getlist("carrier"), map(float, query.getlist("submitted")), strict=False))
    except ValueError:
        return {}
    if not 0 < seconds < float("inf"):
        return {}
    now_submitted = {each["carrier"]: each["submitted"] for each in carriers if each["carrier"] in before}
    counts = {name: submitted - before[name] for name, submitted in now_submitted.items()}
    return {name: count / seconds for name, count in counts.items() if 0 <= count < float("inf")}
