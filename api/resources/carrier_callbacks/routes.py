"""Where carriers over HTTP call us: `/carriers/NAME/receipts` and `/carriers/NAME/inbound`, outside of the API proper.

What a carrier says is committed before it gets its 200, so that it says it again whenever anything goes wrong; said
again, it changes nothing.
"""

from datetime import UTC, datetime

from flask import Flask, Response

from api.http.json_body import read_bytes
from api.http.problems import Problem
from api.http.request import current_request
from api.services import Services
from shared.carriers.http import callbacks
from shared.carriers.http.config import HttpConfig
from shared.carriers.http.file import http_carriers
from shared.carriers.http.signatures import Call, proven
from shared.carriers.receipts import keep
from shared.carriers.unreadable import keep_unreadable
from shared.db.connection import transaction
from shared.inbound import store

LARGEST = 1024 * 1024
"""Bytes of a call."""


def add_callbacks(app: Flask, services: Services) -> None:
    """Serve the callbacks of the carriers that CARRIERS_FILE has. Raises SettingsError for a file that is wrong."""
    known = http_carriers(services.settings.carriers_file)
    carriers = {name: config for name, config in known.items() if config.callback is not None}

    @app.route("/carriers/<name>/receipts", methods=["GET", "POST"], provide_automatic_options=False)
    def carrier_receipts(name: str) -> Response:
        """Receipts of a carrier."""
        config, document = _heard(carriers, name, "receipts")
        try:
            found = callbacks.receipts_in(config, document, datetime.now(UTC))
        except callbacks.Unreadable as error:
            raise Problem("bad_request", f"Not a receipt: {error}.") from None
        with transaction(services.engine) as connection:
            keep(connection, config.name, found)
            keep_unreadable(connection, config.name, callbacks.unreadable_in(config, document))
        return Response(status=200)

    @app.route("/carriers/<name>/inbound", methods=["GET", "POST"], provide_automatic_options=False)
    def carrier_inbound(name: str) -> Response:
        """Messages from phones, of a carrier."""
        config, document = _heard(carriers, name, "inbound")
        try:
            found = callbacks.inbound_in(config, document)
        except callbacks.Unreadable as error:
            raise Problem("bad_request", f"Not a message: {error}.") from None
        with transaction(services.engine) as connection:
            store(connection, config.name, found)
        return Response(status=200)


def _heard(carriers: dict[str, HttpConfig], name: str, what: str) -> tuple[HttpConfig, object]:
    """The carrier that calls, and what it says. Raises Problem for anybody else."""
    config = carriers.get(name)
    if config is None:
        raise Problem("not_found", "Not found.")
    body = read_bytes(LARGEST)
    request = current_request().http
    try:
        query = callbacks.fields_of(request.query_string.decode("utf-8", "replace"))
        is_form = request.mimetype == "application/x-www-form-urlencoded"
        form = callbacks.fields_of(body.decode("utf-8", "replace")) if is_form else {}
    except callbacks.Unreadable as error:
        raise Problem("bad_request", f"The callback cannot be read: {error}.") from None
    headers = {key.lower(): value for key, value in request.headers.items()}
    if not proven(config, Call(what, headers, query, form, body, request.query_string.decode("utf-8", "replace"))):
        raise Problem("invalid_credentials", "The signature of this callback is wrong.")
    try:
        return config, callbacks.document_of(request.mimetype, query, body)
    except callbacks.Unreadable as error:
        raise Problem("bad_request", f"The callback cannot be read: {error}.") from None
