"""Whatever is typed or put into an address is answered, and never with a 500."""

import io
import re
from typing import Any
from urllib.parse import quote

import pytest

from tests.harness.console import Console
from tests.harness.people import PASSWORD
from tests.integration.console.test_pages import pages_of_the_account

pytestmark = pytest.mark.slow
ODD = (
    "",
    "\0",
    "x" * 5000,
    "9" * 5000,
    "-1",
    "1e400",
    "nan",
    "\u0663",
    "\u202e\U0001f600",
    "0001-01-01T00:00",
    "9999-12-31T23:59",
    "../..",
    "%00",
    "' OR 1=1 --",
    "{{7*7}}",
    "[]",
)
NAMES = (
    "cursor",
    "status",
    "reference",
    "phone",
    "since",
    "until",
    "by",
    "country",
    "sender_id",
    "kind",
    "group_id",
    "message",
    "category",
)
FIELDS = (
    *NAMES,
    *("list", "file_text", "file_sample", "file_rows", "phone_column", "column_name", "preview", "when", "send_at"),
    *("rate", "quiet_from", "quiet_until", "canary", "stop_share", "stop_over", "on_unicode", "quote_id", "key"),
    *("name", "phones", "reason", "use_case", "url", "description", "events", "scopes", "allowed_ips", "email", "role"),
    *("locale", "time_zone", "password", "new_password", "code", "sealed", "uri", "secret", "event_id", "next", "lost"),
)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_address_is_answered(console: Console, odd: str) -> None:
    browser = console.browser()
    for path in pages_of_the_account(console):
        response = browser.get(path, query_string=dict.fromkeys(NAMES, odd))
        assert response.status_code < 500, (path, response.status_code)


@pytest.mark.parametrize("odd", ["9" * 5000, "0" * 5000, "\u0663", "9" * 19, "9" * 20, "-1", "x", "1e400", "%00"])
def test_an_odd_number_in_a_path_is_answered(console: Console, odd: str) -> None:
    browser, admin = console.browser(), console.operator()
    for path in ("", "sends/", "groups/"):
        assert browser.open(f"/accounts/{quote(odd)}/live/{path}").status_code < 500, path
    for path in ("", "/top-up", "/top-ups/019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38/reverse"):
        assert admin.open(f"/operator/accounts/{quote(odd)}{path}").status_code < 500, path


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_form_is_answered(console: Console, odd: str) -> None:
    browser = console.browser()
    group = console.service.post("/groups", name="Ours").json["group_id"]
    odd_fields: dict[str, Any] = {**dict.fromkeys(FIELDS, odd), "message": f"Hi {{{{name}}}} {odd}"}
    for rule in console.app.url_map.iter_rules():
        if "POST" not in (rule.methods or ()) or rule.endpoint in ("sign_in.sign_out", "me.change_password"):
            continue
        path = re.sub(r"<any\(live, test\):world>", "live", rule.rule)
        path = path.replace("<account_id>", str(browser.account_id)).replace("<uuid:group_id>", group)
        path = re.sub(r"<any\((\w+)[^)]*\):\w+>", r"\1", path)
        path = re.sub(r"<uuid:\w+>", "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38", path)
        path = re.sub(r"<\w+>", "x", path)
        for kind in ("one", "list", "file", "group") if "/compose" in path else ("one",):
            file = (io.BytesIO(odd.encode()), "odd.csv")
            response = browser.client.post(path, data={**odd_fields, "kind": kind, **browser.tokens, "file": file})
            assert response.status_code < 500, (path, kind, response.status_code)


@pytest.mark.parametrize("letter", ["a", "\U0001f600"])
@pytest.mark.parametrize("length", [700, 701, 5000])
def test_a_secret_that_is_too_long_for_a_picture_is_answered(console: Console, letter: str, length: int) -> None:
    browser = console.browser()
    page = browser.submit("/me/totp", password=PASSWORD)
    assert page.status_code == 200 and "<svg" in page.text and 'class="qr"' in page.text
    uri = "otpauth://".ljust(length, letter)
    refused = browser.submit("/me/totp/confirm", code="1", secret="x", uri=uri)
    assert refused.status_code == 400 and ('class="qr"' in refused.text) == (length == 700)
