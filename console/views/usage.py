"""Usage by day, country and sender ID."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, render_template, request
from flask_babel import gettext

from console.pages.charts import KINDS, by_day, kind
from console.pages.csv_files import download
from console.pages.forms import Form
from console.session.current import account

pages = Blueprint("usage", __name__, url_prefix="/usage")

DIMENSIONS = ("day", "country", "sender_id", "category")
MOST_DAYS = 366
MOST_PAGES = 20
"""Pages of 1,000 rows that are read of a report."""


@pages.get("/")
def show() -> Any:
    """A report with a chart."""
    form = _form()
    query = _query(form)
    days: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    is_whole = True
    chosen = _days(form)
    if not form.wrong:
        try:
            of_days, is_whole = _report("day,status", query)
            days = by_day(of_days, chosen)
            if form["by"] != "day":
                counted, is_whole = _report(f"{form['by']},status", query)
                rows = _grouped(counted, form["by"])
        except ApiError as error:
            form.refuse(error)
    shown = render_template("usage/show.html", form=form, days=days, rows=rows, query=query, is_whole=is_whole)
    return shown, 400 if form.wrong else 200


@pages.get("/usage.csv")
def csv() -> Any:
    """The report as a file."""
    form = _form()
    return download(account().usage.csv(f"{form['by']},status", **_query(form)), "usage.csv")


def _form() -> Form:
    today = datetime.now(UTC).date()
    given = {name: request.args.get(name, "") for name in ("since", "until", "by", "sender_id", "country")}
    given["since"] = given["since"] or (today - timedelta(days=29)).isoformat()
    given["until"] = given["until"] or today.isoformat()
    given["by"] = given["by"] if given["by"] in DIMENSIONS else "day"
    return Form(given)


def _query(form: Form) -> dict[str, Any]:
    country = form.text("country")
    return {
        "since": form["since"],
        "until": form["until"],
        "sender_id": form.text("sender_id"),
        "country": country.upper() if country else None,
    }


def _report(by: str, query: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """The rows of a report, and whether these are all."""
    page = account().usage.report(by, **query)
    rows = list(page["data"])
    for _ in range(1, MOST_PAGES):
        if not page["next_cursor"]:
            break
        page = account().usage.report(by, cursor=page["next_cursor"], **query)
        rows += page["data"]
    return rows, not page["next_cursor"]


def _days(form: Form) -> list[str]:
    """Each day of the report; more than MOST_DAYS is an error in the form. The API refuses invalid dates."""
    try:
        first, last = date.fromisoformat(form["since"]), date.fromisoformat(form["until"])
    except ValueError:
        return []
    count = (last - first).days + 1
    if count > MOST_DAYS:
        form.errors["until"] = gettext("Choose at most a year. The CSV file may have more.")
        return []
    return [(first + timedelta(days=number)).isoformat() for number in range(count)]


def _grouped(rows: list[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """One row for each value of the dimension, the largest first."""
    table: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = str(row[by] or "")
        entry = table.setdefault(name, {"name": name, "credits": 0, **dict.fromkeys(KINDS, 0)})
        entry[kind(row["status"])] += row["messages"]
        entry["credits"] += row["credits"]
    return sorted(table.values(), key=lambda entry: -entry["credits"])
