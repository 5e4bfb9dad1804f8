"""Callbacks of HTTP carriers: `/carriers/NAME/receipts` and `/carriers/NAME/inbound`, outside the customers' API.

A callback is committed before its 200, so the carrier repeats it if anything fails. A repeated callback changes
nothing.
"""

from datetime import UTC, datetime

from flask import Flask, Response

from api.endpoint import services
from api.http.json_body import read_bytes
from api.http.request import current_request
from api.problems import Problem
from shared.carriers.http import callbacks
from shared.carriers.http.config import HttpConfig
from shared.carriers.http.signatures import Call, is_authentic
from shared.carriers.receipts import keep
from shared.carriers.unreadable import keep_unreadable
from shared.db.connection import transaction
from shared.inbound import store

MAX_BODY_BYTES = 1024 * 1024


def add_callbacks(app: Flask) -> None:
    """Serve the callbacks of the carriers in CARRIERS_FILE."""

    @app.route("/carriers/<name>/receipts", methods=["GET", "POST"], provide_automatic_options=False)
    def carrier_receipts(name: str) -> Response:
        """Store the receipts in a callback."""
        config, document = _read_callback(name, "receipts")
        try:
            receipts, unreadable = callbacks.receipts_in(config, document, datetime.now(UTC))
        except callbacks.UnreadableCallback as error:
            raise Problem("bad_request", f"Not a receipt: {error}.") from None
        with transaction(services().engine) as connection:
            keep(connection, config.name, receipts)
            keep_unreadable(connection, config.name, unreadable)
        return Response(status=200)

    @app.route("/carriers/<name>/inbound", methods=["GET", "POST"], provide_automatic_options=False)
    def carrier_inbound(name: str) -> Response:
        """Store the inbound messages in a callback."""
        config, document = _read_callback(name, "inbound")
        try:
            messages, unreadable = callbacks.inbound_in(config, document)
        except callbacks.UnreadableCallback as error:
            raise Problem("bad_request", f"Not a message: {error}.") from None
        with transaction(services().engine) as connection:
            store(connection, config.name, messages)
            keep_unreadable(connection, config.name, unreadable)
        return Response(status=200)


def _read_callback(name: str, kind: str) -> tuple[HttpConfig, object]:
    """The carrier and the document of a callback. Raises Problem unless the callback is readable and authentic."""
    config = services().http_carriers.get(name)
    if config is None or config.callback is None:
        raise Problem("not_found", "Not found.")
    body = read_bytes(current_request(), MAX_BODY_BYTES)
    request = current_request().http
    content_type = request.content_type or ""
    try:
        query = callbacks.fields_of(request.query_string.decode("utf-8", "replace"))
        is_form = request.mimetype == "application/x-www-form-urlencoded"
        form = callbacks.fields_of(body.decode("utf-8", "replace"), content_type) if is_form else {}
    except callbacks.UnreadableCallback as error:
        raise Problem("bad_request", f"The callback cannot be read: {error}.") from None
    headers = {key.lower(): value for key, value in request.headers.items()}
    if not is_authentic(
        config, Call(kind, headers, query, form, body, request.query_string.decode("utf-8", "replace"))
    ):
        raise Problem("invalid_credentials", "The signature of this callback is wrong.")
    try:
        return config, callbacks.document_of(content_type, query, body)
    except callbacks.UnreadableCallback as error:
        raise Problem("bad_request", f"The callback cannot be read: {error}.") from None
