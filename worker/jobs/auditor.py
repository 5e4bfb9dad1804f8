"""Audits the ledger every hour, in one of the workers, and freezes accounts whose credits do not add up.

Audits open and recently ended sends every hour, those of the whole day once a day, and both when the first worker
starts. If a worker dies or its audit fails, one of them audits again after ATTEMPT. A frozen account's sends stop after
the current window; other accounts are not affected.
"""

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Engine

from shared.accounts.administration import freeze_accounts
from shared.audit.check import audit
from shared.audit.results import record_audit
from shared.settings import DEFAULTS
from worker.leases import take_lease

log = logging.getLogger(__name__)

AUDIT_SECONDS = 60.0
"""Seconds between checks whether an audit is due."""
ATTEMPT = timedelta(minutes=70)
"""Time that a worker has for each rule of an audit, before another worker may begin one: more than its statements may
take (STATEMENT_TIMEOUT in shared/audit/check.py)."""
MIN_PAUSE_FACTOR = 20
"""The pause between hourly audits is at least this many times the duration of the last one, up to LONGEST_PAUSE."""
LONGEST_PAUSE = timedelta(days=1)


class Period(NamedTuple):
    """A kind of periodic audit."""

    name: str
    every: timedelta
    span: timedelta
    """How long ago the audited sends may have ended."""


HOUR = Period("audit", timedelta(hours=1), timedelta(hours=2))
DAY = Period("audit-day", timedelta(days=1), timedelta(hours=26))


def audit_when_due(engine: Engine, doubt_grace: float = DEFAULTS.doubt_grace) -> bool:
    """Audit, if it is due and no other worker does. Returns whether it did.

    The engine is one of its own, as an audit reads whole tables. `doubt_grace` is the setting of this name.
    """
    holder = str(uuid4())
    with engine.begin() as connection:  # one transaction, so that one worker takes both
        taken = [period for period in (HOUR, DAY) if _take(connection, period, holder, ATTEMPT)]
    if not taken:
        return False
    begun, began_at = time.monotonic(), datetime.now(UTC)
    span = max(period.span for period in taken)

    def renew(*_: object) -> None:
        with engine.begin() as connection:
            for period in taken:
                _take(connection, period, holder, ATTEMPT)

    breaches = audit(engine, full=False, doubt_grace=doubt_grace, on_rule=renew, span=span)
    took = timedelta(seconds=time.monotonic() - begun)
    for breach in breaches:
        log.error("audit: %s: %s: %s", breach.rule, breach.subject, breach.detail)
    accounts = {breach.account_id for breach in breaches if breach.account_id is not None}
    with engine.begin() as connection:
        frozen = freeze_accounts(connection, accounts)
        record_audit(connection, began_at, False, breaches, frozen)
        for period in taken:
            _take(connection, period, holder, _pause(period, took))
    if frozen:
        log.error("froze accounts %s because their credits do not add up; see `bulksms audit`", sorted(frozen))
    return True


def _take(connection: Connection, period: Period, holder: str, length: timedelta) -> bool:
    """Keep all others from auditing for that long from now. False if another has begun meanwhile."""
    return take_lease(connection, period.name, holder, length, LONGEST_PAUSE)


def _pause(period: Period, took: timedelta) -> timedelta:
    """The time from the end of an audit, which took that long, until the next one."""
    pause = period.every - took
    return min(max(pause, MIN_PAUSE_FACTOR * took), LONGEST_PAUSE) if period is HOUR else pause
