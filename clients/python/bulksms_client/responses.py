"""What a service responded: what was asked for, or an error."""

import json
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, Self

from bulksms_client.errors import ApiError, LowBalance

UNKNOWN = "unknown"
"""The code of a response that is not the API's, such as a proxy's own page."""


@dataclass(frozen=True, slots=True)
class Response:
    """The response to one try."""

    status: int
    document: Any
    """A JSON object; None if a success has no content. For anything else, a problem with the code UNKNOWN."""
    is_success: bool
    retry_after: float
    """Seconds; 0 if the service has not said how long to wait."""

    @classmethod
    def of(cls, head: HTTPResponse, raw: bytes) -> Self:
        """A response with the body `raw`. A JSON object or no content is a success, with a status of 2xx."""
        document = _object(raw)
        is_success = 200 <= head.status < 300 and (document is not None or head.status == 204)
        if document is None and not is_success:
            shown = head.headers.get("Location") or raw[:200].decode("utf-8", "replace")
            document = {"code": UNKNOWN, "detail": f"This response is not the API's: {shown}"}
        return cls(head.status, document, is_success, _seconds(head.headers.get("Retry-After")))

    def is_not_found(self, codes: str) -> bool:
        """Whether the API says that there is no such object: with a code that ends in `codes`."""
        return self.status == 404 and self.error().code.endswith(codes)

    def result(self) -> Any:
        """What was asked for. Raises ApiError."""
        if self.is_success:
            return self.document
        raise self.error()

    def error(self) -> ApiError:
        """The error that this response is."""
        problem = self.document or {}
        return (LowBalance if problem.get("code") == "low_balance" else ApiError)(self.status, problem)


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        document = json.loads(raw)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0
