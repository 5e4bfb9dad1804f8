"""Audits the books each hour, in one worker of all, and freezes accounts whose credits do not add up.

A frozen account's sends stop at the end of the window under way; nobody else's do.
"""

import logging
import threading
from uuid import uuid4

from sqlalchemy import Engine, text

from shared.accounts import freeze_accounts
from shared.audit import audit
from shared.settings import Settings

log = logging.getLogger(__name__)

PERIOD = 3600.0
LOOK = 60.0
"""Seconds between looks whether an hour is over."""

TAKE_HOUR = text(
    """
    INSERT INTO lease (name, holder, held_until)
    VALUES ('audit', :holder, clock_timestamp() + make_interval(secs => :seconds))
    ON CONFLICT (name) DO UPDATE SET holder = :holder, held_until = EXCLUDED.held_until
     WHERE lease.held_until < clock_timestamp()
    """
)


class Auditor:
    """The auditing thread of one worker process. Its engine is not the turns': an audit reads whole tables."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    def start(self, stop: threading.Event) -> None:
        """Begin to look each minute, until `stop` is set."""

        def run() -> None:
            while not stop.wait(LOOK):
                try:
                    self.audit_when_due()
                except Exception:
                    log.exception("the audit failed and is tried again in an hour")

        threading.Thread(target=run, name="auditor", daemon=True).start()

    def audit_when_due(self) -> bool:
        """Audit, if no worker has in the last hour. Returns whether it did."""
        with self._engine.begin() as connection:
            holder = {"holder": str(uuid4()), "seconds": PERIOD}
            if not connection.execute(TAKE_HOUR, holder).rowcount:
                return False
        breaches = audit(self._engine, full=False, doubt_grace=self._settings.doubt_grace)
        for breach in breaches:
            log.error("audit: %s: %s: %s", breach.rule, breach.subject, breach.detail)
        accounts = {breach.account_id for breach in breaches if breach.account_id is not None}
        if accounts:
            with self._engine.begin() as connection:
                frozen = freeze_accounts(connection, accounts)
            log.error("accounts %s are frozen; see `bulksms audit`", sorted(frozen))
        return True
