"""Logs as JSON lines on stderr. No message text, no secret and no whole phone is ever logged.

The code does not log them; what comes from elsewhere, such as the words of an exception, is gone through once more.
"""

import json
import logging
import os
import re
import sys
from datetime import UTC, datetime

from shared.sms.phones import mask

VALUES = re.compile(
    r"(?:\n|\\+n)(?:DETAIL|CONTEXT|QUERY):.*?(?=\[SQL: |\n\n(?:The above exception|During handling)|\Z)"
    r"|\[parameters: [^\n]*",
    re.DOTALL,
)
"""What Postgres and SQLAlchemy say of a failed statement besides what is wrong with it: rows, which may hold lines of
their own, and parameters. The words of an exception may also stand in a message as `repr` writes them."""
SECRETS = re.compile(r"\b(smss_|whsec_|Bearer )[\w.+/=~-]+")
PHONES = re.compile(r"(?<![\w.-])\+?[1-9][0-9]{9,14}(?![\w-]|\.[0-9])")
"""Numbers of 10 to 15 digits that stand by themselves: few others are that long."""


OF_EACH_TASK = ("celery.worker.strategy", "celery.app.trace")
"""Loggers of Celery that write a line for each task received and for each that succeeded."""


class JsonLines(logging.Formatter):
    """One record, one line, whatever the message holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON object on one line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": scrub(record.getMessage()),
        }
        if record.exc_info:
            line["traceback"] = scrub(self.formatException(record.exc_info))
        return json.dumps(line)


def scrub(message: str) -> str:
    """A text without what no log may hold: values in an error of the database, secrets, and the middle of phones."""
    message = VALUES.sub("", message)
    message = SECRETS.sub(r"\1…", message)
    return PHONES.sub(lambda found: mask(found[0]), message)


def configure_logging() -> None:
    """Send everything at LOG_LEVEL (INFO) and above to stderr; below DEBUG nothing of tasks that go well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=os.environ.get("LOG_LEVEL", "INFO"), handlers=[handler], force=True)
    of_tasks = logging.NOTSET if logging.getLogger().isEnabledFor(logging.DEBUG) else logging.WARNING
    for name in OF_EACH_TASK:
        logging.getLogger(name).setLevel(of_tasks)
