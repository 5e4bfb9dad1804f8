"""Whatever dies, stops or fails at a crash point: nothing is lost or sent twice, every credit is accounted for.

`make crashpoints` runs every point in every mode; the default run has a few of them.
"""

import contextlib
import http.client
import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port
from shared.audit.check import audit
from shared.crashpoints import MODES, NAMES
from shared.outbox import LISTEN
from tests.crashpoints import WHERE_A_SEND_MAY_BE_STOPPED, WHERE_AN_ACCOUNT_LISTENS
from tests.harness.house import STEADY, House, wait_until
from tests.harness.prices import publish_prices
from tests.harness.smpp_customer import SmppCustomer, new_credential

pytestmark = pytest.mark.slow
WINDOW = 400
"""Of the simulated carrier: at most so many messages may be in doubt after one crash of a worker."""

OF_THE_API = [name for name in NAMES if name.startswith("accept.")]
OF_DELIVERIES = [name for name in NAMES if name.startswith("smpp.")]
ALL = [(name, mode) for name in NAMES if name not in OF_DELIVERIES for mode in MODES]
OVER_SMPP = [(name, mode) for name in (*OF_THE_API, *OF_DELIVERIES) for mode in MODES]
SHORT = {
    ("accept.committed", "exit"),
    ("claim.committed", "exit"),
    ("record.committed", "stop"),
    ("settle_rest.before_commit", "raise"),
}
SHORT_OVER_SMPP = {("accept.committed", "exit"), ("smpp.delivered", "stop")}
WAIT = 300
"""Seconds: what ends a wait that would never end."""

HITS = {"expand": 1, "recover": 1, "copy": 1, "accept": 2, "receipts": 2, "smpp": 2}
numbers = count(1)
THOUSANDS = (1, 501, 503)
"""Of the phones of a workload: the second thousand of its list, and two of its group."""
PRICES = [("", "", 1)] + [
    ("", str(254_000_000 + number * 1_000 + each), 1 + each % 5) for number in range(1, 200) for each in THOUSANDS
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"), **STEADY)
    try:
        publish_prices(made.engine, PRICES)
        yield made
    finally:
        made.stop()


def cases(every: list[tuple[str, str]], short: set[tuple[str, str]]) -> list[Any]:
    """Every point and mode; those that are not in the short form only by `make crashpoints`."""
    return [
        pytest.param(name, mode, marks=() if (name, mode) in short else pytest.mark.crashpoints, id=f"{name}-{mode}")
        for name, mode in every
    ]


@pytest.mark.parametrize(("name", "mode"), cases(ALL, SHORT))
def test_nothing_is_lost_and_nothing_is_sent_twice(service: House, name: str, mode: str) -> None:
    crash_the_api(service, name, mode) if name in OF_THE_API else crash_a_worker(service, name, mode)
    assert service.most_submits() <= 1
    assert audit(service.engine, full=True) == []


@pytest.mark.parametrize(("name", "mode"), cases(OVER_SMPP, SHORT_OVER_SMPP))
def test_no_submit_and_no_receipt_is_lost(service: House, name: str, mode: str) -> None:
    """A customer whose submits have keys binds at a second process when the first one is gone or hangs."""
    number, ports = next(numbers), [free_port(), free_port()]
    account, credential = new_credential(service.engine, f"crash-{number}", 1_000)
    customer = SmppCustomer(ports, credential, 254_000_600_000 + number * 1_000_000)
    processes: list[Command] = []
    with stopping(service, processes):
        service.start_workers(1)
        processes.append(started_smpp(service, ports[0], f"{name}:{mode}:{HITS[name.partition('.')[0]]}"))
        customer.start()
        wait_until(lambda: has_crashed(processes[0], mode), WAIT, f"the crash at {name}")
        processes.append(started_smpp(service, ports[1]))
        answered = customer.answered
        wait_until(lambda: customer.answered > answered + 20, WAIT, "answers after the crash")
        if mode == "stop":
            assert processes[0].pid is not None
            os.kill(processes[0].pid, signal.SIGCONT)
        customer.hold()
        wait_until(customer.is_settled, WAIT, "every answer and every receipt")
        customer.repeat_all()
        wait_until(lambda: all(len(each.ids) > 1 for each in customer.wanted), WAIT, "the answers to repeated submits")
        customer.stop()
    assert customer.refused == []
    assert all(len(set(each.ids)) == 1 for each in customer.wanted), "each key has the first answer"
    stored = f"SELECT count(*) FROM send WHERE account_id = {account}"
    assert service.scalar(stored) == len(customer.wanted) == len({each.ids[0] for each in customer.wanted})
    assert service.scalar(f"SELECT available FROM account WHERE id = {account}") == 1_000 - len(customer.wanted)
    assert set(customer.receipts) == {each.ids[0] for each in customer.wanted}
    assert service.most_submits() <= 1
    assert audit(service.engine, full=True) == []


def started_smpp(service: House, port: int, crashpoint: str = "") -> Command:
    """An SMPP server on the port, armed if a crash point is given."""
    env = {**service.env, "CRASHPOINT": crashpoint}
    process = services.smpp(port, env, service.folder, Path.cwd())
    process.log_file = service.folder / f"smpp-{port}.log"
    process.launch()
    process.wait_ready(WAIT)
    return process


def crash_a_worker(service: House, name: str, mode: str) -> None:
    with stopping(service):
        service.start_api()
        rules = {"stop_if": {"failed_share": 0.9}} if name in WHERE_A_SEND_MAY_BE_STOPPED else {}
        sends = workload(service, name in WHERE_AN_ACCOUNT_LISTENS, rules)
        if name.startswith("recover.") or name == "copy.doubt":
            leave_something_behind(service)
        worker = start_armed_worker(service, f"{name}:{mode}:{HITS.get(name.partition('.')[0], 3)}")
        wait_until(lambda: has_crashed(worker, mode), WAIT, f"the crash at {name}")
        if mode == "exit":
            worker.stop()
            service.workers.remove(worker)
        service.start_workers(1)
        if mode == "stop":
            service.wait_for_end(WAIT)
            assert worker.pid is not None
            os.kill(worker.pid, signal.SIGCONT)
        service.wait_for_end(WAIT)
        for send, accepted in sends.items():
            # A worker that was stopped may have submitted what it had claimed, and its receipts are on their way.
            wait_until(partial(everybody_is_known, service, send), WAIT, f"the end of send {send}")
            counts = service.get(f"/sends/{send}")["counts"]
            assert counts["accepted"] == accepted
            assert counts["in_doubt"] <= WINDOW


def everybody_is_known(service: House, send: str) -> bool:
    """Whether every accepted message was delivered or is in doubt."""
    counts = service.get(f"/sends/{send}")["counts"]
    return bool(counts["delivered"] + counts["in_doubt"] == counts["accepted"])


def crash_the_api(service: House, name: str, mode: str) -> None:
    with stopping(service):
        service.env["CRASHPOINT"] = f"{name}:{mode}:{HITS['accept']}"
        try:
            service.start_api()
        finally:
            del service.env["CRASHPOINT"]
        service.new_account(f"crash-{next(numbers)}", 1000)
        bodies = [
            (f"key-{number}", {"sender_id": "ACME", "phone": str(254711000000 + number), "message": "Hi"})
            for number in range(6)
        ]
        for key, body in bodies:
            with contextlib.suppress(OSError, http.client.HTTPException):
                wake_the_stopped(service, delay=1.0 if mode == "stop" else 0.0)
                service.try_request("POST", "/sms/send", body, {"Idempotency-Key": key}, timeout=3)
        wake_the_stopped(service)
        assert service.api is not None
        service.api.stop()
        service.start_api()
        for key, body in bodies:
            assert service.try_request("POST", "/sms/send", body, {"Idempotency-Key": key})[0] == 200
        assert len(service.get("/sends")["data"]) == len(bodies)
        assert service.get("/balance")["balance"] == 1000 - len(bodies)
        service.start_workers(1)
        service.wait_for_end(WAIT)


def workload(service: House, listens: bool, rules: dict[str, Any]) -> dict[str, int]:
    """A list, a group of several pages and single sends. Returns the accepted messages by send."""
    number = next(numbers)
    account = service.new_account(f"crash-{number}", 100_000)
    if listens:
        service.execute(LISTEN, account_id=account)
    first = 254_000_000_000 + number * 1_000_000
    group = service.new_group(account, 9_000, first + 500_000)
    phones = [str(first + index) for index in range(3_000)]
    sends = [service.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi", **rules)]
    sends.append(service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", **rules))
    made = {send["send_id"]: send["counts"]["accepted"] for send in sends}
    for index in range(10):
        phone = str(first + 900_000 + index)
        made[service.post("/sms/send", sender_id="ACME", phone=phone, message="Hi")["send_id"]] = 1
    return made


def leave_something_behind(service: House) -> None:
    """A worker that died after its claim."""
    worker = start_armed_worker(service, "claim.committed:exit:1")
    wait_until(lambda: has_crashed(worker, "exit"), WAIT, "the first crash")
    worker.stop()
    service.workers.remove(worker)


def start_armed_worker(service: House, crashpoint: str) -> Command:
    usual = dict(service.env)
    service.env |= {"CRASHPOINT": crashpoint, "LEASE_SECONDS": "3"}
    try:
        service.launch_worker()
    finally:
        service.env = usual
    return service.workers[-1]


def has_crashed(worker: Command, mode: str) -> bool:
    if mode == "raise":
        return "CrashPoint" in worker.log_file.read_text()
    if mode == "exit":
        return worker.exit_code() is not None
    assert worker.pid is not None
    return bool(psutil.Process(worker.pid).status() == psutil.STATUS_STOPPED)


def wake_the_stopped(service: House, delay: float = 0.0) -> None:
    """Send SIGCONT to API processes that were stopped, after a while."""

    def wake() -> None:
        time.sleep(delay)
        assert service.api is not None and service.api.pid is not None
        for process in psutil.Process(service.api.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)

    if delay:
        threading.Thread(target=wake, daemon=True).start()
    else:
        wake()


@contextlib.contextmanager
def stopping(service: House, others: list[Command] | None = None) -> Iterator[None]:
    """Stop what the test started, also what it left stopped."""
    try:
        yield
    finally:
        for process in (*(others or ()), *service.workers, service.api):
            if process is not None and process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGCONT)
                with contextlib.suppress(ProcessLookupError):
                    process.stop()
        service.workers.clear()
        service.api = None
