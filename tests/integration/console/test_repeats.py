"""A form that comes twice, by a double click or a reload of its response, has one effect."""

import io
from html.parser import HTMLParser
from typing import Any, NamedTuple

from tests.harness.console import Browser, Console
from tests.harness.table_sums import table_sums
from tests.integration.console.test_matrix import ALL, FORMS, House, world
from tests.integration.console.test_operator import changes_of

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


ELSEWHERE = {
    "compose.write": "shows what was typed",
    "compose.quote": "shows a price",
    "compose.confirm": "asks before it is sent",
    "compose.send": "test_compose.py, from the page that asks",
    "groups.cancel_import": "test_an_import_that_is_stopped_twice_is_stopped",
}
"""Forms of an account that are not repeated here, and why."""


def state_of(console: Console) -> dict[str, str | None]:
    """A sum over each table, but for when rows were changed last."""
    return table_sums(console.service.engine, *READS, row="(to_jsonb(t) - 'updated_at')::text")


def form_at(browser: Browser, path: str) -> Shown:
    """The form that is posted to a path, as a page shows it: the one of this path, or one above it."""
    page = path
    while page.count("/") > 3:
        opened = browser.open(page, follow_redirects=True)
        if opened.status_code == 200:
            for shown in Forms(opened.text, page).found:
                if shown.action == path:
                    return shown
        page = page.rstrip("/").rpartition("/")[0]
    raise AssertionError(f"no page has the form {path}")


def again(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields for a second time, with a file that is open."""
    return {**fields, "file": (io.BytesIO(fields["file"][0].getvalue()), "again.csv")} if "file" in fields else fields


def test_each_form_of_an_account_has_one_effect_when_it_comes_twice(console: Console) -> None:
    house = House(console)
    browser = house.people["owner"]
    sandbox = console.service.in_sandbox()
    sandbox.post("/sender-ids", sender_id="PLAY")
    assert sandbox.send(sender_id="PLAY").status_code == 200
    for route in ALL:
        if route.method == "GET" or route.endpoint in ELSEWHERE:
            continue
        made = house.objects(route)
        shown = form_at(browser, browser.path(route.path_of(made), world(route)))
        fields = {**shown.fields, **FORMS[route.endpoint](browser, made)}
        second_fields = again(fields)
        before = state_of(console)
        first = browser.client.post(shown.action, data=fields)
        assert first.status_code in (200, 302), (route.name, first.text)
        once = state_of(console)
        assert once != before, f"{route.name} has no effect"
        second = browser.client.post(shown.action, data=second_fields)
        assert second.status_code < 500, (route.name, second.text)
        twice = state_of(console)
        assert once == twice, (route.name, [name for name in once if once[name] != twice[name]])


def test_each_form_of_the_operator_has_one_effect_when_it_comes_twice(console: Console) -> None:
    admin = console.operator()
    for number, (path, typed) in enumerate(changes_of(console)):
        fields = {"key": f"form-{console.service.account_id}-{number}", **typed}
        second_fields = again(fields)
        admin.submit(path, **fields)
        once = state_of(console)
        assert admin.submit(path, **second_fields).status_code < 500, path
        assert state_of(console) == once, path
