"""The words of API keys."""

from typing import Final

from api.openapi.fields.core import Word
from shared.api_key import SCOPES

KEY = "smsk_live_4f1cQ9zK27Lb"
SECRET = "smss_<shown once>"
NETWORKS = ["192.0.2.0/24", "2001:db8::/32"]

WORDS: Final[dict[str, Word]] = {
    "key_id": ("The API key.", KEY),
    "ApiKey.api_key": ("The API key.", KEY),
    "NewApiKey.api_key": ("The API key.", KEY),
    "RotatedApiKey.api_key": ("The API key.", KEY),
    "RevokedApiKey.api_key": ("The API key.", KEY),
    "NewApiKey.api_secret": ("Its secret: keep it now. Absent where `Idempotency-Replayed` is true.", SECRET),
    "RotatedApiKey.api_secret": ("Its new secret: keep it now. Absent where `Idempotency-Replayed` is true.", SECRET),
    "ApiKey.name": ("Yours, to tell keys apart.", "shop"),
    "NewApiKey.name": ("Yours, to tell keys apart.", "shop"),
    "MakeApiKey.name": ("Yours, to tell keys apart.", "shop"),
    "ApiKey.test": ("Whether it is a key of the sandbox: its messages reach no phone and take play credits.", False),
    "NewApiKey.test": ("Whether it is a key of the sandbox: its messages reach no phone and take play credits.", False),
    "MakeApiKey.test": ("Make a test key, for the sandbox; without it, as the key in use is.", False),
    "scopes": ("What it may be used for.", ["sms:send", "sms:read"]),
    "MakeApiKey.scopes": (
        f"What it may be used for: of {', '.join(SCOPES)}. Without it: `sms:send` and those to read, as far as the key"
        " in use has them.",
        ["sms:send", "sms:read"],
    ),
    "allowed_ips": ("The networks from which alone it may be used; null: from everywhere.", NETWORKS),
    "MakeApiKey.allowed_ips": ("The networks, or addresses, from which alone it may be used.", NETWORKS),
    "ApiKey.requests_per_second": ("Requests per second, at most; null: as many as the account.", None),
    "NewApiKey.requests_per_second": ("Requests per second, at most; null: as many as the account.", None),
    "MakeApiKey.requests_per_second": ("Requests per second, at most.", 20),
    "ApiKey.created_at": ("When it was made.", "2026-03-02T09:00:00.120Z"),
    "NewApiKey.created_at": ("When it was made.", "2026-03-02T09:00:00.120Z"),
    "ApiKey.expires_at": ("When it ends by itself; null: never.", None),
    "NewApiKey.expires_at": ("When it ends by itself; null: never.", None),
    "MakeApiKey.expires_at": ("When it ends by itself.", "2030-03-02T09:00:00Z"),
    "last_used_at": ("When it was used last, to the minute; null: never.", None),
    "old_secret_expires_at": ("When the secret before ends; null: there is none.", None),
    "RotatedApiKey.old_secret_expires_at": (
        "When the secret before ends, and the tokens that were got with it.",
        "2026-03-03T09:00:00.120Z",
    ),
    "overlap_seconds": ("How long the secret before goes on working, in seconds: 0 to 604,800.", 86_400),
    "RevokedApiKey.revoked": ("The key is dead, and its tokens are.", True),
}
