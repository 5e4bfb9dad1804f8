"""SMPP credentials: a password is shown once, and an operator sees who is bound."""

import re

from sqlalchemy import text

from tests.harness.console import Console

BIND = text(
    """
    INSERT INTO smpp_bind (id, credential_id, generation, kind, address, alive_until)
    SELECT gen_random_uuid(), id, generation, 'receiver', '192.0.2.17', now() + interval '1 hour'
      FROM smpp_credential WHERE system_id = 'console-1'
    """
)


def test_it_works(console: Console) -> None:
    browser = console.browser("owner")
    browser.get("/smpp/")
    wrong = browser.post("/smpp/new", system_id="two words", allowed_ips="x")
    assert wrong.status_code == 400 and 'id="system_id-error"' in wrong.text and 'id="allowed_ips-error"' in wrong.text
    shown = browser.post("/smpp/new", system_id="console-1", allowed_ips="192.0.2.0/24, 198.51.100.1").text
    [password] = re.findall(r"<code>(\w{8})</code>", shown)
    console.service.execute(BIND)
    listed = browser.get("/smpp/").text
    assert "198.51.100.1/32" in listed and "receiver 192.0.2.17" in listed and password not in listed
    [path] = set(re.findall(r'action="([^"]*/smpp/[^"/]+)/rotate"', listed))
    [since, *_] = re.findall(r'<option value="([^"]+)">1 hour ago', listed)
    assert "are delivered again" in browser.submit(f"{path}/replay", since=since, follow=True).text
    assert password not in browser.submit(f"{path}/rotate").text
    account = console.operator().open(f"/operator/accounts/{console.service.account_id}").text
    assert "console-1" in account and "receiver 192.0.2.17" in account
    assert "No SMPP credentials yet" in browser.submit(f"{path}/revoke", follow=True).text
