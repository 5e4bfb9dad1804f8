"""Messages: to phones, and from them."""

from collections.abc import Iterator
from typing import Any

from bulksms_client.theme import Listed, WithEntries


class Messages(WithEntries):
    """Each SMS to each phone, newest first; by `phone`, `reference`, `status`, `since`, `until` and what else the API
    filters by. One has its text, attempts and timeline."""

    path = "/messages"

    def cancel(self, message_id: str, key: str | None = None) -> Any:
        """Cancel one that has not left, and release its credits. Returns it."""
        return self._transport.request("POST", f"/messages/{message_id}/cancel", key=key)

    def errors(self) -> Any:
        """The codes of messages' errors, each with its title, meaning and remedy."""
        return self._get("/errors", kind="message")


class Exports(WithEntries):
    """Files of any number of messages, which workers make: by the same filters, and `format`."""

    path = "/exports"

    def begin(self, key: str | None = None, **filters: Any) -> Any:
        """Begin one."""
        return self._post(self.path, key, **filters)

    def delete(self, export_id: str) -> Any:
        """Delete one with its file, or stop it."""
        return self._transport.request("DELETE", f"{self.path}/{export_id}")

    def file(self, export_id: str) -> Iterator[bytes]:
        """The file of one that is completed."""
        return self._transport.stream(f"{self.path}/{export_id}/file")


class Verifications(WithEntries):
    """One-time passwords, newest first; by `phone`."""

    path = "/verifications"

    def start(self, sender_id: str, phone: str, key: str | None = None, **options: Any) -> Any:
        """Send a code; with `purpose`, `language` and what else the API takes. Returns the verification."""
        return self._post(self.path, key, sender_id=sender_id, phone=phone, **options)

    def check(self, verification_id: str, code: str, key: str | None = None) -> Any:
        """Check an entered code. The `status` of the result is `approved` if it is right."""
        return self._post(f"{self.path}/{verification_id}/check", key, code=code)

    def rates(self, **query: Any) -> Any:
        """How many were started and approved, `by` country or prefix, between `since` and `until`."""
        return self._get(f"{self.path}/rates", **query)


class Inbound(Listed):
    """What phones have sent to the account's numbers, newest first; by `phone`, `sender_id`, `keyword`, `latest`,
    `since`, `until`."""

    path = "/inbound"
