"""Logs as JSON lines on stderr. No message text, and no whole phone, is ever logged."""

import json
import logging
import os
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """One record, one line, whatever the message holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a JSON object on one line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def configure_logging() -> None:
    """Send everything at LOG_LEVEL (INFO) and above to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=os.environ.get("LOG_LEVEL", "INFO"), handlers=[handler], force=True)
