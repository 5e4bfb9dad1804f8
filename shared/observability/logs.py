"""Logs as JSON lines on stderr. No message text, no secret and no whole phone is ever logged.

Our code does not log them; text from elsewhere, such as the message of an exception, is redacted here.
"""

import json
import logging
import os
import re
import sys
from datetime import UTC, datetime
from typing import Any

from shared.environment import Environment, SettingsError, log_level
from shared.sms.phones import mask

VALUES = re.compile(
    r"(?:\n|\\+n)(?:DETAIL|CONTEXT|QUERY):.*?(?=\[SQL: |\n\n(?:The above exception|During handling)|\Z)"
    r"|\[parameters: [^\n]*",
    re.DOTALL,
)
"""Parts of Postgres' and SQLAlchemy's error messages that contain data: rows, also of several lines, and parameters.
They may also appear in the form of `repr`."""
SECRETS = re.compile(r"\b(smss_|smsp_|smsv_|smsl_|ops_|whsec_|Bearer )[\w.+/=~-]+")
PHONES = re.compile(r"(?:(?<![\w.-])|(?<=%2[Bb]))\+?[1-9][0-9]{9,14}(?![\w-]|\.[0-9])")
"""Numbers of 10 to 15 digits: few other numbers are that long. In a URL, a plus sign is %2B."""

FIELDS = "fields"
"""The attribute of a record with further members of its line. Loggers set it by `extra=fields(…)`."""

DEBUG_LOGGERS = (
    "celery.worker.strategy",
    "celery.app.trace",
    "shared.db.pools.CountedPool",
    "api.event_loop.ThreadOnlyPool",
)
"""Loggers whose lines are of interest at DEBUG only: Celery's write one for each received and each succeeded task,
SQLAlchemy's one whenever a pool of connections is closed."""


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON object on one line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": scrub(record.getMessage()),
        }
        line |= {
            name: scrub(value) if isinstance(value, str) else value
            for name, value in getattr(record, FIELDS, {}).items()
        }
        if record.exc_info:
            line["traceback"] = scrub(self.formatException(record.exc_info))
        return json.dumps(line)


def fields(**values: object) -> dict[str, Any]:
    """The `extra` of a log line with further members. Those that are None are left out."""
    return {FIELDS: {name: value for name, value in values.items() if value is not None}}


def scrub(message: str) -> str:
    """Remove values in database errors, secrets, and the middle digits of phones from a text."""
    message = VALUES.sub("", message)
    message = SECRETS.sub(r"\1…", message)
    return PHONES.sub(lambda match: mask(match[0]), message)


def configure_logging() -> None:
    """Log everything at LOG_LEVEL and above to stderr, Python's warnings too. Exits if that level is none.

    Successful tasks and closed pools are logged only at DEBUG.
    """
    try:
        least = log_level(Environment(os.environ))
    except SettingsError as error:
        sys.exit(str(error))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=least, handlers=[handler], force=True)
    logging.captureWarnings(True)
    level = logging.NOTSET if logging.getLogger().isEnabledFor(logging.DEBUG) else logging.WARNING
    for name in DEBUG_LOGGERS:
        logging.getLogger(name).setLevel(level)
