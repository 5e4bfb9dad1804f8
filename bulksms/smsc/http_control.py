"""An HTTP interface of a simulated SMSC, for its counters and for messages from phones.

GET  /         the counters
POST /inbound  {"phone": "254711000000", "recipient": "ACME", "message": "STOP"}
"""

import asyncio
import contextlib
import json
import re
from http import HTTPStatus
from typing import Any

from bulksms.smsc.server import Smsc

TIMEOUT_SECONDS = 5.0
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,6})\r\n", re.I)


async def serve_http(smsc: Smsc, port: int) -> asyncio.Server:
    """Listen on the port."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), TIMEOUT_SECONDS)
            length = _LENGTH.search(head)
            body = await asyncio.wait_for(reader.readexactly(int(length[1]) if length else 0), TIMEOUT_SECONDS)
            status, document = _answer(smsc, head, body)
            response = json.dumps(document).encode()
            lines = [f"HTTP/1.1 {status.value} {status.phrase}", "Content-Type: application/json"]
            lines += [f"Content-Length: {len(response)}", "Connection: close", "", ""]
            writer.write("\r\n".join(lines).encode() + response)
            await writer.drain()
        writer.close()

    return await asyncio.start_server(respond, smsc.settings.host, port)


def _answer(smsc: Smsc, head: bytes, body: bytes) -> tuple[HTTPStatus, dict[str, Any]]:
    if not head.startswith(b"POST /inbound "):
        return HTTPStatus.OK, dict(smsc.records.as_json())
    try:
        document = json.loads(body)
        smsc.receive_inbound(str(document["phone"]), str(document["recipient"]), str(document["message"]))
    except (ValueError, KeyError, TypeError) as error:
        return HTTPStatus.BAD_REQUEST, {"error": f"give phone, recipient and message: {error}"}
    return HTTPStatus.OK, {"spoken": True}
