"""What one account can do with its token, or what the buyer or thief of one can do."""

import asyncio
import itertools
import json
from collections.abc import Iterator

from tests.hostile.wire import Connection, Wire

CSV = "text/csv"
LISTS = (
    "/messages?status=failed&limit=1",
    "/messages?status=delivered&limit=1000",
    "/messages?error=expired&limit=1000",
    "/messages?country=DE&limit=1000",
    "/sends?limit=1000",
    "/balance/transactions?limit=1000",
    "/suppressions?limit=1000",
    "/usage",
    "/groups/{group}/contacts?tag=nobody&limit=1000",
    "/events?limit=1000",
    "/changes?limit=1000",
    "/inbound?limit=1000",
    "/webhooks/{webhook}/deliveries?limit=1000",
)
ROTTEN = (
    b'name"x\ny"z\n254711000001,a\n',
    b"phone,name\n" + b'254711000001,"' + b"a" * 200_000,
    b"\x00\xff\xfe\x00" * 5_000,
    b"phone\n" + b"\xf0\x9f\x98" * 20_000,
    b"phone," + b",".join(b"c%d" % number for number in range(20_000)) + b"\n",
    b'"\n' * 50_000,
)
"""Files that are none, or hardly any."""


def phones(first: int, count: int) -> list[str]:
    """Consecutive ones."""
    return [str(first + number) for number in range(count)]


def _firsts(step: int, start: int) -> Iterator[int]:
    return itertools.count(start, step)


async def large_lists(wire: Wire) -> None:
    """Lists and reports over the account's whole history."""
    lists = itertools.cycle(path.format(group=wire.target.group, webhook=wire.target.webhook) for path in LISTS)
    await wire.together(*(wire.repeat(lambda: wire.request("GET", next(lists))) for _ in range(wire.many(64))))


async def quotes_of_a_large_group(wire: Wire) -> None:
    """A message with placeholders, priced contact by contact."""
    body = {"sender_id": "ACME", "group_id": wire.target.group, "message": "Hi {{name|friend}}"}
    data = wire.request("POST", "/sms/quote", body)
    await wire.together(*(wire.repeat(lambda: data) for _ in range(wire.many(48))))


async def contacts_added(wire: Wire) -> None:
    """Lists of 100,000 contacts, put into groups again and again."""
    count, firsts = wire.many(100_000), _firsts(100_000, 255_000_000_000)

    def make() -> bytes:
        contacts = [{"phone": phone} for phone in phones(next(firsts), count)]
        return wire.request("POST", f"/groups/{wire.target.group}/contacts", {"contacts": contacts})

    data = [make() for _ in range(4)]
    order = itertools.cycle(data)
    await wire.together(*(wire.repeat(lambda: next(order)) for _ in range(wire.many(40))))


async def bulk_sends(wire: Wire) -> None:
    """Bulk sends of 10,000, 64 at the same time."""
    count, firsts = wire.many(10_000), _firsts(10_000, 256_000_000_000)

    def make() -> bytes:
        return wire.request(
            "POST", "/sms/send-bulk", {"sender_id": "ACME", "phones": phones(next(firsts), count), "message": "Sale"}
        )

    await wire.together(*(wire.repeat(make) for _ in range(wire.many(64))))


async def single_sends(wire: Wire) -> None:
    """Single sends, 64 at the same time."""
    firsts = _firsts(1, 257_000_000_000)

    def make() -> bytes:
        return wire.request("POST", "/sms/send", {"sender_id": "ACME", "phone": str(next(firsts)), "message": "Sale"})

    await wire.together(*(wire.repeat(make) for _ in range(wire.many(64))))


async def twins(wire: Wire) -> None:
    """Bulk sends with one Idempotency-Key, each of which waits for the others or is their replay."""
    body = {"sender_id": "ACME", "phones": phones(258_000_000_000, wire.many(10_000)), "message": "Sale"}
    keys = itertools.count()

    def make() -> bytes:
        key = next(keys) // 64
        return wire.request("POST", "/sms/send-bulk", body, f"Idempotency-Key: twin-{key}")

    await wire.together(*(wire.repeat(make) for _ in range(wire.many(64))))


async def exports_read_slowly(wire: Wire) -> None:
    """Exports, of which a kilobyte is read each second."""
    data = wire.head("GET", "/api/v1/suppressions", "Accept: text/csv")

    async def sip(connection: Connection) -> None:
        connection[1].write(data)
        wire.counts["requests"] += 1
        await wire.read(connection, 1_000, 1)

    await wire.together(*(wire.reopen(sip) for _ in range(wire.many(140))))


async def tokens_revoked(wire: Wire) -> None:
    """Tokens got and revoked, as fast as it goes."""
    key = {"api_key": wire.target.api_key, "api_secret": wire.target.api_secret}
    get = wire.request("POST", "/auth/token", key, signed_in=False)

    async def turn(connection: Connection) -> None:
        while True:
            status, body = await wire.ask(connection, get)
            if status == 200:
                await wire.ask(
                    connection, wire.request("POST", "/auth/revoke", {"token": json.loads(body)["access_token"]})
                )

    await wire.together(*(wire.reopen(turn) for _ in range(wire.many(32))))


async def millions_of_opt_outs(wire: Wire) -> None:
    """Files of 8 MB with four million rows for the opt-out list."""
    data = wire.request("POST", "/suppressions/import", b"1\n" * wire.many(4_000_000), type=CSV)
    await wire.together(*(wire.repeat(lambda: data) for _ in range(wire.many(8))))


async def rotten_imports(wire: Wire) -> None:
    """Files that are no CSV, or nearly none, imported all the time."""
    path = f"/groups/{wire.target.group}/import"
    requests = itertools.cycle([wire.request("POST", path, file, type=CSV) for file in ROTTEN])
    await wire.together(*(wire.repeat(lambda: next(requests)) for _ in range(wire.many(8))))


async def webhooks_without_an_end(wire: Wire) -> None:
    """All webhooks that it may have. Their receivers answer `100 Continue` for ever or not at all, and none rests."""

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire.counts["posts"] += 1
        try:
            path = (await reader.readline()).split()[1]
            while path.startswith(b"/continue"):
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
                await writer.drain()
            await reader.read()
        except (OSError, asyncio.CancelledError):  # canceled at the end of the attack
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(receive, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    paths = [f"{url}/{'continue' if number % 5 == 0 else 'silent'}/{number}" for number in range(max(2, wire.many(19)))]
    for hook in (await wire.json("GET", "/webhooks"))["data"]:
        if hook["webhook_id"] != wire.target.webhook:
            await wire.json("DELETE", f"/webhooks/{hook['webhook_id']}")
    hooks = [await wire.json("POST", "/webhooks", {"url": path}) for path in paths]

    async def change() -> None:
        for number in itertools.count():
            for hook, path in zip(hooks, paths, strict=True):
                await wire.json("PATCH", f"/webhooks/{hook['webhook_id']}", {"url": f"{path}?{number}"})
            await asyncio.sleep(5)

    bodies = ({"sender_id": "ACME", "phone": str(phone), "message": "Hi"} for phone in _firsts(1, 259_000_000_000))

    async def events() -> None:
        while True:
            await wire.json("POST", "/sms/send", next(bodies))
            await asyncio.sleep(0.05)

    try:
        await wire.together(change(), events())
    finally:
        for hook in hooks:
            await wire.json("DELETE", f"/webhooks/{hook['webhook_id']}")
