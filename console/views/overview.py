"""The overview: today, the last 30 days, the balance, and what is being sent now."""

from typing import Any

from flask import Blueprint, render_template

from console.pages.charts import KINDS, by_day, days_until_today
from console.session.current import account

pages = Blueprint("overview", __name__)

DAYS = 30
OPEN = ("sending", "expanding", "queued", "paused", "held", "scheduled")
"""States of a send that is not over, the most urgent first."""
RECENT, SHOWN = 20, 8
"""How many of the newest sends are examined, and how many shown: those in progress first, however old they are."""


@pages.get("/")
def show() -> Any:
    """Today and the last 30 days."""
    days = days_until_today(DAYS)
    rows = by_day(account().usage.report("day,status", since=days[0])["data"], days)
    totals = {name: sum(row[name] for row in rows) for name in (*KINDS, "credits")}
    return render_template("overview/show.html", rows=rows, today=rows[-1], totals=totals, **_now())


@pages.get("/now")
def now() -> Any:
    """What is being sent now, for a page that refreshes itself."""
    return render_template("overview/now.html", **_now())


def _now() -> dict[str, Any]:
    limits = account().usage.limits()
    sends = account().sends
    found = sends.page(limit=SHOWN, in_progress="true")["data"] + sends.page(limit=RECENT)["data"]
    waiting = {send["send_id"]: send for send in found if send["status"] in OPEN}.values()
    running = sorted(waiting, key=lambda send: (send["kind"] == "single", OPEN.index(send["status"])))
    return {"balance": account().money.balance(), "limits": limits, "running": running[:SHOWN]}
