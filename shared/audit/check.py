"""Checks every rule of `shared.audit.rules` against one snapshot of the database.

The snapshot is a read-only REPEATABLE READ transaction without locks, so an audit can run on a live system at any time.
Every change of state is one commit, so the rules hold at every moment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, Engine, text

from shared.audit.rules import RULES, Rule
from shared.ids import first_id_at
from shared.settings import DEFAULTS

__all__ = ["RULES", "Breach", "Rule", "audit", "rules_of"]

MAX_BREACHES = 100
"""Maximum number of breaches reported per rule."""
STATEMENT_TIMEOUT = "1h"
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Breach:
    """A violation of a rule: its subject, and the numbers that disagree."""

    rule: str
    subject: str
    detail: str
    account_id: int | None = None
    """The account to freeze until the breach is investigated; None if no account's money is affected."""


def rules_of(full: bool) -> list[Rule]:
    """The rules of a full or a fast audit, in order."""
    return [rule for rule in RULES if full or not rule.full_only]


def audit(
    engine: Engine,
    full: bool,
    doubt_grace: float = DEFAULTS.doubt_grace,
    on_rule: Callable[[Rule, list[Breach]], None] = lambda rule, breaches: None,
    span: timedelta = DAY,
) -> list[Breach]:
    """Check every rule and return the breaches; none is a clean audit.

    Without `full`, only sends that are open or completed within the last `span` are checked, and references, groups and
    keys of that time. `doubt_grace` is the setting of the same name, in seconds. `on_rule` is called after each rule,
    to show progress.
    """
    breaches: list[Breach] = []
    with (
        engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection,
        connection.begin(),
    ):
        connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'"))
        for rule in rules_of(full):
            rule_breaches = check(connection, rule, full, doubt_grace, span)
            on_rule(rule, rule_breaches)
            breaches += rule_breaches
    return breaches


def check(
    connection: Connection, rule: Rule, full: bool, doubt_grace: float = DEFAULTS.doubt_grace, span: timedelta = DAY
) -> list[Breach]:
    """The breaches of one rule, at most MAX_BREACHES."""
    parameters = {
        "full": full,
        "since": first_id_at(datetime.fromtimestamp(0, UTC) if full else datetime.now(UTC) - span),
        "span": span,
        "grace": doubt_grace,
    }
    used = {name: value for name, value in parameters.items() if f":{name}" in rule.sql}
    rows = connection.execute(text(f"SELECT * FROM ({rule.sql}) AS breach LIMIT {MAX_BREACHES}"), used)
    return [Breach(rule.name, row.subject, row.detail, row.account_id if rule.freezes else None) for row in rows]
