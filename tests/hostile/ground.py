"""The service, with an attacker's account that owns much, and one attack at a time with the victim beside it."""

import contextlib
import json
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import text

from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port
from shared.accounts.operator_keys import create_operator_key
from shared.api_key import NewKey
from tests.harness.console import CONSOLE_KEY
from tests.harness.front import NGINX, Front
from tests.harness.house import SECRET_KEY, WORKERS_EVER, House, wait_until
from tests.harness.oidc_provider import CLIENT_ID, CLIENT_SECRET, oidc_provider
from tests.hostile import owned
from tests.hostile.achieved import achieved, late
from tests.hostile.attacker import Attacker
from tests.hostile.felt import Felt, not_handed_over, recovery
from tests.hostile.memory import Memory
from tests.hostile.scenarios import Scenario
from tests.hostile.signed_in import a_person, a_stranger
from tests.hostile.victim import Victim
from tests.hostile.wire import Target

CARRIER_RATE = 1_000
"""Segments a second of the simulated carrier, so that an attacker's bulk sends wait for it and not for a processor."""
CREDITS = 2_000_000_000
CARRIER_THAT_CALLS = """
[carrier.web]
kind = "http"
preset = "generic"
public_url = "https://sms.example"
request.url = "https://carrier.example"
values.token = "t"
callback.secret = "a secret of the carrier"
"""
START_SECONDS = 180
ARRIVAL_SECONDS = 180
"""After an attack, for what the victim has sent."""
PEOPLE = 10
"""Of the attacker's account, signed in at the console."""

OPEN_SENDS = text(
    "SELECT s.id FROM send s JOIN account a ON a.id = s.account_id WHERE a.name = 'attacker' AND s.completed_at IS NULL"
)


class Ground:
    """The service under attack. `strength` is the part of each attack's full size, and of what the attacker owns."""

    def __init__(self, house: House, strength: float) -> None:
        self.house = house
        self.strength = strength
        self.victim = Victim(house)
        self.front = Front(house.folder / "front", house.port) if NGINX else None
        self.console_port = free_port()
        self.console = self._new_console()

    def prepare(self) -> None:
        """Make both accounts, and what the attacker's owns: messages, a large group, opt-outs, people."""
        house = self.house
        attacker = house.new_account("attacker", CREDITS)
        key, token = house.key, house.token
        with house.engine.begin() as connection:
            group = owned.large_group(connection, attacker, self.strength)
        webhook = owned.webhook(house, self.strength)
        owned.long_lists(house, attacker, self.strength)
        self.victim.start(self.console_port)
        with house.engine.begin() as connection:
            operator = create_operator_key(connection, "a monitor", ["read"], SECRET_KEY)
        self._target = Target(
            house.port,
            self.strength,
            token,
            key.api_key,
            key.api_secret,
            group,
            webhook,
            house.redis.url,
            self.victim.key.api_key,
            self.victim.person.email,
            self.console_port,
            a_stranger(self.console_port),
            [a_person(house, attacker, self.console_port).cookie for _ in range(max(2, round(PEOPLE * self.strength)))],
            attacker,
            operator.api_key,
            self._operator_token(operator),
        )

    def attacked(self, scenario: Scenario, seconds: float, around: float, warm_up: float = 0.0) -> Felt:
        """Attack for so many seconds; the victim sends for `around` seconds before and after it, too.

        What it sends in the time of the `warm_up` does not count.
        """
        self.victim.port = self._port_for(scenario)
        with (
            Attacker(scenario.name) as attacker,
            self.victim as victim,
            Memory(self.house, self.console) as memory,
        ):
            time.sleep(warm_up)
            first = time.monotonic()
            time.sleep(around)
            before, memory.most = memory.now(), 0  # the start of the processes does not count
            attacker.begin(replace(self._target, port=victim.port))
            begin = time.monotonic()
            time.sleep(seconds)
            end, most = time.monotonic(), memory.most
            did = attacker.end()
            time.sleep(around)
            after = memory.now()
        quiet = [request for request in victim.requests if first <= request.due < begin]
        during = [request for request in victim.requests if begin <= request.due < end]
        rest = [request for request in victim.requests if request.due >= end]
        felt = Felt(scenario, quiet, during, rest, did=did)
        felt.memory = (sum(before.values()), most, sum(after.values()))
        felt.grown = {name: (before.get(name, 0), size) for name, size in after.items()}
        felt.recovery = recovery(quiet, victim.requests, end)

        def arrived() -> bool:
            felt.delays, felt.webhook_delays = victim.delays(during + rest), victim.webhook_delays(during + rest)
            felt.group_delays = victim.group_delays(during + rest)
            return not list(not_handed_over(felt))

        with contextlib.suppress(AssertionError):  # what has not come then is missing from the counts
            wait_until(arrived, ARRIVAL_SECONDS, "the victim's messages")
        felt.late = late(self.house.engine, did)
        felt.achieved = list(achieved(self.house.engine, felt.late))
        return felt

    def _port_for(self, scenario: Scenario) -> int:
        if not scenario.through_nginx:
            return self.house.port
        assert self.front is not None, f"the attack {scenario.name} goes through nginx, which is not installed"
        return self.front.port

    def cancel_sends(self) -> None:
        """Cancel what the attacker's bulk sends left in the queue: a minute of work for the carrier."""
        self.house.token = self._target.token
        with self.house.engine.connect() as connection:
            sends = connection.execute(OPEN_SENDS).scalars().all()
        for send in sends:
            self.house.try_request("POST", f"/sends/{send}/cancel")

    def restart(self) -> None:
        """Restart the API and the console: their memory is as small as at first."""
        assert self.house.api is not None
        self.console.stop()
        self.house.api.stop()
        self.house.start_api()
        self.console = self._new_console()
        self.console.launch()
        self.console.wait_ready(START_SECONDS)

    def _new_console(self) -> Command:
        return services.console(self.console_port, self.house.port, self.house.env, self.house.folder, Path.cwd())

    def _operator_token(self, key: NewKey) -> str:
        request = urllib.request.Request(
            f"http://{LOOPBACK}:{self.house.port}/operator/v1/auth/token",
            json.dumps(key._asdict()).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return str(json.load(response)["access_token"])


@contextlib.contextmanager
def ground(folder: Path, strength: float, *, durable: bool) -> Iterator[Ground]:
    """A running service with one worker, prepared."""
    settings = {
        "WEBHOOK_LOOPBACK": "1",
        "SIMULATOR_RATE": str(CARRIER_RATE),
        "LEASE_SECONDS": "15",
        "TRUSTED_PROXIES": f"{LOOPBACK}/32",
        "CONSOLE_SECRET_KEY": CONSOLE_KEY,
    }
    with oidc_provider() as provider:
        settings |= {
            "OIDC_ISSUER": provider.issuer,
            "OIDC_CLIENT_ID": CLIENT_ID,
            "OIDC_CLIENT_SECRET": CLIENT_SECRET,
        }
        made = House(folder, durable=durable, **settings)
        there = Ground(made, strength)
        try:
            made.launch_worker()
            made.start_webhooks()
            carriers = folder / "carriers.toml"
            carriers.write_text(CARRIER_THAT_CALLS)
            made.env |= {"CARRIERS_FILE": str(carriers), "CARRIER": ""}  # for the API only: it takes the callbacks
            there.console.launch()
            made.start_api()
            there.console.wait_ready(START_SECONDS)
            if there.front is not None:
                front = there.front
                front.resolve_to(LOOPBACK)
                front.start()
                wait_until(lambda: front.server(LOOPBACK) in front.servers(), START_SECONDS, "the API, before nginx")
            wait_until(lambda: made.scalar(WORKERS_EVER), START_SECONDS, "the worker")
            there.prepare()
            yield there
            there.victim.stop()
        finally:
            if there.front is not None:
                there.front.stop()
            there.console.stop()
            made.stop()
