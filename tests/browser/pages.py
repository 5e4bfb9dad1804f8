"""The pages that are looked at, by name."""

from tests.harness.console import Console


def pages_of(console: Console) -> dict[str, str]:
    """Paths of the account's pages, with objects of the furnished account."""
    service = console.service
    send = next(each for each in service.get("/sends").json["data"] if each["kind"] == "group")["send_id"]
    group = next(each for each in service.get("/groups").json["data"] if each["contact_count"])["group_id"]
    message = service.get("/messages?status=delivered").json["data"][0]["message_id"]
    hook = service.get("/webhooks").json["data"][0]["webhook_id"]
    imported = service.get("/imports").json["data"][0]["import_id"]
    text = "message=Hi%20%7B%7Bname%7D%7D%20%E2%80%93%20your%20table%20is%20ready"
    return {
        "overview": "/",
        "compose": f"/compose/?kind=group&group_id={group}&sender_id=ACME&{text}",
        "compose one": "/compose/",
        "sends": "/sends/",
        "send": f"/sends/{send}",
        "reasons": f"/sends/{send}/reasons",
        "recipients": f"/sends/{send}/recipients",
        "messages": "/messages/",
        "message": f"/messages/{message}",
        "conversations": "/conversations/",
        "conversation": "/conversations/254711000003",
        "groups": "/groups/",
        "group": f"/groups/{group}",
        "contact": f"/groups/{group}/contact",
        "import": f"/groups/imports/{imported}",
        "opt-outs": "/opt-outs/",
        "usage": "/usage/?by=country",
        "credits": "/credits/",
        "sender IDs": "/sender-ids/",
        "people": "/people/",
        "API keys": "/api-keys/",
        "new API key": "/api-keys/new",
        "webhooks": "/webhooks/",
        "webhook": f"/webhooks/{hook}",
        "new webhook": "/webhooks/new",
        "changes": "/changes/",
    }


def operators_pages(console: Console) -> dict[str, str]:
    """Paths of the operator's pages, with objects of the furnished account."""
    account = f"/operator/accounts/{console.service.account_id}"
    with console.service.engine.connect() as connection:
        sender = connection.exec_driver_sql("SELECT id FROM sender_id WHERE sender_id = 'HARB0UR'").scalar_one()
    return {
        "accounts": "/operator/accounts/",
        "account": account,
        "top up": f"{account}/top-up",
        "suspend": f"{account}/suspend",
        "sender ID requests": "/operator/sender-ids/",
        "all sender IDs": "/operator/sender-ids/?status=all",
        "reject": f"/operator/sender-ids/{sender}/reject",
        "carriers": "/operator/carriers/",
        "pause": "/operator/carriers/simulator/pause",
        "queue": "/operator/queue/",
        "doubts": "/operator/doubts/",
        "report": "/operator/doubts/report",
        "health": "/operator/health/",
        "release": "/operator/health/guard/release",
        "log of changes": "/operator/changes/",
        "access": "/operator/access/",
    }
