"""The installation itself."""

from typing import Any

from bulksms_client.theme import Theme


class Installation(Theme):
    """Its doctor, audits, guard and audit log."""

    def doctor(self) -> Any:
        """Check everything, which takes up to a few seconds. Problems have a remedy."""
        return self._get("/doctor")

    def audits(self, limit: int = 50, **query: Any) -> Any:
        """Results of audits, newest first; by `cursor`."""
        return self._get("/audits", limit=limit, **query)

    def guard(self) -> Any:
        """Whether sending is held because the database was restored, copied or lost commits."""
        return self._get("/guard")

    def release_guard(self, reason: str, *, send_open: bool = False, key: str | None = None) -> Any:
        """Send again. Open sends are held for review; with `send_open`, they go on, and may repeat messages."""
        return self._post("/guard/release", key, reason=reason, send_open=send_open)

    def changes(self, limit: int = 50, **query: Any) -> Any:
        """The audit log, newest first; by `account_id`, `actor`, `action`, `cursor`."""
        return self._get("/changes", limit=limit, **query)
