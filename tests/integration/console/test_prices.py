"""Prices in the console: an operator imports, publishes and assigns them, and the account sees them."""

import io
import re
from typing import Any

import pytest

from shared.prices import book
from shared.unit import Unit
from tests.harness.console import Console


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API reads what was published before each request."""
    monkeypatch.setattr(book, "FRESH", 0.0)


def sheet(prices: str) -> dict[str, Any]:
    return {"file": (io.BytesIO(f"prefix,price\n{prices}".encode()), "prices.csv")}


def number(address: str) -> str:
    return str(re.findall("[0-9]+", address)[-1])


def made_valid(console: Console) -> None:
    console.service.execute("UPDATE price_version SET valid_from = now() WHERE valid_from > now()")
    console.service.execute("UPDATE price_assignment SET valid_from = now() WHERE valid_from > now()")


def test_amounts_are_typed_and_shown_in_the_currency(console: Console) -> None:
    admin, path = console.operator("admin"), f"/operator/accounts/{console.service.account_id}"
    console.app.config["UNIT"] = Unit("EUR", 4)
    try:
        admin.open(f"{path}/top-up")
        asked = admin.submit(f"{path}/top-up", credits="12.50", reason="paid").text
        assert "€12.50" in asked and 'name="credits" value="12.50"' in asked
        assert admin.submit(f"{path}/top-up", credits="12.50", reason="paid", confirmed="yes").status_code == 302
        topped_up = "SELECT max(amount) FROM ledger WHERE kind = 'topup' AND account_id = :account"
        assert console.service.scalar(topped_up, account=console.service.account_id) == 125_000
        admin.open(f"{path}/credit")
        wrong = admin.submit(f"{path}/credit", credit_limit="1,000", spend_threshold="", reason="agreed")
        assert wrong.status_code == 400 and "Enter an amount in EUR" in wrong.text
        assert (
            admin.submit(f"{path}/credit", credit_limit="7.25", spend_threshold="", reason="agreed").status_code == 302
        )
        assert 'value="7.25"' in admin.open(f"{path}/credit").text
    finally:
        console.app.config["UNIT"] = Unit()


def test_a_list_from_its_sheet_to_the_account(console: Console) -> None:
    admin, owner = console.operator("admin"), console.browser("owner")
    assert "A segment costs one credit anywhere." in owner.get("/prices/").text
    admin.open("/operator/prices/")
    made = admin.submit("/operator/prices/", name="Standard", carrier="")
    assert made.status_code == 302
    path = f"/operator/prices/{number(made.headers['Location'])}"
    wrong = admin.submit(f"{path}/import", **sheet("254,x\n0,1\n"))
    assert wrong.status_code == 400 and "Line 2: &#39;x&#39; is no price" in wrong.text
    assert "Line 3: &#39;0&#39; is neither" in wrong.text and "lines:" not in wrong.text
    loaded = admin.submit(f"{path}/import", **sheet("254,120\n33,400\n"))
    version = f"/operator/prices/versions/{number(loaded.headers['Location'])}"
    assert "Draft" in admin.open(version).text
    assert admin.open(f"{version}.csv").text == "prefix,country,category,price\n254,KE,,120\n33,FR,,400\n"
    early = admin.submit(f"{version}/publish", valid_from="2020-01-01T00:00")
    assert early.status_code == 400 and "at the earliest" in early.text
    assert admin.submit(f"{version}/publish", valid_from="").status_code == 302
    made_valid(console)
    assert admin.submit(f"{path}/assign", account_id="x").status_code == 400
    assert admin.submit(f"{path}/assign", account_id=str(console.service.account_id)).status_code == 302
    made_valid(console)
    raised = admin.submit(f"{path}/import", **sheet("254,130\n33,400\n"))
    announced = f"/operator/prices/versions/{number(raised.headers['Location'])}"
    assert "Raised" in admin.open(announced).text
    admin.submit(f"{announced}/publish", valid_from="")
    console.app.config["UNIT"] = Unit("EUR", 4)
    try:
        page = owner.get("/prices/?phone=%2B254%20711%20000000").text
    finally:
        console.app.config["UNIT"] = Unit()
    (next_prices,) = re.findall('href="/accounts/[0-9]+/live(/prices/[?]at=[^"]+)"', page)
    assert ">130<" in owner.get(next_prices).text and owner.get("/prices/?at=2020-01-01T00:00:00Z").status_code == 400
    assert "Standard" in page and "€0.012" in page and "Next price" in page and "€0.013" in page
    assert owner.get("/prices/prices.csv").text.startswith("prefix,country,category,price\n254,KE,,120\n")
    assert owner.get("/prices/?phone=4930123456").status_code == 400
    assert admin.submit(f"{announced}/withdraw").status_code == 302
    assert "Withdrawn" in admin.open(path).text
    refused = console.operator("support")
    refused.open("/operator/prices/")
    assert refused.submit(f"{path}/assign", default="yes").status_code == 403
    assert admin.submit(f"{path}/assign", account_id=str(console.service.account_id), remove="yes").status_code == 302
