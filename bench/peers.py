"""Measures other gateways on the same machine and SMSC, if they are installed: Kannel. Jasmin would need RabbitMQ.

Kannel does less per message: no balance, no status, no batches, and its store does not sync. With receipts it calls a
URL of the customer for each, as it has no other way to report a message's status.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_plus

from bench.carrier import Carrier
from bench.load import SUSTAINED, LoadResult
from bench.machine import load_average
from bench.meter import Meter
from bench.result import Case, Result
from bench.stand import FIRST_PHONE, TEXT, wait_until
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port, is_listening

SCRIPT = Path(__file__).with_name("kannel.lua")
CONFIGURATION = """\
group = core
admin-port = {admin}
admin-password = bench
smsbox-port = {smsbox}
box-allow-ip = 127.0.0.1
log-level = 4
{store}
group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = {smsc}
smsc-username = bench
smsc-password = bench
system-type = ""
transceiver-mode = true
max-pending-submits = 100

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-level = 4

group = sendsms-user
username = bench
password = bench
max-messages = 10
"""


class Shape(NamedTuple):
    """The requests of one case."""

    name: str
    spool: bool
    phones: int
    clients: int
    receipts: bool = False
    seconds: int = 10


SHAPES = (
    Shape("Kannel, no store, 1 a request, 64 clients", False, 1, 64),
    Shape("Kannel, no store, 500 a request, 16 clients", False, 500, 16),
    Shape("Kannel, spool, 1 a request, 64 clients", True, 1, 64, seconds=SUSTAINED),
    Shape("Kannel, spool, 500 a request, 16 clients", True, 500, 16),
    Shape("Kannel, no store, 1 a request, 64 clients, receipts", False, 1, 64, receipts=True),
    Shape("Kannel, no store, 500 a request, 16 clients, receipts", False, 500, 16, receipts=True),
    Shape("Kannel, spool, 1 a request, 64 clients, receipts", True, 1, 64, receipts=True),
)
SINK = """\
import asyncio, sys

class Sink(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n" * data.count(b"\\r\\n\\r\\n"))

async def main():
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
"""
"""The customer's URL: responds as fast as Python can."""


def run(result: Result) -> None:
    """Measure Kannel with a window of 100, if it and wrk are installed."""
    jasmin = "Jasmin is installed, but not measured here." if shutil.which("jasmind.py") else "Jasmin is not installed."
    if not all(map(shutil.which, ("bearerbox", "smsbox", "wrk"))):
        result.note = f"Nothing was measured: Kannel or wrk is not installed (apt-get install kannel wrk). {jasmin}"
        return
    result.note, result.load = jasmin, "wrk"
    for shape in SHAPES:
        with tempfile.TemporaryDirectory(prefix="bulksms-bench-") as folder:
            _measure(result, Path(folder), shape, 5 if result.short else shape.seconds)


def _measure(result: Result, folder: Path, shape: Shape, seconds: int) -> None:
    env = services.environment({"PYTHONPATH": str(Path.cwd())})
    smsc = Carrier(folder, env, receipts=shape.receipts)
    smsc.start()
    result.smsc, http, sink_port = smsc.kind, free_port(), free_port()
    spool = folder / "spool"
    spool.mkdir()
    store = f"store-type = spool\nstore-location = {spool}\n" if shape.spool else ""
    file = folder / "kannel.conf"
    file.write_text(CONFIGURATION.format(admin=free_port(), smsbox=free_port(), smsc=smsc.port, http=http, store=store))
    boxes = [
        Command(name, [name, "-v", "4", str(file)], env, folder / name, folder) for name in ("bearerbox", "smsbox")
    ]
    sink = Command("sink", [sys.executable, "-c", SINK, str(sink_port)], env, folder / "sink", folder)
    groups = {"smsc": smsc.process, **{box.name: box for box in boxes}}
    meter = Meter(lambda: {name: [process.pid] for name, process in groups.items()})
    try:
        if shape.receipts:
            sink.launch()
            wait_until(lambda: is_listening(sink_port), 30, "the customer's URL")
        boxes[0].launch()
        wait_until(lambda: smsc.counts()["connections"], 30, "Kannel's bind")
        boxes[1].launch()
        wait_until(lambda: is_listening(http), 30, "Kannel's API")
        url = f"http://{LOOPBACK}:{sink_port}/" if shape.receipts else ""
        case, accepted = _case(smsc, meter, shape, http, url, seconds)
        result.add(case)
        counts = smsc.counts()
        if counts["duplicates"] or counts["submits"] < accepted:
            result.void.append(f"{shape.name}: {accepted:,} accepted, {counts}")
    finally:
        for process in (*reversed(boxes), sink, smsc.process):
            process.stop()


def _case(smsc: Carrier, meter: Meter, shape: Shape, http: int, url: str, seconds: int) -> tuple[Case, int]:
    _wrk(shape, http, url, 1, FIRST_PHONE)
    before, load, cpu, begun = smsc.counts()["submits"], load_average(), meter.cpu(), time.monotonic()
    responses = _wrk(shape, http, url, seconds, FIRST_PHONE * 2)
    accepted = responses.requests * shape.phones
    wait_until(lambda: smsc.counts()["submits"] >= before + accepted, 120, "the submits that Kannel accepted")
    took = time.monotonic() - begun
    messages = smsc.counts()["submits"] - before
    figures = {"messages": messages, **responses._replace(requests=accepted).figures(), "submitted/s": messages / took}
    if shape.receipts:
        sent = smsc.counts()["submits"]
        wait_until(lambda: smsc.counts()["receipts_answered"] >= sent, 120, "the receipts")
        figures["delivered/s"] = messages / (time.monotonic() - begun)
    case = Case(shape.name, figures, rss_mib={name: round(size) for name, size in meter.memory().items()})
    case.load_average = load
    spent = {name: value - cpu[name] for name, value in meter.cpu().items()}
    case.cpu_us = {name: round(value / messages * 1e6, 1) for name, value in spent.items()}
    return case, accepted


def _wrk(shape: Shape, port: int, receipt_url: str, seconds: int, first: int) -> LoadResult:
    url = f"http://{LOOPBACK}:{port}/"
    receipts = f"&dlr-mask=31&dlr-url={quote_plus(receipt_url)}" if receipt_url else ""
    command = ["wrk", "-t1", f"-c{shape.clients}", f"-d{seconds}s", "--timeout", "30s", "-s", str(SCRIPT), url, "--"]
    arguments = [str(shape.phones), quote_plus(TEXT) + receipts, str(first)]
    completed = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return LoadResult(**json.loads(completed.stdout[completed.stdout.rindex("{") :]))
