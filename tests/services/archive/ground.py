"""The week that a test archives, what is there before and after, and archiving in a process that dies."""

import csv
import io
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import text

from shared.archive.restore import read
from shared.archive.weeks import archive
from shared.audit.check import audit
from tests.harness.service import Service
from tests.harness.times import leave_end_of
from tests.integration.jobs.test_usage import count
from worker.jobs.erasure import erase_one

FINAL = text("UPDATE usage_hour SET final = true")
ROWS = text("SELECT m.* FROM message m ORDER BY id")
ASKED_EARLIER = text("UPDATE erasure SET due_at = now(), created_at = now() - interval '1 hour'")
DIES = """
import os, sys
from datetime import date, datetime
from pathlib import Path
from shared.archive.restore import restore
from shared.archive.weeks import archive
from shared.db.connection import make_engine
what, url, folder, monday, before, now, step = sys.argv[1:]
def say(week, done):
    if done.startswith(step):
        os._exit(137)
engine = make_engine(url)
if what == "archive":
    archive(engine, date.fromisoformat(before), Path(folder), say, datetime.fromisoformat(now))
else:
    restore(engine, date.fromisoformat(monday), Path(folder), say)
"""


class Week(NamedTuple):
    """The week in which a test takes place."""

    today: date
    monday: date
    end: date
    later: datetime
    """A time at which it may be archived."""


def this_week() -> Week:
    """The week for a test that begins now, and in which it also ends."""
    leave_end_of("week")
    now = datetime.now(UTC)
    monday = now.date() - timedelta(days=now.weekday())
    return Week(now.date(), monday, monday + timedelta(weeks=1), now + timedelta(days=40))


def end_usage(service: Service) -> None:
    count(service)
    service.execute(FINAL)


def silent(week: date, step: str) -> None:
    """Say nothing."""


def put_away(service: Service, week: Week, folder: Path) -> list[date]:
    return archive(service.engine, week.end, folder, silent, week.later)


def rows(service: Service) -> list[Any]:
    return service.execute(ROWS)


def is_clean(service: Service) -> bool:
    return audit(service.engine, full=True) == [] and audit(service.engine, full=False) == []


def books(service: Service) -> Any:
    with service.engine.connect() as connection:
        balance = connection.execute(text("SELECT id, available, reserved FROM account ORDER BY id")).all()
        return balance, connection.execute(text("SELECT count(*), sum(amount) FROM ledger")).one()


def content(service: Service, week: Week, folder: Path) -> list[dict[str, str]]:
    out = io.BytesIO()
    read(service.engine, week.monday, folder, out.write)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


def erase(service: Service, phone: str) -> None:
    assert service.post("/erasures", phone=phone).status_code == 200
    service.execute(ASKED_EARLIER)
    erase_one(service.engine)


def die(service: Service, week: Week, folder: Path, what: str, step: str) -> None:
    url = service.engine.url.render_as_string(hide_password=False)
    times = (f"{week.monday}", f"{week.end}", week.later.isoformat())
    command = [sys.executable, "-c", DIES, what, url, str(folder), *times, step]
    assert subprocess.run(command, check=False, timeout=180).returncode == 137
