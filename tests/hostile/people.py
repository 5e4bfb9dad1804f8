"""What people of one account, and holders of an operator key that may only read, can do at the console."""

import asyncio
import itertools
import random

from bench.browser import next_look
from tests.hostile.wire import Connection, Wire

OPENED_WITHIN = 6.0
"""Seconds in which the pages are opened."""
PAGES = ("/", "/messages/", "/sends/", "/opt-outs/", "/opt-outs/opt-outs.csv", "/now")
OPERATOR_LISTS = (
    "/accounts?limit=1000",
    "/changes?limit=1000",
    "/sends?limit=1000",
    "/sender-ids?limit=1000",
    "/doubts?limit=1000",
    "/inbound?limit=1000",
    "/audits?limit=1000",
    "/unreadable-receipts?limit=1000",
    "/failed-jobs?limit=1000",
    "/accounts/{account}",
    "/accounts/{account}/top-ups?limit=1000",
    "/queue",
    "/carriers",
    "/doctor",
)


async def open_pages(wire: Wire) -> None:
    """A thousand open pages of one account, each of which looks again when its last response says so, as htmx does."""
    console, cookies = wire.at_console(), itertools.cycle(wire.target.cookies)
    overview = f"/accounts/{wire.target.account}/live/now"

    async def keep_open(cookie: str) -> None:
        await asyncio.sleep(random.uniform(0, OPENED_WITHIN * wire.target.strength))

        async def use(connection: Connection) -> None:
            path, seconds = overview, 0
            while True:
                await asyncio.sleep(seconds)
                status, part = await console.ask(connection, console.page(path, cookie, "HX-Request: true"))
                path, seconds = (next_look(part.decode()) if status == 200 else None) or (overview, seconds or 6)

        await console.reopen(use)

    await wire.together(*(keep_open(next(cookies)) for _ in range(wire.many(1_000))))


async def pages_read_slowly(wire: Wire) -> None:
    """Pages, live parts and exports of the console, many in one go, of which a kilobyte is read each second."""
    console, cookies = wire.at_console(), itertools.cycle(wire.target.cookies)
    paths = itertools.cycle(f"/accounts/{wire.target.account}/live{path}" for path in PAGES)

    async def sip(connection: Connection) -> None:
        connection[1].write(console.page(next(paths), next(cookies)) * 20)
        wire.counts["requests"] += 20
        await wire.read(connection, 1_000, 1)

    await wire.together(*(console.reopen(sip) for _ in range(wire.many(200))))


async def operators_lists(wire: Wire) -> None:
    """The largest lists of the operator API, with a key that may only read."""
    paths = itertools.cycle(path.format(account=wire.target.account) for path in OPERATOR_LISTS)
    token = wire.target.operator_token

    def make() -> bytes:
        return wire.operator_request("GET", next(paths), token=token)

    await wire.together(*(wire.repeat(make) for _ in range(wire.many(64))))
