"""Reads the header Retry-After."""

import time
from email.utils import parsedate_to_datetime


def retry_after(header: str | None, longest: float) -> float:
    """The seconds in a Retry-After header (RFC 9110 §10.2.3), at most `longest`; 0 if missing or invalid."""
    if header is None:
        return 0.0
    try:
        is_date = not header.strip().isdecimal()
        seconds = parsedate_to_datetime(header).timestamp() - time.time() if is_date else float(header)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(longest, max(0.0, seconds))
