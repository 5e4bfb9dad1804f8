"""A form that is posted only so that it is shown again as it was filled in, because its session had ended."""

from bulksms_client.errors import ApiError
from bulksms_client.transport import Transport
from flask import request

SHOWN_AGAIN = "shown_again"
"""The field of such a form, with the address of its page; also the error code of changes that are refused then."""
ONLY_ASKS = frozenset({"/sms/quote", "/me/token", "/me/operator-token"})
"""Paths of the API where a POST changes nothing."""


def is_shown_again() -> bool:
    """Whether this request's form is only to be shown again."""
    return request.method == "POST" and SHOWN_AGAIN in request.form


def refuse_changes() -> None:
    """Raise ApiError `shown_again` if this request's form is only to be shown again."""
    if is_shown_again():
        raise ApiError(409, {"code": SHOWN_AGAIN})


class GuardedTransport(Transport):
    """A transport that changes nothing for a form that is only to be shown again."""

    def check(self, method: str, path: str) -> None:
        """Refuse changes then."""
        if method != "GET" and path not in ONLY_ASKS:
            refuse_changes()
