"""The pages of the console that have an address, by name: they are measured, and looked at in a browser.

Words in braces are objects; whoever opens a page names them.
"""

LIVE = "live: "
"""The beginning of the name of a live part."""
TEXT = "Hi%20{{{{name}}}}%20%E2%80%93%20your%20table%20is%20ready"

OF_ACCOUNT = {
    "overview": "/",
    "new message": "/compose/",
    "new message to a group": f"/compose/?kind=group&group_id={{group}}&sender_id=ACME&message={TEXT}",
    "sends": "/sends/",
    "sends that are paused": "/sends/?status=paused",
    "send of one": "/sends/{single}",
    "send of many": "/sends/{many}",
    "reasons of a send": "/sends/{many}/reasons",
    "recipients that were left out": "/sends/{many}/rejected",
    "recipients": "/sends/{many}/recipients",
    "recipients that failed": "/sends/{many}/recipients?status=failed",
    "change a send": "/sends/{open}/change",
    "messages": "/messages/",
    "messages to a phone": "/messages/?phone={phone}",
    "messages that failed": "/messages/?status=failed",
    "message": "/messages/{message}",
    "export": "/messages/exports/{exported}",
    "conversations": "/conversations/",
    "conversation": "/conversations/{phone}",
    "groups": "/groups/",
    "group": "/groups/{group}",
    "contact": "/groups/{group}/contact",
    "import": "/groups/imports/{imported}",
    "opt-outs": "/opt-outs/",
    "usage": "/usage/?by=country",
    "one-time passwords": "/verifications/",
    "credits": "/credits/",
    "statement": "/credits/statements/{month}",
    "prices": "/prices/?phone={phone}",
    "sender IDs": "/sender-ids/",
    "people": "/people/",
    "API keys": "/api-keys/",
    "new API key": "/api-keys/new",
    "SMPP": "/smpp/",
    "new SMPP credential": "/smpp/new",
    "webhooks": "/webhooks/",
    "webhook": "/webhooks/{webhook}",
    "new webhook": "/webhooks/new",
    "change a webhook": "/webhooks/{webhook}/edit",
    "changes": "/changes/",
    f"{LIVE}overview": "/now",
    f"{LIVE}send": "/sends/{open}/progress",
    f"{LIVE}import": "/groups/imports/{imported}/progress",
    f"{LIVE}webhook log": "/webhooks/{webhook}/log",
}
"""Below the account and its world."""
OF_PERSON = {"profile": "/me/profile", "password and sign-in": "/me/security"}
OF_OPERATOR = {
    "accounts": "/operator/accounts/",
    "accounts found": "/operator/accounts/?search=shop",
    "account": "/operator/accounts/{account}",
    "top up": "/operator/accounts/{account}/top-up",
    "refund": "/operator/accounts/{account}/refund",
    "statement of an account": "/operator/accounts/{account}/statements/{month}",
    "reverse a top-up": "/operator/accounts/{account}/top-ups/{top_up}/reverse?credits=5",
    "adjust": "/operator/accounts/{account}/adjust",
    "credit": "/operator/accounts/{account}/credit",
    "verification": "/operator/accounts/{account}/verification",
    "suspend": "/operator/accounts/{account}/suspend",
    "activate": "/operator/accounts/{account}/activate",
    "messages of all accounts": "/operator/messages/",
    "messages of an account": "/operator/messages/?account_id={account}&phone={phone}",
    "message of an account": "/operator/messages/{message}",
    "sender ID requests": "/operator/sender-ids/",
    "all sender IDs": "/operator/sender-ids/?status=all",
    "reject a sender ID": "/operator/sender-ids/{sender}/reject",
    "price lists": "/operator/prices/",
    "price list": "/operator/prices/{list}",
    "version of prices": "/operator/prices/versions/{version}",
    "from phones": "/operator/inbound/",
    "carriers": "/operator/carriers/",
    "pause a carrier": "/operator/carriers/{carrier}/pause",
    "queue": "/operator/queue/",
    "margin": "/operator/margin/?by=country",
    "doubts": "/operator/doubts/",
    "report": "/operator/doubts/report",
    "health": "/operator/health/",
    "doctor": "/operator/health/doctor",
    "release the guard": "/operator/health/guard/release",
    "audit log": "/operator/changes/",
    "access": "/operator/access/",
    f"{LIVE}carriers": "/operator/carriers/now",
    f"{LIVE}queue": "/operator/queue/now",
}


def filled(pages: dict[str, str], **objects: object) -> dict[str, str]:
    """The pages with these objects."""
    return {name: path.format(**objects) for name, path in pages.items()}
