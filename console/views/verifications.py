"""One-time passwords: how many were sent and entered, by country."""

from typing import Any

from flask import Blueprint, render_template, request

from console.pages.forms import Form
from console.session.current import account

pages = Blueprint("verifications", __name__, url_prefix="/verifications")


@pages.get("/")
def index() -> Any:
    """Rates by country, or by the beginning of phone numbers."""
    form = Form({name: request.args.get(name, "") for name in ("since", "until", "by")})
    form.values["by"] = form.text("by") or "country"
    query = {name: form.text(name) for name in ("since", "until", "by")}
    page = form.page(lambda: account().verifications.rates(**query))
    return render_template("verifications/index.html", form=form, rows=page["data"]), 400 if form.wrong else 200
