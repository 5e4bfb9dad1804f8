"""Every page and form of an account: what strangers and each role of it get, and that whoever may gets it.

The routes are those of the application. A new form needs a line in FORMS, and in OF_SENDERS if senders may use it; a
new variable needs one in tests/harness/owned.py.
"""

import io
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from console.app import create_app
from console.settings import Settings
from shared.people.roles import ROLES
from tests.harness.console import CONSOLE_KEY, Browser, Console, console_of
from tests.harness.owned import NOBODYS, OWNED, PHONE
from tests.harness.service import Service
from tests.harness.table_sums import table_sums

NUMBERS = itertools.count(254_711_500_001)
UNKNOWN = "01900000-0000-7000-8000-000000000000"
VARIABLE = re.compile(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>")
OF_OWNERS_ONLY = {
    "api_keys.index",
    "api_keys.create",
    "changes.index",
    "people.index",
    "smpp.index",
    "smpp.create",
    "webhooks.create",
    "webhooks.edit",
}
"""Pages that only owners see; those that need the right to send follow."""
OF_SENDERS = {
    "compose.confirm",
    "compose.quote",
    "compose.send",
    "compose.write",
    "conversations.reply",
    "groups.add_contacts",
    "groups.cancel_import",
    "groups.contact",
    "groups.create",
    "groups.delete",
    "groups.import_file",
    "groups.remove_contact",
    "groups.rename",
    "ledger.refill",
    "messages.cancel",
    "opt_outs.confirm",
    "opt_outs.create",
    "opt_outs.delete",
    "opt_outs.dismiss",
    "opt_outs.import_file",
    "sends.change",
    "sends.control",
}
"""What senders may do, and see to do it."""
OF_READERS = {"messages.export"}
"""Forms for everybody who may see what they are about."""
CHANGES_NOTHING = {"compose.confirm", "compose.quote", "compose.write"}
"""Forms that only ask."""
TOO_LATE = {"groups.cancel_import"}
"""Forms that come too late here, because the import has ended."""
LEADS_ON = {"compose.to_new_message", "conversations.open_phone"}
"""What shows nothing, and only leads to another page of the same account."""
ALWAYS_CHANGING = ("api_key", "person_session", "quote")
"""Tables that note when keys and sessions were used, and what was asked."""


class Route(NamedTuple):
    """A page or a form."""

    method: str
    endpoint: str
    path: str
    """Below the account and its world, with variables such as `<send_id>`."""
    action: str
    """The word of the path that says what a form does; empty without one."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.method} {self.path}"

    def path_of(self, made: dict[str, str]) -> str:
        """The path to what was made."""
        return VARIABLE.sub(lambda found: made[found[1]], self.path)

    def allowed(self, role: str) -> bool:
        """Whether the role may use it."""
        if role == "owner" or self.endpoint in OF_READERS:
            return True
        if self.endpoint in OF_SENDERS:
            return role == "sender"
        return self.method == "GET" and self.endpoint not in OF_OWNERS_ONLY


def routes(app: Flask) -> Iterator[Route]:
    """All routes of an account."""
    for rule in app.url_map.iter_rules():
        if "world" not in rule.arguments or rule.endpoint in LEADS_ON:
            continue
        found = re.search(r"<any\(([^)]*)\):action>", rule.rule)
        for action in found[1].split(", ") if found else [""]:
            path = rule.rule.partition(":world>")[2].replace(found[0] if found else "\0", action)
            path = VARIABLE.sub(r"<\1>", path)
            yield from (
                Route(method, rule.endpoint, path, action)
                for method in ("GET", "POST")
                if method in (rule.methods or ())
            )


ALL = sorted(routes(create_app(Settings(secret_key=CONSOLE_KEY))))


def number() -> str:
    return str(next(NUMBERS))


def message(browser: Browser, made: dict[str, str]) -> dict[str, Any]:
    return {"kind": "one", "phone": number(), "sender_id": "ACME", "message": "Hi"}


def confirmed(browser: Browser, made: dict[str, str]) -> dict[str, Any]:
    """A message with its quote, as the page before has them."""
    fields = message(browser, made)
    page = browser.post("/compose/confirm", **fields)
    found = re.search(r'name="quote_id" value="([^"]+)"', page.text)
    return fields | ({"quote_id": found[1]} if found else {})


def changed(browser: Browser, made: dict[str, str]) -> dict[str, Any]:
    """Another rate of a send, in the form as its page shows it."""
    found = re.search(r'name="shown" value="([^"]+)"', browser.get(f"/sends/{made['send_id']}/change").text)
    return {"rate": "7"} | ({"shown": found[1]} if found else {})


def file(browser: Browser, made: dict[str, str]) -> dict[str, Any]:
    return {"file": (io.BytesIO(f"phone\n{number()}\n".encode()), "phones.csv")}


def fields(**values: str) -> Callable[[Browser, dict[str, str]], dict[str, Any]]:
    """The same fields for everybody; `%s` is a number of their own."""
    return lambda browser, made: {name: value.replace("%s", number()) for name, value in values.items()}


FORMS: dict[str, Callable[[Browser, dict[str, str]], dict[str, Any]]] = {
    "api_keys.create": fields(name="Mine", scopes="sms:read"),
    "api_keys.revoke": fields(),
    "api_keys.rotate": fields(),
    "compose.confirm": message,
    "compose.quote": message,
    "compose.send": confirmed,
    "compose.write": message,
    "conversations.reply": fields(sender_id="ACME", message="Hi"),
    "groups.add_contacts": fields(phones="%s"),
    "groups.cancel_import": fields(),
    "groups.contact": fields(phone="%s"),
    "groups.create": fields(name="Group %s"),
    "groups.delete": fields(),
    "groups.import_file": file,
    "groups.remove_contact": fields(phone=PHONE),
    "groups.rename": fields(name="Group %s"),
    "ledger.refill": fields(),
    "messages.cancel": fields(),
    "messages.export": fields(),
    "opt_outs.confirm": fields(),
    "opt_outs.create": fields(phones="%s"),
    "opt_outs.delete": fields(category="", sender_id=""),
    "opt_outs.dismiss": fields(),
    "opt_outs.import_file": file,
    "people.change_role": fields(role="sender"),
    "people.invite": fields(email="somebody-%s@example.com", role="viewer"),
    "people.remove": fields(),
    "people.withdraw": fields(),
    "sender_ids.create": lambda browser, made: {"sender_id": f"S{number()[-9:]}"},
    "sender_ids.delete": fields(),
    "sends.change": changed,
    "sends.control": fields(),
    "smpp.create": lambda browser, made: {"system_id": f"m{number()}", "allowed_ips": "192.0.2.1"},
    "smpp.replay": fields(since="2026-01-01T00:00:00Z"),
    "smpp.revoke": fields(),
    "smpp.rotate": fields(),
    "webhooks.control": fields(),
    "webhooks.create": fields(url="https://example.com/%s"),
    "webhooks.edit": fields(url="https://example.com/%s"),
    "webhooks.replay": lambda browser, made: {"event_id": made["event_id"]},
    "webhooks.rotate": fields(),
}


class House:
    """Two accounts, and a person in each role of the first; the second has an owner."""

    def __init__(self, console: Console) -> None:
        console.lift_session_limits()
        self.console = console
        self.service = console.service
        self.other = self.service.new_account("neighbour")
        self.people = {role: console.browser(role) for role in ROLES}
        self.stranger = console.browser("owner", self.other)
        self.nobody = console.stranger()

    def objects(self, route: Route) -> dict[str, str]:
        """One of each that the path names, and what the form needs."""
        service = self.in_world(route)
        for webhook in service.get("/webhooks").json["data"]:  # an account may only have a few
            service.delete(f"/webhooks/{webhook['webhook_id']}")
        made: dict[str, str] = {}
        names = VARIABLE.findall(route.path) + (["event_id"] if route.endpoint == "webhooks.replay" else [])
        for each in names:
            if each == "phone" and route.endpoint.startswith("conversations."):
                made[each] = number()
            elif each == "month":
                made[each] = service.get("/statements").json["data"][0]["month"]
            else:
                made[each] = OWNED["sender" if each == "id" else each](service, made)
        if route.endpoint in ("opt_outs.confirm", "opt_outs.dismiss"):
            undecided = {"phones": [made["phone"]], "category": "marketing", "reason": "possible_stop"}
            assert service.post("/suppressions", **undecided).status_code == 200
        if route.endpoint in OF_READERS:  # an account may only have a few exports
            service.execute("UPDATE message_export SET finished_at = now(), created_at = now() - interval '8 days'")
        if route.action == "resume":
            assert service.post(f"/sends/{made['send_id']}/pause").status_code == 200
        if route.action == "enable":
            assert service.patch(f"/webhooks/{made['webhook_id']}", status="disabled").status_code == 200
        return made

    def in_world(self, route: Route) -> Service:
        """The account, or its sandbox where only that has the page."""
        return self.service.in_sandbox() if world(route) == "test" else self.service

    def ask(self, browser: Browser, route: Route, made: dict[str, str], account: int | None = None) -> TestResponse:
        """Open the page, or send the form with what an owner's is taken with."""
        path = f"/accounts/{account or self.service.account_id}/{world(route)}{route.path_of(made)}"
        if route.method == "GET":
            return browser.open(path, buffered=True)
        filled = FORMS[route.endpoint](browser, made)
        if browser is self.nobody:
            browser.open("/sign-in")  # for a token that is valid
        return browser.submit(path, **filled)

    def stored(self) -> dict[str, Any]:
        """A sum over the rows of each table: changes when anything in the database does."""
        return table_sums(self.service.engine, *ALWAYS_CHANGING)


def world(route: Route) -> str:
    return "test" if route.endpoint == "ledger.refill" else "live"


@pytest.fixture(scope="module")
def house(engine: Engine) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(stack.enter_context(console_of(engine)))


@pytest.mark.parametrize("route", [pytest.param(each, id=each.name) for each in ALL])
def test_strangers_get_nothing(house: House, route: Route) -> None:
    made = house.objects(route)
    before = house.stored()
    assert house.ask(house.stranger, route, made).status_code == 404
    sent_away = house.ask(house.nobody, route, made)
    path, _, query = sent_away.headers["Location"].partition("?")
    assert (sent_away.status_code, path) == (302, "/sign-in")
    assert query.startswith("next=") or route.method == "POST"
    if made and "month" not in made and not route.endpoint.startswith("conversations."):
        nobodys = {each: NOBODYS.get(each, UNKNOWN) for each in made}
        theirs, none = (house.ask(house.stranger, route, each, house.other) for each in (made, nobodys))
        assert (theirs.status_code, theirs.headers.get("Location")) == (none.status_code, none.headers.get("Location"))
        assert theirs.status_code == 404
    assert house.stored() == before


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("route", [pytest.param(each, id=each.name) for each in ALL])
def test_a_role_can_do_only_what_it_allows(house: House, route: Route, role: str) -> None:
    made, browser = house.objects(route), house.people[role]
    browser.get("/")
    before = house.stored()
    response = house.ask(browser, route, made)
    if not route.allowed(role):
        assert response.status_code == 403 and "Your role does not allow this." in response.text
        assert house.stored() == before
        return
    expected = (409,) if route.endpoint in TOO_LATE else (200,) if route.method == "GET" else (200, 302)
    assert response.status_code in expected, response.text
    changes = route.method == "POST" and route.endpoint not in CHANGES_NOTHING | TOO_LATE
    after = house.stored()
    assert (after != before) == changes, [table for table in before if before[table] != after[table]]
