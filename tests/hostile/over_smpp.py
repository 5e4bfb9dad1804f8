"""Attacks on the SMPP server, beside a customer who submits as fast as he can: `python -m tests.hostile.over_smpp`.

    silent   1,000 connections that never bind, from 100 addresses
    bound    1,000 binds of another account that say nothing, in which its receipts wait
    deaf     50 binds of another account that submit and ask all the time, and never read

Each is made anew when the server ends it. The p99 of the customer's answers must stay under three times that of a quiet
time, none of his binds may end, and none of his submits be refused.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.accounts.limits import set_limits
from shared.accounts.smpp_credentials import MAX_BINDS, MAX_CREDENTIALS, create_credential
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import HEADER_SIZE, Bind, bind_body, pdu
from shared.priority import lower_priority
from tests.harness.house import SECRET_KEY, House, wait_until
from tests.harness.smpp import submit_body
from tests.harness.smpp_customer import SmppCustomer, new_credential
from tests.hostile.attacker import NICENESS
from tests.hostile.felt import LIMIT, RECOVERY
from tests.hostile.wire import ADDRESSES

CONNECTIONS, DEAF = 1_000, 50
FULL_SPEED = NO_LIMIT = 1_000_000.0
TIMES = 3
"""As long as in a quiet time: the p99 of the customer's answers must be shorter."""
SMALL = 4_096
"""Octets of the receive buffer of who never reads."""
AGAIN_SECONDS = 0.5
PATIENCE = 120.0
ATTACKS = ("silent", "bound", "deaf")


async def connected(port: int, number: int, credential: list[str] | None) -> socket.socket:
    """A connection from one of the addresses, bound with a credential if there is one. Raises OSError."""
    loop, made = asyncio.get_running_loop(), socket.socket()
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        made.bind((ADDRESSES[number % len(ADDRESSES)], 0))
        await loop.sock_connect(made, (LOOPBACK, port))
        if credential is not None:
            await loop.sock_sendall(made, pdu(Command.BIND_TRANSCEIVER, 0, 1, bind_body(Bind(*credential))))
            answer = await loop.sock_recv(made, SMALL)
            if len(answer) < HEADER_SIZE or any(answer[8:12]):
                raise ConnectionError("refused")
    except BaseException:
        made.close()
        raise
    return made


async def attack(name: str, port: int, credentials: list[list[str]], counts: Counter[str]) -> None:
    """Attack for ever."""
    loop = asyncio.get_running_loop()
    noise = pdu(Command.ENQUIRE_LINK, 0, 1) * 50 + pdu(Command.SUBMIT_SM, 0, 2, submit_body("254711000000"))

    async def one(number: int) -> None:
        while True:
            credential = None if name == "silent" else credentials[number // MAX_BINDS]
            with contextlib.suppress(OSError):
                made = await connected(port, number, credential)
                counts["connected"] += 1
                counts["now"] += 1
                try:
                    if name == "deaf":
                        while True:
                            await loop.sock_sendall(made, noise)
                    while await loop.sock_recv(made, SMALL):
                        pass
                finally:
                    counts["now"] -= 1
                    made.close()
            await asyncio.sleep(AGAIN_SECONDS)

    await asyncio.gather(*(one(number) for number in range(DEAF if name == "deaf" else CONNECTIONS)))


async def attack_until_told(name: str, port: int, credentials: list[list[str]]) -> None:
    """Attack until standard input is closed. A line says when most connections are there, another what was done."""
    counts: Counter[str] = Counter()
    attacking = asyncio.ensure_future(attack(name, port, credentials, counts))
    while counts["now"] < (DEAF if name == "deaf" else CONNECTIONS) * 0.9:
        await asyncio.sleep(0.1)
    print("connected", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(counts), flush=True)
    attacking.cancel()
    os._exit(0)


class Ground:
    """The SMPP server, the customer, and the credentials of the attacker."""

    def __init__(self, house: House, stack: ExitStack) -> None:
        self._port = free_port()
        account, first = new_credential(house.engine, "attacker", max_binds=MAX_BINDS)
        mine, credential = new_credential(house.engine, "customer", 10_000_000)
        with house.engine.begin() as connection:
            made = [
                create_credential(
                    connection, account, f"attacker-{number}", SECRET_KEY, networks=None, max_binds=MAX_BINDS
                )
                for number in range(1, MAX_CREDENTIALS)
            ]
            set_limits(connection, mine, requests_per_second=int(NO_LIMIT))
        self._credentials = [list(each) for each in (first, *made)]
        self._server = services.smpp(self._port, house.env, house.folder, Path.cwd())
        self._server.launch()
        stack.callback(self._server.stop)
        self._server.wait_ready(PATIENCE)
        self.customer = SmppCustomer([self._port], credential, 254_100_000_000, FULL_SPEED)
        self.customer.start()
        stack.callback(self.customer.stop)
        wait_until(lambda: self.customer.answered > 500, PATIENCE, "the first answers")

    @property
    def memory(self) -> int:
        """Megabytes of the server."""
        return int(psutil.Process(self._server.pid).memory_info().rss) >> 20

    def p99(self, seconds: float) -> tuple[float, int]:
        """The p99 of the customer's answers for a while, in seconds, and how many they were."""
        first = len(self.customer.wanted)
        time.sleep(seconds)
        took = sorted(each.seconds for each in self.customer.wanted[first:] if each.ids)
        return (took[int(len(took) * 0.99)] if took else seconds), len(took)

    def attacked(self, name: str, seconds: float) -> Iterator[str]:
        """Attack, print a line of what the customer felt, and yield what he should not have."""
        quiet, before = self.p99(seconds)
        small = self.memory
        with self._attacker(name) as attacker:
            assert attacker.stdout is not None and attacker.stdin is not None
            assert attacker.stdout.readline() == "connected\n"
            p99, during = self.p99(seconds)
            large = self.memory
            attacker.stdin.close()
            did = attacker.stdout.readline().strip()
        print(
            f"{name:<7} p99 {1000 * p99:.0f} ms ({1000 * quiet:.0f} quiet), {during / seconds:.0f} submits/s"
            f" ({before / seconds:.0f}), {small} to {large} MB, attacker {did}",
            flush=True,
        )
        if p99 >= max(LIMIT, TIMES * quiet):
            yield f"{name}: p99 of {1000 * p99:.0f} ms, not under {TIMES} times {1000 * quiet:.0f}"
        if self.customer.breaks or self.customer.refused:
            yield f"{name}: {self.customer.breaks} binds lost, refused {self.customer.refused[:3]}"
        time.sleep(RECOVERY)

    @contextmanager
    def _attacker(self, name: str) -> Iterator["subprocess.Popen[str]"]:
        command = [sys.executable, "-m", "tests.hostile.over_smpp", "--attack", name, "--port", str(self._port)]
        command += ["--credentials", json.dumps(self._credentials)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield process
            finally:
                process.kill()


def main() -> int:
    """Attack in each way, and return the exit code: 1 for what was not as promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each attack, and of the quiet time before it")
    parser.add_argument("--only", default=",".join(ATTACKS))
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--credentials", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attack:
        lower_priority(NICENESS)
        asyncio.run(attack_until_told(options.attack, options.port, options.credentials))
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        house = House(Path(folder), durable=True, SIMULATOR_RATE="1000")
        stack.callback(house.stop)
        house.start_workers(1)
        ground = Ground(house, stack)
        for name in options.only.split(","):
            missed += ground.attacked(name, options.seconds)
    print("\n".join(missed) or "Everything as promised.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
