"""Time limits of single transactions that differ from those of the connection."""

from typing import Final

from sqlalchemy import text

ALLOW_LONG_STATEMENTS: Final = text("SET LOCAL statement_timeout = '10min'")
"""For a search or a count of very many rows."""
WAIT_BRIEFLY_FOR_LOCKS: Final = text("SET LOCAL lock_timeout = '500ms'")
"""For locks behind which all users of a table wait: better retried than waited for."""
