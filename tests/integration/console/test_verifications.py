"""One-time passwords in the console: an account's rates, and the settings that an operator changes."""

from tests.harness.console import Console
from tests.integration.verifications.test_verifications import check, code_in, start


def test_rates(console: Console) -> None:
    owner = console.browser("owner")
    assert "No one-time passwords in this period" in owner.get("/verifications/").text
    started = [start(console.service, phone).json for phone in ("254755000001", "254755000002", "4915112340001")]
    check(console.service, started[0], code_in(console.service, started[0]))
    page = owner.get("/verifications/").text
    assert ">KE</td>" in page
    assert ">50%</td>" in page
    assert ">254755</td>" in owner.get("/verifications/?by=prefix").text
    wrong = owner.get("/verifications/?since=yesterday")
    assert wrong.status_code == 400
    assert "/verifications/" not in console.operator("support").get("/operator/accounts/").text


def test_settings(console: Console) -> None:
    admin, account = console.operator("admin"), f"/operator/accounts/{console.service.account_id}"
    page = f"{account}/verification"
    typed = {"code_digits": "8", "valid_minutes": "5", "max_checks": "3", "max_sends": "2", "pause_seconds": "60"}
    admin.open(page)
    refused = admin.submit(page, **typed | {"max_sends": "x"}, texts="en: Your code", reason="ticket 7")
    assert refused.status_code == 400
    assert "`max_sends` is a whole number from 1 to 10." in refused.text
    admin.open(page)
    refused = admin.submit(page, **typed, texts="en: Your code", reason="ticket 7")
    assert "The text for en must have {{code}}" in refused.text
    admin.open(page)
    changed = admin.submit(page, **typed, texts="en: {{code}}: our shop.\nxx: {{code}}\n", reason="ticket 7")
    assert changed.status_code == 302
    assert "xx: {{code}}" in admin.open(page).text
    started = start(console.service, "254755000009").json
    assert len(code_in(console.service, started)) == 8
