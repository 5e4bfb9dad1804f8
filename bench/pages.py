"""The pages of the console with objects of the installation that is measured."""

import json
import uuid
from typing import Any

from bench.console_pages import LIVE, OF_ACCOUNT, OF_OPERATOR, OF_PERSON, filled
from bench.month import Tenant
from bench.stand import Stand, wait_until

__all__ = ["LIVE", "account_pages", "operator_pages"]

PHONE = "254700000007"
"""A phone whose messages are in the database."""


def account_pages(stand: Stand, tenant: Tenant, running: str) -> dict[str, str]:
    """Paths by name. `running` is a send that is being sent."""
    largest = f"SELECT id FROM send WHERE account_id = {tenant.account} ORDER BY accepted DESC LIMIT 1"
    group = _one(stand, "/groups")["group_id"]
    hook = stand.post(
        "/webhooks", json.dumps({"url": "https://shop.example.com/events", "events": ["balance.low"]}).encode()
    )
    pages = filled(
        OF_ACCOUNT,
        single=_one(stand, "/sends?status=completed&limit=1")["send_id"],
        many=stand.scalar(largest),
        open=running,
        group=group,
        message=_one(stand, "/messages?status=delivered&limit=1")["message_id"],
        exported=stand.post("/exports", b"{}")["export_id"],
        phone=PHONE,
        webhook=hook["webhook_id"],
        imported=_imported(stand, group),
        month=_one(stand, "/statements")["month"],
    )
    return {name: f"/accounts/{tenant.account}/live{path}" for name, path in pages.items()} | OF_PERSON


def operator_pages(stand: Stand, tenant: Tenant) -> dict[str, str]:
    """Paths by name."""
    return filled(
        OF_OPERATOR,
        account=tenant.account,
        top_up=uuid.uuid4(),  # only submitting the form needs one that exists
        phone=PHONE,
        month=_one(stand, "/statements")["month"],
        message=_one(stand, "/messages?status=delivered&limit=1")["message_id"],
        sender=stand.scalar("SELECT id FROM sender_id WHERE state = 'pending' LIMIT 1"),
        carrier="main",
    )


def _one(stand: Stand, path: str) -> Any:
    return stand.request("GET", path)["data"][0]


def _imported(stand: Stand, group: str) -> str:
    """An import that has ended, with a row that was refused."""
    file = b"phone,name\n254722000001,Ruth\n07x2,Nobody\n"
    imported = str(stand.request("POST", f"/groups/{group}/import", file, "text/csv")["import_id"])
    wait_until(lambda: stand.request("GET", f"/imports/{imported}")["status"] == "completed", 60, "the import")
    return imported
