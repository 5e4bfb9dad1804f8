"""The order of the requests in the Postman collection: each uses what earlier ones have created."""

FOLDERS: dict[str, tuple[str, ...]] = {
    "1. Get a token": ("create_token", "get_limits", "list_errors", "get_error"),
    "2. Register a sender ID": ("refill_sandbox", "request_sender_id", "list_sender_ids"),
    "3. Send": (
        "create_quote",
        "send_message",
        "list_messages",
        "get_message",
        "list_message_events",
        "cancel_message",
        "export_messages",
        "list_exports",
        "get_export",
        "get_export_file",
        "delete_export",
        "start_verification",
        "check_verification",
        "get_verification",
        "list_verifications",
        "get_verification_rates",
    ),
    "4. Send to many": (
        "send_bulk",
        "list_sends",
        "get_send",
        "list_send_messages",
        "count_send_errors",
        "list_rejected_recipients",
        "update_send",
        "pause_send",
        "resume_send",
        "cancel_send",
    ),
    "5. Groups": (
        "create_group",
        "list_groups",
        "rename_group",
        "add_contacts",
        "list_contacts",
        "send_group",
        "import_contacts",
        "list_imports",
        "get_import",
        "list_import_errors",
        "cancel_import",
        "get_group",
        "remove_contacts",
    ),
    "6. Webhooks and events": (
        "create_webhook",
        "list_webhooks",
        "get_webhook",
        "update_webhook",
        "rotate_webhook_secret",
        "test_webhook",
        "list_deliveries",
        "replay_delivery",
        "recover_webhook",
        "list_events",
        "list_inbound_messages",
    ),
    "7. Opt-outs and erasure": (
        "create_suppressions",
        "import_suppressions",
        "list_suppressions",
        "delete_suppression",
        "create_erasure",
        "list_erasures",
        "get_erasure",
    ),
    "8. Credits": ("get_balance", "list_transactions", "list_statements", "get_statement", "get_prices", "get_usage"),
    "9. API keys and SMPP credentials": (
        "create_api_key",
        "list_api_keys",
        "rotate_api_key_secret",
        "revoke_api_key",
        "create_smpp_credential",
        "list_smpp_credentials",
        "update_smpp_credential",
        "rotate_smpp_password",
        "replay_smpp",
        "revoke_smpp_credential",
    ),
    "10. People": (
        "create_invitation",
        "list_invitations",
        "preview_invitation",
        "accept_invitation",
        "delete_invitation",
        "list_people",
        "update_person",
        "remove_person",
        "list_changes",
    ),
    "11. Sign in": (
        "sign_in",
        "sign_in_by_link",
        "list_sign_in_methods",
        "begin_oidc",
        "complete_oidc",
        "get_me",
        "update_me",
        "list_my_sessions",
        "end_my_session",
        "create_my_token",
        "create_my_operator_token",
        "change_my_password",
        "begin_my_totp",
        "confirm_my_totp",
        "disable_my_totp",
        "sign_out",
    ),
    "12. Clean up": ("delete_webhook", "delete_group", "delete_sender_id", "revoke_access_token"),
}
"""Operation ids by folder."""

CAPTURED = {
    "access_token": "token",
    **{
        name: name
        for name in ("send_id", "message_id", "group_id", "webhook_id", "import_id", "erasure_id", "invitation_id")
    },
    "credential_id": "credential_id",
    "event_id": "event_id",
    "export_id": "export_id",
    "verification_id": "verification_id",
}
"""Members of responses that are stored as variables of the collection, for later requests."""
CAPTURED_OF = {
    "request_sender_id": {"id": "sender"},
    "create_api_key": {"api_key": "key_id"},
    "create_invitation": {"token": "invitation_token"},
    "accept_invitation": {"session_token": "session_token"},
}
"""The same, for one operation only."""

ALSO_GOOD = {
    "get_statement": (404,),
    "cancel_message": (409,),
    "export_messages": (409,),
    "get_export": (404,),
    "get_export_file": (404, 409),
    "delete_export": (404,),
    "start_verification": (403, 429),
    "check_verification": (404,),
    "get_verification": (404,),
    "cancel_import": (409,),
    "replay_delivery": (404, 409),
    "delete_invitation": (404,),
    "update_person": (404,),
    "remove_person": (404,),
    "sign_in": (401,),
    "sign_in_by_link": (401,),
    "begin_oidc": (404, 503),
    "complete_oidc": (401, 404, 503),
    "end_my_session": (404,),
    "create_my_token": (404,),
    "create_my_operator_token": (403,),
    "confirm_my_totp": (401,),
}
"""Statuses besides 200 that an operation may return: its subject may be over, not have happened yet, or be known
to a person only."""

LIVE_ONLY = ("10. People", "11. Sign in")
"""Folders whose requests need a live key: people belong to the live account."""
OF_TEST_KEY = {operation: (401, 403, 404) for folder in LIVE_ONLY for operation in FOLDERS[folder]}
"""What they return for a test key: its token has no right to people, and so there is no invitation and no session."""

PASSWORD = "correct horse battery staple"
"""As in the examples of the OpenAPI document."""
CHANGED_BODIES: dict[str, dict[str, object]] = {
    "send_bulk": {"send_at": "{{tomorrow}}"},
    "send_group": {"group_id": "{{group_id}}"},
    "update_send": {},
    "create_invitation": {"email": "{{$guid}}@example.com", "role": "owner"},
    "preview_invitation": {"token": "{{invitation_token}}"},
    "accept_invitation": {"token": "{{invitation_token}}", "name": "Ann Otieno"},
    "update_me": {"name": "Ann Otieno"},
    "change_my_password": {"password": PASSWORD, "new_password": PASSWORD},
    "recover_webhook": {"since": "{{yesterday}}"},
    "create_smpp_credential": {"system_id": "acme{{$timestamp}}"},
    "replay_smpp": {"since": "{{yesterday}}"},
}
"""Members of bodies that are changed, so that they fit what was made before."""
