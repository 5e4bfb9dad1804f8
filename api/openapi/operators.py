"""Texts of the operator API's OpenAPI document: its description, tags, and path variables."""

from typing import Any, Final

from api.operator.money.schemas import TOP_UP_ID
from api.operator.prices.schemas import LIST_ID, VERSION_ID
from api.schemas.examples import API_KEY, MESSAGE_ID, SEND_ID, SENDER_UUID, SMPP_ID
from shared.accounts.operator_keys import OPERATOR_SCOPES
from shared.settings import IDEMPOTENCY_DAYS

SCOPE_LIST = "\n".join(f"- `{scope}`: {allowed}" for scope, allowed in OPERATOR_SCOPES.items())
DESCRIPTION = f"""
For those who run the installation, and for billing and onboarding systems: accounts, credits, sender IDs, carriers, and
what needs a decision. `bulksms operator-key create NAME --scope read` creates a key for it.

**Access.** POST /operator/v1/auth/token exchanges an operator key for a token, valid for an hour. Keys and tokens of
the two APIs are not valid on the other. The scopes of a key, and what each allows:

{SCOPE_LIST}

Without `texts`, phone numbers are shown with their middle hidden, and texts as null.

**Audit log.** Every change is recorded with the operator key or person who made it, its reason, and the values
before and after: GET /operator/v1/changes.

**Retries.** Give every POST an `Idempotency-Key`: a repeated request with the same key has no further effect and gets
the first response again. A key belongs to the path, and is kept for {IDEMPOTENCY_DAYS} days; that of a top-up, for
good. The first response is only for the operator who made the request.

**Errors** are problem details (RFC 9457), as in the customers' API; distinguish them by `code`. What cannot be done at
present is 409 `state_conflict`, and `detail` says why.

**Lists** are paged: pass `next_cursor` of a page as `cursor` of the next one, until it is null.
"""
TAGS = {
    "auth": "Exchange an operator key for a token.",
    "accounts": "Accounts: create, change, suspend and close them.",
    "keys": "API keys of accounts.",
    "smpp": "SMPP credentials of accounts, and open binds.",
    "limits": "Limits and rules of accounts, and the pumping guard.",
    "money": "Top-ups, reversals, adjustments, refunds and statements.",
    "margin": "What messages brought, and what they cost.",
    "prices": "Price lists: their versions, and the accounts that have them.",
    "senders": "Sender IDs: the queue of requests, and decisions.",
    "carriers": "Carriers: state, pace, pauses, rate limits and test messages.",
    "queue": "What waits, and what limits it.",
    "messages": "Messages of all accounts, with their timelines.",
    "sends": "Sends of all accounts.",
    "doubts": "Messages in doubt.",
    "inbound": "Inbound messages to numbers that belong to no account.",
    "installation": "Jobs set aside, audits, the doctor, and the guard against restored databases.",
    "changes": "The audit log.",
}
PATH_VARIABLES: Final[dict[str, tuple[str, Any]]] = {
    "account_id": ("The account.", 17),
    "carrier": ("The carrier's name in CARRIERS_FILE.", "main"),
    "category": ("`transactional` or `marketing`.", "marketing"),
    "credential_id": ("The SMPP credential.", SMPP_ID),
    "key_id": ("The API key.", API_KEY),
    "limit_name": ("The limit's name.", "sender ACME"),
    "list_id": ("The price list.", LIST_ID),
    "send_id": ("The send.", SEND_ID),
    "message_id": ("The message.", MESSAGE_ID),
    "month": ("The month, UTC.", "2026-03"),
    "sender": ("The `sender` of the sender ID.", SENDER_UUID),
    "top_up_id": ("The top-up.", TOP_UP_ID),
    "version_id": ("The version of a price list.", VERSION_ID),
}
