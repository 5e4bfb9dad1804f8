"""The pages of the console that are measured: those of an account, those of an operator, and their live parts."""

import json
from typing import Any

from bench.month import Tenant
from bench.stand import SENDER, Stand, wait_until

LIVE = "live: "
"""The beginning of the name of a live part."""
PHONE = "254700000007"
"""A phone whose messages are in the database."""


def account_pages(stand: Stand, tenant: Tenant, running: str) -> dict[str, str]:
    """Paths by name. `running` is a send that is being sent."""
    send = _one(stand, "/sends?status=completed&limit=1")["send_id"]
    large = str(stand.scalar(f"SELECT id FROM send WHERE account_id = {tenant.account} ORDER BY accepted DESC LIMIT 1"))
    group = _one(stand, "/groups")["group_id"]
    message = _one(stand, "/messages?status=delivered&limit=1")["message_id"]
    hook = stand.post(
        "/webhooks", json.dumps({"url": "https://shop.example.com/events", "events": ["balance.low"]}).encode()
    )
    imported = _imported(stand, group)
    pages = {
        "overview": "/",
        "new message": "/compose/",
        "new message to a group": f"/compose/?kind=group&group_id={group}&sender_id={SENDER}&message=Hi%20all",
        "sends": "/sends/",
        "sends that are paused": "/sends/?status=paused",
        "send of one": f"/sends/{send}",
        "send of many": f"/sends/{large}",
        "reasons of a send": f"/sends/{large}/reasons",
        "recipients": f"/sends/{large}/recipients",
        "recipients that failed": f"/sends/{large}/recipients?status=failed",
        "change a send": f"/sends/{running}/change",
        "messages": "/messages/",
        "messages to a phone": f"/messages/?phone={PHONE}",
        "messages that failed": "/messages/?status=failed",
        "message": f"/messages/{message}",
        "conversations": "/conversations/",
        "conversation": f"/conversations/{PHONE}",
        "groups": "/groups/",
        "group": f"/groups/{group}",
        "import": f"/groups/imports/{imported}",
        "opt-outs": "/opt-outs/",
        "usage": "/usage/?by=country",
        "credits": "/credits/",
        "sender IDs": "/sender-ids/",
        "people": "/people/",
        "API keys": "/api-keys/",
        "new API key": "/api-keys/new",
        "webhooks": "/webhooks/",
        "webhook": f"/webhooks/{hook['webhook_id']}",
        "new webhook": "/webhooks/new",
        "changes": "/changes/",
        f"{LIVE}overview": "/now",
        f"{LIVE}send": f"/sends/{running}/progress",
        f"{LIVE}import": f"/groups/imports/{imported}/progress",
    }
    return {name: f"/accounts/{tenant.account}/live{path}" for name, path in pages.items()} | {
        "profile": "/me/profile",
        "password and sign-in": "/me/security",
    }


def operator_pages(tenant: Tenant) -> dict[str, str]:
    """Paths by name."""
    account = f"/operator/accounts/{tenant.account}"
    return {
        "accounts": "/operator/accounts/",
        "accounts found": "/operator/accounts/?search=shop",
        "account": account,
        "top up": f"{account}/top-up",
        "suspend": f"{account}/suspend",
        "sender ID requests": "/operator/sender-ids/",
        "all sender IDs": "/operator/sender-ids/?status=all",
        "carriers": "/operator/carriers/",
        "pause a carrier": "/operator/carriers/main/pause",
        "queue": "/operator/queue/",
        "doubts": "/operator/doubts/",
        "report": "/operator/doubts/report",
        "health": "/operator/health/",
        "doctor": "/operator/health/doctor",
        "log of changes": "/operator/changes/",
        "access": "/operator/access/",
        f"{LIVE}carriers": "/operator/carriers/now",
        f"{LIVE}queue": "/operator/queue/now",
    }


def _one(stand: Stand, path: str) -> Any:
    return stand.request("GET", path)["data"][0]


def _imported(stand: Stand, group: str) -> str:
    """An import that has ended, with a row that was refused."""
    file = b"phone,name\n254722000001,Ruth\n07x2,Nobody\n"
    imported = str(stand.request("POST", f"/groups/{group}/import", file, "text/csv")["import_id"])
    wait_until(lambda: stand.request("GET", f"/imports/{imported}")["status"] == "completed", 60, "the import")
    return imported
