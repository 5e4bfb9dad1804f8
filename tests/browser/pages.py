"""The pages that are looked at, by name: those with an address of their own, and those that follow a form."""

import uuid
from typing import NamedTuple

from bench.console_pages import LIVE, OF_ACCOUNT, OF_OPERATOR, OF_PERSON, filled
from shared.people.memberships import add_member
from tests.harness.console import Console
from tests.harness.owned import a_credential, an_export
from tests.harness.people import PASSWORD, a_person
from tests.harness.prices import a_draft

PHONE = "254711000003"
TEXT = {"kind": "one", "phone": PHONE, "sender_id": "ACME", "message": "Your table is ready."}


class Posted(NamedTuple):
    """A page that a form leads to. A field with a line break is a file."""

    path: str
    fields: dict[str, str]


FORMS_OF_ACCOUNT = {
    "message to confirm": Posted("/compose/confirm", TEXT),
    "message with errors": Posted(
        "/compose/confirm", {"kind": "one", "phone": "0711", "when": "later", "send_at": "x"}
    ),
    "secret of a key": Posted("/api-keys/new", {"name": "Shop", "scopes": "sms:read"}),
    "key with errors": Posted("/api-keys/new", {"name": "Shop", "allowed_ips": "x"}),
    "password of SMPP": Posted("/smpp/new", {"system_id": "{system_id}", "allowed_ips": "192.0.2.0/24"}),
    "SMPP with errors": Posted("/smpp/new", {"system_id": "two words", "allowed_ips": "x"}),
    "secret of a webhook": Posted("/webhooks/{webhook}/rotate", {}),
    "webhook with errors": Posted("/webhooks/new", {"url": "x"}),
    "change of a webhook with errors": Posted("/webhooks/{webhook}/edit", {"url": "x"}),
    "link of an invitation": Posted("/people/invitations", {"email": "{new}@example.com", "role": "viewer"}),
    "invitation with errors": Posted("/people/invitations", {"email": "x", "role": "viewer"}),
    "sender ID with errors": Posted("/sender-ids/", {"sender_id": "!"}),
    "group with errors": Posted("/groups/", {"name": ""}),
    "contacts with errors": Posted("/groups/{group}/contacts", {"phones": "x"}),
    "opt-outs with errors": Posted("/opt-outs/", {"phones": "x"}),
    "reply with errors": Posted("/conversations/{phone}", {"message": ""}),
    "change of a send with errors": Posted("/sends/{open}/change", {"rate": "x"}),
}
FORMS_OF_PERSON = {
    "profile with errors": Posted("/me/profile", {"name": "Nia", "time_zone": "Nowhere/Else"}),
    "password with errors": Posted("/me/password", {"password": PASSWORD, "new_password": "short"}),
    "second factor": Posted("/me/totp", {"password": PASSWORD}),
    "second factor with errors": Posted("/me/totp/confirm", {"secret": "ABCD", "uri": "", "code": "x"}),
}
FORMS_OF_OPERATOR = {
    "top-up to confirm": Posted("/operator/accounts/{account}/top-up", {"credits": "5", "reason": "invoice 1"}),
    "price list with errors": Posted("/operator/prices/", {"name": "", "carrier": ""}),
    "prices with errors": Posted("/operator/prices/{list}/import", {"file": "prefix,price\n254,x\n"}),
    "account of a price list with errors": Posted("/operator/prices/{list}/assign", {"account_id": "x"}),
    "publishing with errors": Posted("/operator/prices/versions/{version}/publish", {"valid_from": "x"}),
    "top-up with errors": Posted("/operator/accounts/{account}/top-up", {"credits": "x", "reason": ""}),
    "adjustment with errors": Posted("/operator/accounts/{account}/adjust", {"credits": "x", "reason": ""}),
    "verification with errors": Posted("/operator/accounts/{account}/verification", {"max_sends": "x", "reason": ""}),
    "credit with errors": Posted("/operator/accounts/{account}/credit", {"credit_limit": "x", "reason": ""}),
    "refund with errors": Posted("/operator/accounts/{account}/refund", {"kind": "send", "id": "x", "reason": ""}),
    "reason with errors": Posted("/operator/access/", {"reason": ""}),
    "suspension without a reason": Posted("/operator/accounts/{account}/suspend", {"reason": " "}),
    "doubts to resolve": Posted("/operator/doubts/resolve", {"message_ids": "{message}"}),
    "doubts without an outcome": Posted("/operator/doubts/resolve", {"message_ids": "{message}", "asked": "yes"}),
    "result of a report": Posted(
        "/operator/doubts/report", {"carrier": "simulator", "file": "phone,status\n0x,sent\n254711000001,sent\n"}
    ),
    "report with errors": Posted("/operator/doubts/report", {"carrier": "simulator"}),
}
OF_STRANGERS = {
    "sign-in": "/sign-in",
    "no such page": "/nothing",
    "link": "/sign-in/link/{link}",
    "invitation": "/invitations/{invited}",
}
FORMS_OF_STRANGERS = {
    "sign-in with errors": Posted("/sign-in", {"email": "nobody@example.com", "password": "wrong"}),
    "link that no longer works": Posted("/sign-in/link/used", {}),
    "invitation with errors": Posted("/invitations/{invited}", {"name": "Ann", "password": "short"}),
}
WRONG_SEARCHES = {
    "search with errors": "/messages/?since=x&phone=x",
    "operator's search with errors": "/operator/messages/?id=x",
}


def objects_of(console: Console) -> dict[str, str]:
    """What the pages of the furnished account and installation are about."""
    service = console.service
    sends = service.get("/sends").json["data"]
    with service.engine.connect() as connection:
        sender = connection.exec_driver_sql("SELECT id FROM sender_id WHERE sender_id = 'HARB0UR'").scalar()
    if not service.get("/smpp-credentials").json["data"]:
        a_credential(service)
    prices, version = a_draft(service.engine)
    return {
        "list": str(prices),
        "version": str(version),
        "account": str(service.account_id),
        "single": next(each for each in sends if each["kind"] == "single")["send_id"],
        "many": next(each for each in sends if each["kind"] == "group")["send_id"],
        "open": next(each for each in sends if each["status"] == "scheduled")["send_id"],
        "group": next(each for each in service.get("/groups").json["data"] if each["contact_count"])["group_id"],
        "message": service.get("/messages?status=delivered").json["data"][0]["message_id"],
        "exported": an_export(service),
        "phone": PHONE,
        "webhook": service.get("/webhooks").json["data"][0]["webhook_id"],
        "imported": service.get("/imports").json["data"][0]["import_id"],
        "sender": str(sender),
        "carrier": "simulator",
        "month": service.get("/statements").json["data"][0]["month"],
        "top_up": str(uuid.uuid4()),
        "system_id": f"s{uuid.uuid4().hex[:14]}",
        "new": f"invited-{uuid.uuid4().hex}",
    }


def whole(pages: dict[str, str]) -> dict[str, str]:
    """Without the live parts, which are no pages."""
    return {name: path for name, path in pages.items() if not name.startswith(LIVE)}


def pages_of(console: Console) -> dict[str, str]:
    """Paths of the account's pages below the account, with objects of the furnished account."""
    return filled(whole(OF_ACCOUNT), **objects_of(console))


def operators_pages(console: Console) -> dict[str, str]:
    """Paths of the operator's pages, with objects of the furnished account."""
    pages = whole(OF_OPERATOR) | {"operator's search with errors": WRONG_SEARCHES["operator's search with errors"]}
    return filled(pages, **objects_of(console))


def persons_pages() -> dict[str, str]:
    """Paths of a person's pages."""
    return dict(OF_PERSON)


def forms_of(forms: dict[str, Posted], **objects: str) -> dict[str, Posted]:
    """The forms with these objects."""
    return {
        name: Posted(
            form.path.format(**objects), {field: value.format(**objects) for field, value in form.fields.items()}
        )
        for name, form in forms.items()
    }


def person_of_two_accounts(console: Console) -> str:
    """The token of a link that signs in somebody who has to choose an account."""
    person = a_person(console.service, console.service.account_id, "viewer")
    second = console.service.new_account("Second")
    console.service.transact(add_member, second, person.id, "owner")
    return console.link(person)
