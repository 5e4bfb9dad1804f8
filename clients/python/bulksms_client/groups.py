"""Groups, their contacts, and imports."""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from bulksms_client.theme import WithEntries


class Groups(WithEntries):
    """Groups of contacts; by `search`, a part of their name."""

    path = "/groups"

    def create(self, name: str, key: str | None = None) -> Any:
        """A new group. Its name must be free."""
        return self._post("/groups", key, name=name)

    def rename(self, group_id: str, name: str) -> Any:
        """Rename the group."""
        return self._transport.request("PATCH", f"/groups/{group_id}", {"name": name})

    def delete(self, group_id: str) -> Any:
        """Delete the group with its contacts."""
        return self._transport.request("DELETE", f"/groups/{group_id}")

    def contacts(self, group_id: str, limit: int = 50, **query: Any) -> Any:
        """Its contacts; by `phone`, `tag`, `cursor`."""
        return self._get(f"/groups/{group_id}/contacts", limit=limit, **query)

    def contacts_csv(self, group_id: str, **query: Any) -> Iterator[bytes]:
        """All its contacts as CSV; by `tag`."""
        return self._transport.stream(f"/groups/{group_id}/contacts", query)

    def put_contacts(self, group_id: str, contacts: Sequence[str | Mapping[str, Any]], key: str | None = None) -> Any:
        """Add contacts, or change the fields and tags of those that are there."""
        return self._post(f"/groups/{group_id}/contacts", key, contacts=list(contacts))

    def remove_contacts(self, group_id: str, phones: Sequence[str]) -> Any:
        """Remove phones from the group."""
        return self._transport.request("DELETE", f"/groups/{group_id}/contacts", {"phones": list(phones)})

    def import_file(
        self,
        group_id: str,
        file: IO[bytes],
        length: int,
        country: str | None = None,
        content_type: str = "text/csv",
        key: str | None = None,
        phone_column: str | None = None,
        fields: Sequence[str] = (),
    ) -> Any:
        """Import a CSV file of `length` bytes. Workers read it; the response has the import.

        Give `text/csv; charset=windows-1252` for a file in that encoding. `phone_column` is the name or the number of
        the column of the phones, if it is refused as not certain; `fields` are the columns to keep.
        """
        path = f"/groups/{group_id}/import"
        query = {"country": country, "phone_column": phone_column, "fields": ",".join(fields) or None}
        return self._transport.upload(path, file, length, query, content_type=content_type, key=key)

    def imports(self, limit: int = 50, **query: Any) -> Any:
        """Imports, newest first; by `group_id`, `cursor`."""
        return self._get("/imports", limit=limit, **query)

    def one_import(self, import_id: str) -> Any:
        """How far an import has come."""
        return self._get(f"/imports/{import_id}")

    def cancel_import(self, import_id: str) -> Any:
        """Stop an import. What it has added stays."""
        return self._transport.request("POST", f"/imports/{import_id}/cancel")

    def import_errors(self, import_id: str, limit: int = 50, **query: Any) -> Any:
        """The rows that were not imported, each with its reason."""
        return self._get(f"/imports/{import_id}/errors", limit=limit, **query)

    def import_errors_csv(self, import_id: str) -> Iterator[bytes]:
        """The same as CSV."""
        return self._transport.stream(f"/imports/{import_id}/errors")
