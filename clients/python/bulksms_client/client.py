"""The client."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

from bulksms_client.errors import StillOpen
from bulksms_client.models import Balance, Message, Send, SentMany, SentOne
from bulksms_client.themes import Themes
from bulksms_client.transport import KeyTokens, Transport
from bulksms_client.wire import Wire

T = TypeVar("T")


class Client(Themes):
    """One account of one service. May be used by several threads.

    Its attributes are the API by theme, such as `client.groups.create("VIP")`.

    `timeout` is per try, in seconds; a request is tried up to `tries` times, with growing pauses. Options of the three
    sends (`send_at`, `expires_at`, `reference`, `category` and more) are given by name, as the API has them. `close`
    ends its connections, and so does the end of a `with` block.
    """

    def __init__(self, url: str, api_key: str, api_secret: str, *, timeout: float = 30.0, tries: int = 5) -> None:
        wire = Wire(url, timeout, tries)
        self._transport = Transport(wire, KeyTokens(wire, api_key, api_secret))
        super().__init__(self._transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def send(self, sender_id: str, phone: str, message: str, *, key: str | None = None, **options: Any) -> SentOne:
        """Send one message to one phone. Raises LowBalance and ApiError; with a `status` of 4xx, nothing was sent."""
        body = {"sender_id": sender_id, "phone": phone, "message": message, **options}
        return SentOne.of(self.request("POST", "/sms/send", body, key=key))

    def send_bulk(
        self,
        sender_id: str,
        phones: Iterable[str | Mapping[str, Any]],
        message: str,
        *,
        key: str | None = None,
        **options: Any,
    ) -> SentMany:
        """Send one message to up to 100,000 phones. Invalid entries are in `rejected`; the others are sent to."""
        body = {"sender_id": sender_id, "phones": list(phones), "message": message, **options}
        return SentMany.of(self.request("POST", "/sms/send-bulk", body, key=key))

    def send_group(
        self, sender_id: str, group_id: str, message: str, *, key: str | None = None, **options: Any
    ) -> SentMany:
        """Send one message to every contact of a group."""
        body = {"sender_id": sender_id, "group_id": group_id, "message": message, **options}
        return SentMany.of(self.request("POST", "/sms/send-group", body, key=key))

    def balance(self) -> Balance:
        """The account's credits."""
        return Balance.of(self.request("GET", "/balance"))

    def message(self, message_id: str) -> Message:
        """One message, with its status."""
        return Message.of(self.request("GET", f"/messages/{message_id}"))

    def send_state(self, send_id: str) -> Send:
        """One send, with its progress."""
        return Send.of(self.request("GET", f"/sends/{send_id}"))

    def cancel(self, send_id: str) -> Send:
        """Cancel what has not been submitted yet; its credits are released."""
        return Send.of(self.request("POST", f"/sends/{send_id}/cancel"))

    def messages_of(self, send_id: str) -> Iterator[Message]:
        """All messages of a send, page by page."""
        return map(Message.of, self.pages(f"/sends/{send_id}/messages"))

    def wait(self, message_id: str, seconds: float = 60.0) -> Message:
        """Wait until the message has a final status. Raises StillOpen after `seconds`."""
        return _wait(lambda: self.message(message_id), lambda message: message.is_final, seconds, "message", message_id)

    def wait_for_send(self, send_id: str, seconds: float = 60.0) -> Send:
        """Wait until the whole send has been submitted. Raises StillOpen after `seconds`."""
        return _wait(lambda: self.send_state(send_id), lambda send: send.is_over, seconds, "send", send_id)

    def pages(self, path: str, **query: Any) -> Iterator[Mapping[str, Any]]:
        """Every entry of a list of the API, such as `/messages`."""
        cursor: str | None = None
        while True:
            page = self.request("GET", path, query={**query, "cursor": cursor})
            yield from page["data"]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Any:
        """Any request of the API, such as `request("GET", "/limits")`. Returns the JSON of its response."""
        return self._transport.request(method, path, body, query, key)


def _wait(fetch: Callable[[], T], ended: Callable[[T], bool], seconds: float, kind: str, name: str) -> T:
    deadline, pause = time.monotonic() + seconds, 0.2
    while True:
        found = fetch()
        if ended(found):
            return found
        if time.monotonic() + pause > deadline:
            raise StillOpen(f"The {kind} {name} was not finished within {seconds:g} s.")
        time.sleep(pause)
        pause = min(pause * 1.5, 5.0)
