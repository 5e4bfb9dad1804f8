"""Price lists."""

from collections.abc import Iterator
from typing import IO, Any

from bulksms_client.theme import Listed


class PriceLists(Listed):
    """Price lists and their versions, by id."""

    path = "/price-lists"

    def one(self, list_id: int) -> Any:
        """A list with its versions."""
        return self._get(f"/price-lists/{list_id}")

    def create(self, name: str, carrier: str | None = None, key: str | None = None) -> Any:
        """A new list, without prices; with `carrier`, of what that carrier costs."""
        return self._post("/price-lists", key, name=name, carrier=carrier)

    def load(self, list_id: int, sheet: IO[bytes], length: int, content_type: str, key: str | None = None) -> Any:
        """Import a CSV file of `length` bytes as a draft. The response says what it would change."""
        path = f"/price-lists/{list_id}/import"
        return self._transport.upload(path, sheet, length, content_type=content_type, key=key)

    def version(self, version_id: int) -> Any:
        """A version, and what it changes."""
        return self._get(f"/price-versions/{version_id}")

    def csv(self, version_id: int) -> Iterator[bytes]:
        """The prices of a version as CSV."""
        return self._transport.stream(f"/price-versions/{version_id}/prices")

    def publish(self, version_id: int, valid_from: str | None = None, key: str | None = None) -> Any:
        """Publish a draft."""
        return self._post(f"/price-versions/{version_id}/publish", key, valid_from=valid_from)

    def withdraw(self, version_id: int, key: str | None = None) -> Any:
        """Withdraw a version that is not valid yet, or delete a draft."""
        return self._post(f"/price-versions/{version_id}/withdraw", key)

    def assign(self, account_id: Any, list_id: int | None, key: str | None = None) -> Any:
        """Give an account a list; without an account, set the default."""
        body = {"account_id": account_id, "list_id": list_id}
        return self._transport.request("POST", "/price-assignments", body, key=key)
