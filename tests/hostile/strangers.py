"""What somebody without a key can do, from a hundred addresses."""

import asyncio
import itertools
import json
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.hostile.wire import READ, Connection, Wire

TOKEN = "/api/v1/auth/token"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
DRIP_SECONDS = 1.2
KEYS_OF_64_KB = 7_000


def duplicate_keys(count: int) -> bytes:
    """A JSON object with one name so many times."""
    return b"{" + b",".join([b'"aaa":1'] * count) + b"}"


def unknown_fields(count: int) -> bytes:
    """A JSON object with so many names that are none of the service's and nearly one of them."""
    return json.dumps({f"sender_i{number}": 1 for number in range(count)}).encode()


async def bodies_that_never_come(wire: Wire) -> None:
    """Chunked requests without a byte of body, opened anew when they are ended."""
    head = wire.head("POST", TOKEN, JSON, "Transfer-Encoding: chunked", signed_in=False)

    async def hold(connection: Connection) -> None:
        connection[1].write(head)
        await wire.read(connection, READ)

    await wire.together(*(wire.reopen(hold) for _ in range(wire.many(1_300))))


async def slow_bodies(wire: Wire) -> None:
    """Bodies that come byte by byte: small ones of strangers, large ones of strangers and of an account."""
    small = wire.head("POST", TOKEN, JSON, "Content-Length: 1000", signed_in=False)
    large = wire.head("POST", "/api/v1/sms/send-bulk", JSON, "Content-Length: 1000000", signed_in=False)
    of_account = wire.head("POST", "/api/v1/sms/send-bulk", JSON, "Content-Length: 1000000")

    async def drip(connection: Connection, head: bytes) -> None:
        connection[1].write(head)
        ended = asyncio.create_task(wire.read(connection, READ))
        while not ended.done():
            connection[1].write(b" ")
            await asyncio.wait([ended], timeout=DRIP_SECONDS)
        await ended

    drips = [head for head in (small, large, of_account) for _ in range(wire.many(200))]
    await wire.together(*(wire.reopen(lambda connection, head=head: drip(connection, head)) for head in drips))


async def idle_connections(wire: Wire) -> None:
    """Connections with half of a head, and those that are kept after a response."""
    health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    async def hold(connection: Connection, begin: bytes) -> None:
        connection[1].write(begin)
        await wire.read(connection, READ)

    begins = [begin for begin in (b"POST /api/v1/sms/send HTTP/1.1\r\nX-", health) for _ in range(wire.many(2_500))]
    await wire.together(*(wire.reopen(lambda connection, begin=begin: hold(connection, begin)) for begin in begins))


async def names_that_repeat(wire: Wire) -> None:
    """JSON objects in which one name stands thousands of times: of strangers, and on the way of single sends."""
    small, large = duplicate_keys(KEYS_OF_64_KB), duplicate_keys(wire.many(250_000))
    requests = [
        *([wire.request("POST", "/auth/token", small, signed_in=False)] * 4),
        *([wire.request("POST", "/sms/send", small)] * 4),
        *([wire.request("POST", "/sms/send-bulk", large)] * 4),
    ]
    await wire.together(*(wire.repeat(lambda data=data: data) for data in requests))


async def unknown_names(wire: Wire) -> None:
    """JSON objects of a thousand unknown fields, for each of which the nearest known one could be looked for."""
    small = unknown_fields(999)
    paths = ("/sms/send", "/sms/send-bulk", "/groups")
    requests = [wire.request("POST", "/auth/token", small, signed_in=False)] * 4
    requests += [wire.request("POST", path, small) for path in paths for _ in range(4)]
    await wire.together(*(wire.repeat(lambda data=data: data) for data in requests))


async def endless_trailers(wire: Wire) -> None:
    """Header fields after the last chunk, without an end."""
    head = wire.head("POST", TOKEN, JSON, "Transfer-Encoding: chunked", signed_in=False) + b"2\r\n{}\r\n0\r\n"
    trailers = b"".join(b"X-%06d: %s\r\n" % (number, b"a" * 100) for number in range(1_000))

    async def pour(connection: Connection) -> None:
        connection[1].write(head)
        ended = asyncio.create_task(wire.read(connection, READ))
        while not ended.done():
            connection[1].write(trailers)
            await connection[1].drain()
        await ended

    await wire.together(*(wire.reopen(pour) for _ in range(wire.many(16))))


async def guessed_sign_ins(wire: Wire) -> None:
    """Passwords guessed at the console and at the API, for the victim's person and for people who do not exist."""
    console = wire.at_console()
    emails = itertools.cycle((wire.target.victims_email, "nobody@example.com"))
    guess = {"email": wire.target.victims_email, "password": "a password that is wrong"}
    data = wire.request("POST", "/sign-in", guess, signed_in=False)

    cookie, csrf_token = wire.target.form

    def make() -> bytes:
        fields = {"csrf_token": csrf_token, "email": next(emails), "password": "a password that is wrong"}
        body = urlencode(fields).encode()
        lines = (f"Cookie: {cookie}", FORM, f"Content-Length: {len(body)}")
        return console.head("POST", "/sign-in", *lines, signed_in=False) + body

    await wire.together(
        *(console.repeat(make) for _ in range(wire.many(100))),
        *(wire.repeat(lambda: data) for _ in range(wire.many(100))),
    )


async def files_not_read(wire: Wire) -> None:
    """The console's largest file asked for again and again, and never read."""
    console = wire.at_console()
    data = console.head("GET", "/static/vendor/chart.umd.min.js", signed_in=False) * 100

    async def use(connection: Connection) -> None:
        connection[1].write(data)
        wire.counts["requests"] += 100
        await wire.read(connection, 1_000, 5)

    await wire.together(*(console.reopen(use) for _ in range(wire.many(200))))


async def guessed_operators(wire: Wire) -> None:
    """Secrets of operator keys guessed, and lists of the operator API asked for with tokens that are none."""
    keys = (wire.target.operator_key, "smso_0000000000000000")
    requests = [
        wire.operator_request("POST", "/auth/token", {"api_key": key, "api_secret": f"smsos_{number:043d}"}, token="")
        for number, key in enumerate(keys * 16)
    ]
    requests += [wire.operator_request("GET", "/accounts?limit=1000", token=wire.target.token) for _ in range(32)]
    await wire.together(
        *(wire.repeat(lambda data=data: data) for data in requests[:: max(1, round(64 / wire.many(64)))])
    )


async def callbacks_and_sign_ins_by_oidc(wire: Wire) -> None:
    """Callbacks of carriers with signatures that are wrong, and sign-ins with codes that are none."""
    forged = json.dumps({"receipts": [{"id": "1", "status": "delivered"}] * wire.many(10_000)}).encode()
    lines = (JSON, "X-Signature: sha256=0", f"Content-Length: {len(forged)}")
    calls = [
        wire.head("POST", f"/carriers/{name}/{kind}", *lines, signed_in=False) + forged
        for name in ("web", "nobody")
        for kind in ("receipts", "inbound")
    ]
    begin = wire.request("POST", "/sign-in/oidc", signed_in=False)

    async def sign_in(connection: Connection) -> None:
        while True:
            status, body = await wire.ask(connection, begin)
            if status == 200:
                begun = json.loads(body)
                state = parse_qs(urlsplit(begun["authorization_url"]).query)["state"][0]
                returned = {"attempt": begun["attempt"], "state": state, "code": "guessed"}
                await wire.ask(connection, wire.request("POST", "/sign-in/oidc/complete", returned, signed_in=False))

    order = itertools.cycle(calls)
    await wire.together(
        *(wire.repeat(lambda: next(order)) for _ in range(wire.many(32))),
        *(wire.reopen(sign_in) for _ in range(wire.many(32))),
    )


async def guessed_secrets(wire: Wire) -> None:
    """Secrets guessed, for the victim's key and for keys that do not exist."""
    bodies = [
        {"api_key": key, "api_secret": f"smss_live_{number:043d}"}
        for number, key in enumerate((wire.target.victims_key, "smsk_live_0000000000000000") * 32)
    ]
    requests = [wire.request("POST", "/auth/token", body, signed_in=False) for body in bodies[: wire.many(64)]]
    await wire.together(*(wire.repeat(lambda data=data: data) for data in requests))
