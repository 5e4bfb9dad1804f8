"""The console over a month of messages: how fast its pages are, and what many open pages cost."""

import asyncio
import json
import sys
import time
import uuid
from statistics import median

from bench.browser import Browser
from bench.load import paced_sends
from bench.measure import warm_up
from bench.month import fill
from bench.open_pages import FIRST_SECONDS, Polled, open_pages
from bench.pages import LIVE, account_pages, operator_pages
from bench.result import Case, Result
from bench.stand import SENDER, TEXT, Stand
from bulksms.local.ports import LOOPBACK
from shared.people.memberships import add_member
from shared.people.persons import create_person, set_operator_role
from shared.people.sign_in_links import make_link

OPEN_PAGES = 200
PEOPLE = 20
"""How many people have them open."""
SINGLE_RATE = 50
"""Single sends per second beside them."""
SETTINGS = {"CONSOLE_SECRET_KEY": "a-key-that-only-measurements-use-0123456789", "TRUSTED_PROXIES": f"{LOOPBACK}/32"}


def run(result: Result) -> None:
    """Measure with 5 million messages, with --short 200,000."""
    messages, openings, pairs, seconds = (200_000, 20, 2, 10) if result.short else (5_000_000, 40, 5, 20)
    with Stand(receipts=True, settings=SETTINGS) as stand:
        result.smsc = stand.smsc.kind
        warm_up(stand)
        begun = time.monotonic()
        tenants = fill(stand, messages)
        stored = stand.scalar("SELECT count(*) FROM message")
        result.note = f"{stored:,} messages of 30 days in the database."
        _say(f"{result.note[:-1]} after {time.monotonic() - begun:.0f} s")
        stand.start_console()
        send = _running_send(stand)
        owner, admin = _browser(stand, tenants[0].account), _browser(stand, None)
        paths = account_pages(stand, tenants[0], send) | operator_pages(stand, tenants[0])
        for case in _first_bytes(paths, owner, admin, openings):
            result.add(case)
        accounts = [tenants[number % len(tenants)].account for number in range(PEOPLE)]
        people = [(account, _browser(stand, account)) for account in accounts]
        for case in _beside(stand, _opened(people, admin, paths), pairs, seconds):
            result.add(case)
        stand.request("PATCH", f"/sends/{send}", b'{"rate": null}')
        stand.finish(time.monotonic())
        result.void += stand.faults()


def _running_send(stand: Stand) -> str:
    """A send that takes longer than the measurement."""
    phones = list(map(str, stand.phones(50_000)))
    body = {"sender_id": SENDER, "phones": phones, "message": TEXT, "rate": 50}
    return str(stand.post("/sms/send-bulk", json.dumps(body).encode())["send_id"])


def _browser(stand: Stand, account: int | None) -> Browser:
    """The browser of a new owner of the account, or of an operator, who is signed in."""
    with stand.engine.begin() as connection:
        person = create_person(connection, f"{uuid.uuid4().hex}@example.com", "Ann Otieno")
        assert person is not None
        if account is None:
            set_operator_role(connection, person, "admin")
        else:
            add_member(connection, account, person, "owner")
        link = make_link(connection, person)
    browser = Browser(stand.console_port)
    browser.sign_in_by_link(link)
    return browser


def _first_bytes(paths: dict[str, str], owner: Browser, admin: Browser, openings: int) -> list[Case]:
    """A case for each page: the milliseconds until its first byte, of so many looks in turn."""
    took: dict[str, list[float]] = {name: [] for name in paths}
    errors = dict.fromkeys(paths, 0)
    for number in range(openings + 2):
        for name, path in paths.items():
            browser = admin if path.startswith("/operator/") else owner
            status, _, seconds = browser.get(path, part=name.startswith(LIVE))
            errors[name] += status != 200
            if number >= 2:  # the first ones fill caches
                took[name].append(seconds * 1000)
    cases = []
    for name, times in took.items():
        figures = {"p50 ms": median(times), "p95 ms": at(times, 0.95)}
        cases.append(Case(name, figures | ({"errors": errors[name]} if errors[name] else {})))
        _say(f"  {name}: {figures['p50 ms']:.0f} ms, p95 {figures['p95 ms']:.0f} ms")
    return cases


def _opened(people: list[tuple[int, Browser]], admin: Browser, paths: dict[str, str]) -> list[tuple[str, str]]:
    """The open pages: of 20 pages, 18 are overviews, one is a send, and one is an operator's carriers or queue."""
    live = {name.removeprefix(LIVE): path for name, path in paths.items() if name.startswith(LIVE)}
    pages = []
    for number in range(OPEN_PAGES):
        kind, (account, person) = number % 20, people[number // 10]
        if kind == 19:
            pages.append((admin.cookie, live["carriers" if number % 40 == 19 else "queue"]))
        elif kind == 0:
            pages.append((people[0][1].cookie, live["send"]))
        else:
            pages.append((person.cookie, f"/accounts/{account}/live/now"))
    return pages


def _beside(stand: Stand, pages: list[tuple[str, str]], pairs: int, seconds: float) -> list[Case]:
    """Single sends without and with the open pages, in turns; each figure is the median of its turns."""
    without, beside = [], []
    for number in range(pairs):
        without.append(_single(stand, seconds))
        polled = Polled()
        with open_pages(stand.console_port, pages, polled):
            beside.append(_single(stand, seconds))
        refused = sum(count for status, count in polled.statuses.items() if status != "200")
        beside[-1] |= {
            "polls/s": len(polled.first_bytes) / (seconds + FIRST_SECONDS),
            "poll p50 ms": median(polled.first_bytes),
            "poll p95 ms": at(polled.first_bytes, 0.95),
        } | ({"errors": refused} if refused else {})
        _say(f"  pair {number + 1}: {without[-1]} without, {beside[-1]} with pages; {dict(polled.statuses)}")
    return [
        Case(f"single sends, {name}", {figure: median(turn[figure] for turn in turns) for figure in turns[0]})
        for name, turns in (("no page open", without), (f"{OPEN_PAGES} pages open", beside))
    ]


def _single(stand: Stand, seconds: float) -> dict[str, float]:
    """Single sends at a steady rate, and the cores that each group of processes uses meanwhile."""
    before, begun = stand.meter.cpu(), time.monotonic()
    sent = asyncio.run(paced_sends(stand, SINGLE_RATE, seconds))
    took = time.monotonic() - begun
    spent = {name: (cpu - before[name]) / took for name, cpu in stand.meter.cpu().items()}
    cores = {f"{name} % of a core": 100 * spent[name] for name in ("console", "api", "postgres")}
    return {"p50 ms": sent.p50, "p99 ms": sent.p99, **cores}


def at(times: list[float], share: float) -> float:
    """The value below which that share of the values lies."""
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
