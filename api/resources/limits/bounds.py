"""The fixed limits of requests, and of what an account can have: each with its value and its description."""

from api.accept.schemas import MAX_METADATA_BYTES, MAX_PHONES
from api.auth.revocations import MAX_REVOKED, MAX_REVOKED_OF_ACCOUNT
from api.auth.token_claims import VALID
from api.commit.draft import MAX_INLINE_ENTRIES
from api.http.bounded_queries import MAX_ROWS_EXAMINED, STATEMENT_SECONDS
from api.http.json_body import LARGE_BODY, MAX_DEPTH, MAX_KEYS, MAX_VALUES, MAX_VALUES_SMALL_BODY, SMALL_BODY
from api.http.receive import MINIMUM_RATE
from api.http.request import MAX_HEAD_BYTES, MAX_HEADERS, MAX_LINE_BYTES
from api.limits.bulkheads import (
    CONNECTIONS_OF_ADDRESS,
    EXPORTS_OF_ACCOUNT,
    LARGE_OF_ACCOUNT,
    MAX_PER_ACCOUNT,
    MAX_UNREAD_BYTES,
    WORKED_ON_OF_ACCOUNT,
)
from api.resources.imports.upload import MAX_UPLOAD_BYTES
from api.resources.suppressions.entries import MAX_OPT_OUTS
from api.resources.webhooks.routes import MAX_WEBHOOKS
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.entries import MAX_ENTRIES
from api.schemas.paging import MAX_ITEMS
from api.schemas.times import MAX_TIME_AHEAD
from shared.accounts.api_keys import MAX_CREATED_PER_DAY
from shared.accounts.api_keys import MAX_KEYS as MAX_API_KEYS
from shared.accounts.smpp_credentials import MAX_CREDENTIALS
from shared.contacts import imports
from shared.contacts.fields import MAX_FIELDS, MAX_TAG_LENGTH, MAX_TAGS, MAX_VALUE_LENGTH
from shared.contacts.groups import MAX_CONTACTS, MAX_GROUPS
from shared.people import invitations
from shared.privacy import erasures
from shared.senders.sender_ids import MAX_PENDING, MAX_SENDER_IDS
from shared.settings import IDEMPOTENCY_DAYS
from shared.sms.segments import MAX_CHARACTERS


def bound(value: int, description: str) -> fields.Integer:
    """The field of a limit that is the same for all accounts."""
    return fields.Integer(description, value, required=True, dump_default=value)


class RequestBounds(Response):
    """The limits of one request, and of the requests and connections at the same time."""

    message_characters = bound(MAX_CHARACTERS, "Maximum length of a message, in Unicode code points.")
    phones_per_request = bound(MAX_PHONES, "Maximum recipients of a bulk send.")
    entries_per_request = bound(MAX_ENTRIES, "Maximum contacts or opt-outs in a request.")
    rejected_entries = bound(
        MAX_INLINE_ENTRIES, "Maximum entries that `rejected` of a response lists; further ones are only counted."
    )
    body_bytes = bound(SMALL_BODY, "Maximum size of a body, in bytes.")
    bulk_body_bytes = bound(
        LARGE_BODY,
        "Maximum size of a body of /sms/send-bulk, /sms/quote, and lists of contacts or opt-outs, in bytes.",
    )
    import_bytes = bound(MAX_UPLOAD_BYTES, "Maximum size of a file of contacts, in bytes.")
    schedule_days_ahead = bound(MAX_TIME_AHEAD.days, "How far ahead a send can be scheduled, in days.")
    metadata_bytes = bound(MAX_METADATA_BYTES, "Maximum size of `metadata`, in bytes.")
    token_seconds = bound(VALID, "How long a token is valid, in seconds.")
    page_items = bound(MAX_ITEMS, "Maximum entries per page.")
    page_rows_examined = bound(
        MAX_ROWS_EXAMINED,
        "Maximum rows examined for a page of a filtered list; such a page may be shorter than `limit`.",
    )
    page_seconds = bound(
        STATEMENT_SECONDS, "Timeout, in seconds, of each query of a list or report; the response is then 503."
    )
    idempotency_days = bound(IDEMPOTENCY_DAYS, "How long an `Idempotency-Key` is kept, in days.")
    headers = bound(MAX_HEADERS, "Maximum number of headers. Trailers, which are headers after the body, are refused.")
    header_bytes = bound(MAX_LINE_BYTES, "Maximum size of a URL, and of a single header, in bytes.")
    head_bytes = bound(MAX_HEAD_BYTES, "Maximum size of the URL and all headers together, in bytes.")
    json_keys = bound(MAX_KEYS, "Maximum keys of a JSON object.")
    json_values = bound(MAX_VALUES, "Maximum values in a JSON body above `body_bytes`, nested ones included.")
    small_body_json_values = bound(MAX_VALUES_SMALL_BODY, "Maximum values in a JSON body of up to `body_bytes`.")
    json_depth = bound(MAX_DEPTH, "Maximum nesting depth of a JSON body.")
    requests_under_way = bound(
        MAX_PER_ACCOUNT,
        "Maximum concurrent requests of the account per API process; further ones get `rate_limited`. Before"
        " authentication, a lower limit per client address applies.",
    )
    large_bodies_under_way = bound(
        LARGE_OF_ACCOUNT, "Maximum of these with a body above `body_bytes`; further ones wait."
    )
    large_bodies_worked_on = bound(
        WORKED_ON_OF_ACCOUNT,
        "Maximum of these whose body is being parsed and worked on, other than files of contacts; further ones wait.",
    )
    exports_under_way = bound(
        EXPORTS_OF_ACCOUNT, "Maximum concurrent CSV exports per API process; further ones get `rate_limited`."
    )
    unread_bytes = bound(
        MAX_UNREAD_BYTES,
        "Bytes of responses per API process that the account's clients have not read yet; above that, requests get"
        " `rate_limited`.",
    )
    body_bytes_per_second = bound(
        MINIMUM_RATE, "Minimum rate at which a large body must arrive, after its first 20 seconds."
    )
    connections_per_address = bound(
        CONNECTIONS_OF_ADDRESS,
        "Maximum requests of a client address at the same time, enforced by the proxy in front of the API; further ones"
        " get `rate_limited`.",
    )


class ObjectBounds(Response):
    """The limits of what an account can have. A sandbox has its own."""

    api_keys = bound(MAX_API_KEYS, "Maximum API keys that are not revoked; one more gets `state_conflict`.")
    api_keys_per_day = bound(
        MAX_CREATED_PER_DAY, "Maximum API keys that can be created in 24 hours; one more gets `rate_limited`."
    )
    smpp_credentials = bound(
        MAX_CREDENTIALS, "Maximum SMPP credentials that are not revoked; one more gets `state_conflict`."
    )
    revoked_tokens_per_key = bound(
        MAX_REVOKED, "Maximum tokens of an API key that can be revoked per day; one more gets `rate_limited`."
    )
    revoked_tokens = bound(
        MAX_REVOKED_OF_ACCOUNT, "Maximum tokens of all API keys that can be revoked per day, likewise."
    )
    sender_ids = bound(MAX_SENDER_IDS, "Maximum sender IDs; one more gets `sender_limit`.")
    pending_sender_ids = bound(MAX_PENDING, "Maximum of these that wait for approval; one more gets `sender_limit`.")
    open_invitations = bound(
        invitations.MAX_OPEN, "Maximum invitations of people that are open; one more gets `state_conflict`."
    )
    webhooks = bound(MAX_WEBHOOKS, "Maximum webhooks; one more gets `webhook_limit`.")
    groups = bound(MAX_GROUPS, "Maximum groups of an account; one more gets `group_limit`.")
    contacts_per_group = bound(MAX_CONTACTS, "Maximum contacts of a group; one more gets `group_full`.")
    contact_fields = bound(MAX_FIELDS, "Maximum fields of a contact.")
    contact_field_characters = bound(MAX_VALUE_LENGTH, "Maximum length of the value of a contact's field.")
    contact_tags = bound(MAX_TAGS, "Maximum tags of a contact.")
    contact_tag_characters = bound(MAX_TAG_LENGTH, "Maximum length of a tag.")
    open_imports = bound(
        imports.MAX_OPEN, "Maximum imports of contacts that wait or are running; one more gets `import_limit`."
    )
    open_import_bytes = bound(imports.MAX_OPEN_BYTES, "Maximum size of their files together, in bytes, likewise.")
    suppressions = bound(
        MAX_OPT_OUTS,
        "Maximum entries of the opt-out list; one more gets `suppression_limit`. A STOP is always stored.",
    )
    open_erasures = bound(erasures.MAX_OPEN, "Maximum erasures that are not complete; one more gets `erasure_limit`.")
