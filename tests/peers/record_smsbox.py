"""Records what Kannel's smsbox answers to the requests of tests/harness/kannel.py.

    python -m tests.peers.record_smsbox

It needs Kannel (apt-get install kannel). The carrier is Kannel's fake one, which takes everything.
"""

import json
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from bulksms.local.ports import free_port
from tests.harness.kannel import ANSWERS, REQUESTS, Answered, Asked
from tests.peers.kannel_boxes import boxes

FAKE = """
group = smsc
smsc = fake
smsc-id = fake
port = {port}
connect-allow-ip = 127.0.0.1
"""


def ask(url: str, asked: Asked) -> Answered:
    """Send the request."""
    body = None if asked.body is None else asked.body.encode()
    request = urllib.request.Request(f"{url}?{asked.query}" if asked.query else url, body, dict(asked.headers))
    try:
        with urllib.request.urlopen(request) as answer:
            return Answered(answer.status, answer.read().decode())
    except urllib.error.HTTPError as answer:
        return Answered(answer.code, answer.read().decode())


def _read_all(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def answers() -> dict[str, Answered]:
    """Kannel's answers by the names of the requests."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as folder,
        boxes(Path(folder), FAKE.format(port=port)) as url,
        socket.create_connection(("127.0.0.1", port)) as carrier,
    ):
        threading.Thread(target=_read_all, args=(carrier,), daemon=True).start()
        while ask(url, REQUESTS[0]).text != "0: Accepted for delivery":
            time.sleep(0.1)
        found = {asked.name: ask(url, asked) for asked in REQUESTS}
        carrier.shutdown(socket.SHUT_RDWR)
    return found


def main() -> None:
    """Write the file."""
    made = {"by": "Kannel 1.4.5, Debian 1.4.5-12", "answers": answers()}
    ANSWERS.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
