"""The opt-out list."""

from collections.abc import Iterator, Mapping
from typing import IO, Any
from urllib.parse import quote

from bulksms_client.theme import Listed


class Suppressions(Listed):
    """The phones that get no messages; by `phone`, `category`, `sender_id`, `reason`."""

    path = "/suppressions"

    def csv(self, **query: Any) -> Iterator[bytes]:
        """All entries as CSV."""
        return self._transport.stream("/suppressions", query)

    def create(self, body: Mapping[str, Any], key: str | None = None) -> Any:
        """Add `phones`, for everything or for a `category` or `sender_id`, with a `reason`."""
        return self._transport.request("POST", "/suppressions", body, key=key)

    def import_file(
        self, file: IO[bytes], length: int, content_type: str = "text/csv", phone_column: str | None = None
    ) -> Any:
        """Add the entries of a CSV file of `length` bytes, in the encoding of its `content_type`.

        `phone_column` is the name or the number of the column of the phones, if it is refused as not certain.
        """
        query = {"phone_column": phone_column}
        return self._transport.upload("/suppressions/import", file, length, query, content_type=content_type)

    def delete(self, phone: str, **query: Any) -> Any:
        """Remove a phone's entries: all, or the one for `everything`, a `category` or a `sender_id`."""
        return self._transport.request("DELETE", f"/suppressions/{quote(phone, safe='')}", query=query)
