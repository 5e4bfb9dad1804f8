"""A form that comes twice, by a double click or a reload of its response, has one effect."""

import io
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, NamedTuple

from werkzeug.test import TestResponse

from tests.harness.console import Browser, Console
from tests.harness.owned import OWNED
from tests.harness.table_sums import table_sums
from tests.integration.console.test_operator import changes_of

FILE = "phone\n254711000007\n"
READS = {"idempotency", "person_session", "quote"}
"""Tables that only record requests."""


class Shown(NamedTuple):
    """A form of a page: where it is posted, and its fields as they are shown."""

    action: str
    fields: dict[str, Any]


class Forms(HTMLParser):
    """The forms of a page that change something."""

    def __init__(self, page: str, path: str) -> None:
        super().__init__()
        self.found: list[Shown] = []
        self._path = path
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Read the form that is open."""
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._inside = given.get("method") == "post"
            if self._inside:
                self.found.append(Shown(given.get("action", self._path), {}))
        elif tag == "input" and self._inside and given.get("name"):
            kind = given.get("type")
            if kind != "file" and (kind not in ("checkbox", "radio") or "checked" in given):
                self.found[-1].fields.setdefault(given["name"], given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        """The form ends."""
        self._inside = self._inside and tag != "form"


class Place(NamedTuple):
    """Where a form is: its page, what it is about, and what is typed into it."""

    page: str
    about: str = ""
    typed: Mapping[str, Any] = {}
    world: str = "live"


def places(console: Console) -> dict[str, Place]:
    """Where each form of an account is, by its endpoint."""
    service = console.service

    def own(*names: str) -> str:
        made: dict[str, str] = {}
        for name in names:
            made[name] = OWNED[name](service, made)
        return made[names[-1]]

    def undecided(phone: str) -> str:
        entry = {"phones": [phone], "category": "marketing", "reason": "possible_stop"}
        assert service.post("/suppressions", **entry).status_code == 200
        return phone

    def group(**typed: Any) -> Place:
        return Place(f"/groups/{own('group_id')}", typed=typed)

    def webhook(page: str = "", **typed: Any) -> Place:
        return Place(f"/webhooks/{own('webhook_id')}{page}", typed=typed)

    def person(**typed: Any) -> Place:
        return Place("/people/", own("person_id"), typed)

    made: dict[str, str] = {"webhook_id": own("webhook_id")}
    event = OWNED["event_id"](service, made)
    return {
        "api_keys.create": Place("/api-keys/new", typed={"name": "Shop", "scopes": "sms:send"}),
        "api_keys.rotate": Place("/api-keys/", own("key_id")),
        "api_keys.revoke": Place("/api-keys/", own("key_id")),
        "smpp.create": Place("/smpp/new", typed={"system_id": "repeat-1", "allowed_ips": "192.0.2.1"}),
        "smpp.rotate": Place("/smpp/", own("credential_id")),
        "smpp.revoke": Place("/smpp/", own("credential_id")),
        "smpp.replay": Place("/smpp/", own("credential_id"), {"since": "2026-01-01T00:00:00Z"}),
        "conversations.reply": Place("/conversations/254711000009", typed={"sender_id": "ACME", "message": "At six."}),
        "groups.create": Place("/groups/", typed={"name": "Guests"}),
        "groups.rename": group(name="Visitors"),
        "groups.delete": group(),
        "groups.add_contacts": group(phones="254711000001"),
        "groups.remove_contact": group(),
        "groups.contact": Place(f"/groups/{own('group_id')}/contact", typed={"phone": "254711000002", "tags": "vip"}),
        "groups.import_file": group(file=FILE),
        "ledger.refill": Place("/credits/", world="test"),
        "messages.cancel": Place(f"/messages/{own('message_id')}"),
        "messages.export": Place("/messages/"),
        "opt_outs.create": Place("/opt-outs/", typed={"phones": "254711000003"}),
        "opt_outs.confirm": Place("/opt-outs/", undecided("254711000004")),
        "opt_outs.dismiss": Place("/opt-outs/", undecided("254711000005")),
        "opt_outs.import_file": Place("/opt-outs/", typed={"file": FILE}),
        "opt_outs.delete": Place("/opt-outs/", own("phone")),
        "people.invite": Place("/people/", typed={"email": f"new-{service.account_id}@example.com", "role": "sender"}),
        "people.withdraw": Place("/people/", own("invitation_id")),
        "people.change_role": person(role="sender"),
        "people.remove": person(),
        "sender_ids.create": Place("/sender-ids/", typed={"sender_id": "SHOP", "use_case": "orders"}),
        "sender_ids.delete": Place("/sender-ids/", own("sender")),
        "sends.control": Place(f"/sends/{own('send_id')}", "/pause"),
        "sends.change": Place(f"/sends/{own('send_id')}/change", typed={"message": "Hello"}),
        "webhooks.create": Place("/webhooks/new", typed={"url": "https://example.com/hook"}),
        "webhooks.edit": webhook("/edit", url="https://example.com/other"),
        "webhooks.control": webhook()._replace(about="/test"),
        "webhooks.rotate": webhook(),
        "webhooks.replay": Place(f"/webhooks/{made['webhook_id']}", event),
    }


ELSEWHERE = {
    "compose.write": "shows what was typed",
    "compose.quote": "shows a price",
    "compose.confirm": "asks before it is sent",
    "compose.send": "test_compose.py, from the page that asks",
    "groups.cancel_import": "test_an_import_that_is_stopped_twice_is_stopped",
}
"""Forms of an account that are no part of `places`, and why."""


def state_of(console: Console) -> dict[str, str | None]:
    """A sum over each table, but for when rows were changed last."""
    return table_sums(console.service.engine, *READS, row="(to_jsonb(t) - 'updated_at')::text")


def form_at(console: Console, browser: Browser, endpoint: str, place: Place) -> Shown:
    """The form as its page shows it."""
    path = browser.path(place.page, place.world)
    page = browser.open(path)
    assert page.status_code == 200, (endpoint, page.status_code)
    addresses = console.app.url_map.bind("localhost")
    for shown in Forms(page.text, path).found:
        if addresses.match(shown.action, method="POST")[0] != endpoint:
            continue
        if place.about in shown.action or place.about in shown.fields.values():
            return shown
    raise AssertionError(f"{place.page} has no form for {endpoint}")


def submit(browser: Browser, shown: Shown, typed: Mapping[str, Any]) -> TestResponse:
    """Send the form, with a new file if it takes one."""
    file = {"file": (io.BytesIO(typed["file"].encode()), "phones.csv")} if "file" in typed else {}
    return browser.client.post(shown.action, data={**shown.fields, **typed, **file})


def test_each_form_of_an_account_has_one_effect_when_it_comes_twice(console: Console) -> None:
    browser = console.browser("owner")
    sandbox = console.service.in_sandbox()
    sandbox.post("/sender-ids", sender_id="PLAY")
    assert sandbox.send(sender_id="PLAY").status_code == 200
    for endpoint, place in places(console).items():
        shown = form_at(console, browser, endpoint, place)
        before = state_of(console)
        first = submit(browser, shown, place.typed)
        assert first.status_code in (200, 302), (endpoint, first.text)
        once = state_of(console)
        assert once != before, f"{endpoint} has no effect"
        second = submit(browser, shown, place.typed)
        assert second.status_code < 500, (endpoint, second.text)
        twice = state_of(console)
        assert once == twice, (endpoint, [name for name in once if once[name] != twice[name]])


def test_every_account_form_is_tested_for_double_submission(console: Console) -> None:
    posts = {
        rule.endpoint
        for rule in console.app.url_map.iter_rules()
        if "POST" in (rule.methods or ()) and "world" in rule.arguments
    }
    assert posts == {*places(console), *ELSEWHERE}


def test_each_form_of_the_operator_has_one_effect_when_it_comes_twice(console: Console) -> None:
    admin = console.operator()
    for number, (path, typed) in enumerate(changes_of(console)):
        fields = {"key": f"form-{console.service.account_id}-{number}", **typed}
        again = (
            {**fields, "file": (io.BytesIO(typed["file"][0].getvalue()), "again.csv")} if "file" in typed else fields
        )
        admin.submit(path, **fields)
        once = state_of(console)
        assert admin.submit(path, **again).status_code < 500, path
        assert state_of(console) == once, path
