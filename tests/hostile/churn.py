"""What one account can do by making and removing, by importing and erasing, and to one phone."""

import asyncio
import itertools
import json
import time

from tests.hostile.customers import CSV, phones
from tests.hostile.wire import Connection, Wire

ONE_PHONE = 254_990_000_000
OPTED_OUT = 254_700_000_000
"""The first phone of the first list of which the end opts out; each has its own LIST of phones."""
LIST, END = 20_000, 3_000
"""Phones of a list, and at its end those that opt out."""
LEFT = 1_500
"""Phones before those that are not handed over yet when they do."""
AT = "opted out "
"""Begins the name of a count: when opt-outs were accepted, in milliseconds since 1970, by their first phone."""


async def keys_groups_and_webhooks(wire: Wire) -> None:
    """API keys, groups and webhooks made and removed again."""
    numbers = itertools.count()
    paths = (
        ("/api-keys", lambda number: {"scopes": ["sms:send"]}, "api_key"),
        ("/groups", lambda number: {"name": f"Group of the churn {number}"}, "group_id"),
        ("/webhooks", lambda number: {"url": f"http://127.0.0.1:1/{number}"}, "webhook_id"),
    )

    async def turn(connection: Connection) -> None:
        for number in numbers:
            path, body, name = paths[number % len(paths)]
            status, response = await wire.ask(connection, wire.request("POST", path, body(number)))
            if status == 200:
                await wire.ask(connection, wire.request("DELETE", f"{path}/{json.loads(response)[name]}"))

    await wire.together(*(wire.reopen(turn) for _ in range(wire.many(64))))


async def large_imports(wire: Wire) -> None:
    """Files of 100,000 contacts imported, one after the other."""
    path, firsts = f"/groups/{wire.target.group}/import", itertools.count(260_000_000_000, 100_000)

    def make() -> bytes:
        file = "\n".join(phones(next(firsts), wire.many(100_000)))
        return wire.request("POST", path, file.encode(), type=CSV)

    files = itertools.cycle([make() for _ in range(4)])
    await wire.together(*(wire.repeat(lambda: next(files)) for _ in range(wire.many(16))))


async def erasures(wire: Wire) -> None:
    """Erasures of phones of the account's history."""
    numbers = itertools.count(254_200_000_000)

    def make() -> bytes:
        return wire.request("POST", "/erasures", {"phone": str(next(numbers))})

    await wire.together(*(wire.repeat(make) for _ in range(wire.many(32))))


async def one_phone(wire: Wire) -> None:
    """One phone given thousands of messages: by lists in which it stands again and again, and by single sends."""
    phone = str(ONE_PHONE)
    single = {"sender_id": "ACME", "phone": phone, "message": "Sale"}
    bulk = {"sender_id": "ACME", "phones": [phone] * wire.many(5_000), "message": "Sale", "allow_duplicates": True}
    requests = itertools.cycle(
        wire.request("POST", path, {**body, "category": category})
        for path, body in (("/sms/send", single), ("/sms/send-bulk", bulk))
        for category in ("authentication", "transactional", "marketing")
    )
    await wire.together(*(wire.repeat(lambda: next(requests)) for _ in range(wire.many(32))))


async def late_opt_outs(wire: Wire) -> None:
    """A bulk send, and opt-outs of its end when that is nearly its turn; again and again."""
    for first in itertools.count(OPTED_OUT, LIST):
        listed, end = phones(first, wire.many(LIST)), wire.many(END)
        body = {"sender_id": "ACME", "phones": listed, "message": "Sale"}
        path = f"/sends/{(await wire.json('POST', '/sms/send-bulk', body))['send_id']}"
        while (await _handed_over(wire, path)) < len(listed) - end - wire.many(LEFT):
            await asyncio.sleep(0.1)
        await wire.json("POST", "/suppressions", {"phones": listed[-end:]})
        wire.counts[AT + listed[-end]] = int(1000 * time.time())


async def _handed_over(wire: Wire, path: str) -> int:
    counts = (await wire.json("GET", path))["counts"]
    return int(counts["sent"] + counts["delivered"] + counts["undelivered"])
