"""What the themes of the API share. Their responses are the JSON of the API."""

from typing import Any

from bulksms_client.transport import Transport


class Theme:
    """A part of the API, on behalf of the caller of a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _get(self, path: str, **query: Any) -> Any:
        return self._transport.request("GET", path, query=query)

    def _post(self, path: str, /, key: str | None = None, **body: Any) -> Any:
        """POST the members of `body` that are not None."""
        return self._transport.request("POST", path, given(**body), key=key)


class Listed(Theme):
    """A theme with a list, which is at its `path`."""

    path: str

    def page(self, limit: int = 50, **query: Any) -> Any:
        """A page of the list: `data` and `next_cursor`. By `cursor`, and by what the class names."""
        return self._get(self.path, limit=limit, **query)


class WithEntries(Listed):
    """A list of which each entry has an address of its own."""

    def one(self, id: str) -> Any:
        """One entry of the list."""
        return self._get(f"{self.path}/{id}")


def given(**members: Any) -> dict[str, Any]:
    """The members that are not None: the API distinguishes them from those that are left out."""
    return {name: value for name, value in members.items() if value is not None}
