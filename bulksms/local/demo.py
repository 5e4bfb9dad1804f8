"""The demo account of a local installation, ready to send a first message, and a person to sign in as."""

import json
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection, bindparam, func, or_, select

from bulksms.local.files import write_private
from bulksms.local.ports import free_port, is_free
from shared.accounts import smpp_credentials as credentials
from shared.accounts.administration import Refused, create_account, create_key, find_account
from shared.accounts.audit_log import operator
from shared.accounts.sandbox import IDS_WITH_SANDBOX
from shared.accounts.smpp_credentials import NewCredential
from shared.accounts.top_ups import top_up
from shared.api_key import NewKey, matches
from shared.contacts.groups import add_contacts, create_group
from shared.db.connection import make_engine
from shared.db.tables import accounts
from shared.db.tables.contacts import contact_group
from shared.people.memberships import add_member
from shared.people.persons import create_person, person_by_email, set_operator_role
from shared.people.roles import OperatorRole, Role
from shared.people.sign_in_links import FIRST_VALID, make_link
from shared.scopes import SCOPES
from shared.senders.sender_ids import decide_sender, request_sender
from shared.settings import Settings, from_environment

FILE = Path("var") / "demo.json"

ACCOUNT = "demo"
SENDER = "DEMO"
CREDITS = 1_000_000
GROUP = "Demo group"
FIRST_PHONE = 254_700_000_000
CONTACTS = 1_000
EMAIL = "owner@example.com"
"""The person of the demo: owner of the account, and operator of the installation."""

NO_KEY = NewKey("", "")

KEYS, GROUPS = accounts.api_key.c, contact_group.c
STATE = select(accounts.account.c.state).where(accounts.account.c.id == bindparam("account"))
SECRET_HASH = select(KEYS.secret_hash).where(
    KEYS.id == bindparam("key"),
    KEYS.account_id.in_(IDS_WITH_SANDBOX),
    KEYS.revoked_at.is_(None),
    or_(KEYS.expires_at.is_(None), KEYS.expires_at > func.now()),
)
FIND_GROUP = select(GROUPS.id).where(
    GROUPS.account_id == bindparam("account"), GROUPS.name == bindparam("name"), GROUPS.deleted_at.is_(None)
)


def ensure_demo(base_url: str, smpp_port: int) -> dict[str, str]:
    """Create the demo account, if needed, with credits, a sender ID, a group, a person, an API key and a test key.

    Returns the contents of `var/demo.json`: base_url, api_key, api_secret, test_api_key, test_api_secret, sender_id,
    group_id, smpp_port, smpp_system_id, smpp_password, unusable, and sign_in_url, a new link that signs the person in
    once, within a day; empty if they are disabled. `unusable` says why the account cannot send, in a sentence or two;
    empty if it can.

    A key that still works is kept; a lost one is replaced, because its secret is stored nowhere else. An account that
    cannot send gets no new key.
    """
    settings = from_environment()
    engine = make_engine(settings.database_url, pool=1, application="bulksms-demo")
    try:
        with engine.begin() as connection:
            demo = _ensure(connection, settings, base_url) | {"smpp_port": str(smpp_port)}
    finally:
        engine.dispose()
    FILE.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(FILE, json.dumps(demo, indent=2) + "\n")
    return demo


def _ensure(connection: Connection, settings: Settings, base_url: str) -> dict[str, str]:
    try:
        account = find_account(connection, ACCOUNT)
    except Refused:
        account = create_account(connection, ACCOUNT, authentication=True)
        top_up(connection, account, CREDITS, "a demonstration", "first")
        request_sender(connection, account, SENDER)
        decide_sender(connection, account, SENDER, "approved")
    group = _group(connection, account)
    unusable = _unusable(connection.execute(STATE, {"account": account}).scalar_one())
    live, test = _kept_key(connection, settings, account), _kept_key(connection, settings, account, "test_")
    live = live or (NO_KEY if unusable else _new_key(connection, settings, account))
    test = test or (NO_KEY if unusable else _new_key(connection, settings, account, test=True))
    smpp = _credential(connection, settings, account)
    return {
        "base_url": base_url,
        "api_key": live.api_key,
        "api_secret": live.api_secret,
        "test_api_key": test.api_key,
        "test_api_secret": test.api_secret,
        "sender_id": SENDER,
        "group_id": str(group),
        "smpp_system_id": smpp.system_id,
        "smpp_password": smpp.password,
        "unusable": unusable,
        "sign_in_url": _sign_in_url(connection, settings, account),
    }


def _unusable(state: str) -> str:
    """Why the account cannot send; empty if it can."""
    if state == "active":
        return ""
    if state == "closed":
        remedy = "Make another account with `bulksms account create NAME`"
    else:
        remedy = f"Activate it with `bulksms account activate {ACCOUNT}`"
    return f"The account {ACCOUNT} cannot send, because it is {state}. {remedy}."


def _sign_in_url(connection: Connection, settings: Settings, account: int) -> str:
    row = person_by_email(connection, EMAIL)
    person = row.id if row is not None else create_person(connection, EMAIL, "Demo Owner", by=operator())
    assert person is not None
    if row is None:
        add_member(connection, account, person, Role.OWNER)
        set_operator_role(connection, person, OperatorRole.ADMIN)
    elif row.state != "active":
        return ""
    return f"{settings.console_url}/sign-in/link/{make_link(connection, person, FIRST_VALID)}"


def _group(connection: Connection, account: int) -> UUID:
    group_id = connection.execute(FIND_GROUP, {"account": account, "name": GROUP}).scalar()
    if group_id is not None:
        return UUID(str(group_id))
    group = create_group(connection, account, GROUP)
    add_contacts(connection, group, range(FIRST_PHONE, FIRST_PHONE + CONTACTS))
    return group


def _new_key(connection: Connection, settings: Settings, account: int, test: bool = False) -> NewKey:
    return create_key(connection, account, settings.secret_key, test, SCOPES)


def _credential(connection: Connection, settings: Settings, account: int) -> NewCredential:
    """The SMPP credential: with the password in the file if that is still valid; empty if it cannot be made."""
    try:
        known = credentials.find_credential(connection, ACCOUNT)
        if known is None or known.account_id != account:
            networks = ["127.0.0.0/8"]
            return credentials.create_credential(connection, account, ACCOUNT, settings.secret_key, networks=networks)
        password = _kept().get("smpp_password", "")
        if matches(bytes(known.password_hash), password, (settings.secret_key, *settings.secret_key_fallbacks)):
            return NewCredential(ACCOUNT, password)
        return credentials.rotate_password(connection, credentials.find_own(connection, ACCOUNT), settings.secret_key)
    except Refused:
        return NewCredential("", "")


def kept_smpp_port() -> int:
    """The SMPP server's port: that in the file if it is free."""
    port = _kept().get("smpp_port", "")
    return int(port) if port.isdecimal() and is_free(int(port)) else free_port()


def _kept() -> dict[str, str]:
    """The contents of the file; empty if there is none."""
    try:
        kept = json.loads(FILE.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {str(name): str(value) for name, value in kept.items()} if isinstance(kept, dict) else {}


def _kept_key(connection: Connection, settings: Settings, account: int, prefix: str = "") -> NewKey | None:
    """The key and secret in the file, if they are still valid."""
    kept = _kept()
    key, secret = kept.get(f"{prefix}api_key", ""), kept.get(f"{prefix}api_secret", "")
    keys = (settings.secret_key, *settings.secret_key_fallbacks)
    stored = connection.execute(SECRET_HASH, {"key": key, "account": account}).scalar()
    if stored is None or not matches(bytes(stored), secret, keys):
        return None
    return NewKey(key, secret)
