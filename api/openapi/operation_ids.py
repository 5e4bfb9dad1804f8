"""The `operationId` of each operation in the OpenAPI document: a verb and its object. Clients name their methods so.

No id may be the name of a schema, because client generators put both into one namespace.
"""

from api.endpoint import OPERATORS, Endpoint
from api.openapi import operators

IDS = {
    "api_keys": "list_api_keys",
    "make_api_key": "create_api_key",
    "rotate_api_key": "rotate_api_key_secret",
    "exchange": "create_token",
    "revoke": "revoke_access_token",
    "balance": "get_balance",
    "transactions": "list_transactions",
    "invitations": "list_invitations",
    "groups": "list_groups",
    "new_group": "create_group",
    "group": "get_group",
    "group_contacts": "list_contacts",
    "put_contacts": "add_contacts",
    "webhooks": "list_webhooks",
    "new_webhook": "create_webhook",
    "webhook": "get_webhook",
    "change_webhook": "update_webhook",
    "rotate_secret": "rotate_webhook_secret",
    "deliveries": "list_deliveries",
    "recover": "recover_webhook",
    "errors": "list_errors",
    "error": "get_error",
    "read_events": "list_events",
    "imports": "list_imports",
    "one_import": "get_import",
    "import_errors": "list_import_errors",
    "cancel_an_import": "cancel_import",
    "inbound": "list_inbound_messages",
    "limits": "get_limits",
    "sends": "list_sends",
    "one_send": "get_send",
    "send_errors": "count_send_errors",
    "rejected_recipients": "list_rejected_recipients",
    "change_send": "update_send",
    "cancel": "cancel_send",
    "pause": "pause_send",
    "resume": "resume_send",
    "send_messages": "list_send_messages",
    "messages": "list_messages",
    "message": "get_message",
    "events": "list_message_events",
    "erase": "create_erasure",
    "erasures": "list_erasures",
    "erasure": "get_erasure",
    "sender_ids": "list_sender_ids",
    "send": "send_message",
    "price": "create_quote",
    "suppressions": "list_suppressions",
    "suppress": "create_suppressions",
    "unsuppress_phone": "delete_suppression",
    "usage": "get_usage",
}
"""Ids by the name of the endpoint's function, where they differ from that name."""


def operation_id(operation: Endpoint) -> str:
    """The operation's `operationId`."""
    name = operation.function.__name__
    return (operators.IDS if operation.api is OPERATORS else IDS).get(name, name)
