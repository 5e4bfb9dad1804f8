"""Settings of signing in through an OpenID Connect provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from shared.environment import SettingsError, switch

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MAX_PROVIDER_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID Connect provider, and this installation as its client."""

    issuer: str
    """The provider's issuer identifier, exactly as it is in its ID tokens."""
    client_id: str
    client_secret: str
    name: str
    """The provider's name, for buttons."""
    only: bool = False
    """Whether people sign in only through the provider, and not by password."""


def oidc_settings(env: Mapping[str, str]) -> OidcSettings | None:
    """The provider from environment variables; None without OIDC_ISSUER. Raises SettingsError."""
    issuer, only = env.get("OIDC_ISSUER", ""), switch(env, "OIDC_ONLY")
    if not issuer:
        if only:
            raise SettingsError("OIDC_ONLY=1 without OIDC_ISSUER would let nobody sign in. Set both, or neither.")
        return None
    if not is_safe_url(issuer) or urlsplit(issuer).query or urlsplit(issuer).fragment:
        raise SettingsError(
            f"OIDC_ISSUER is {issuer!r}; it takes an https:// URL, exactly as the provider names it as `issuer`."
        )
    needed = {name: env.get(name, "") for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")}
    for variable, value in needed.items():
        if not value:
            raise SettingsError(f"{variable} is not set, and OIDC_ISSUER is. The provider shows it with its client.")
        if not (value.isascii() and value.isprintable()):
            raise SettingsError(f"{variable} has characters other than printable ASCII. Copy it from the provider.")
    name = env.get("OIDC_NAME", "").strip() or str(urlsplit(issuer).hostname)
    if len(name) > MAX_PROVIDER_NAME_LENGTH or not name.isprintable():
        raise SettingsError(f"OIDC_NAME is {name!r}; it takes at most {MAX_PROVIDER_NAME_LENGTH} printable characters.")
    return OidcSettings(issuer, needed["OIDC_CLIENT_ID"], needed["OIDC_CLIENT_SECRET"], name, only)


def is_safe_url(url: str) -> bool:
    """Whether a secret may be sent to the URL: over TLS, or to this machine."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError if it is no number
    except ValueError:
        return False
    if not parts.hostname or parts.username or not url.isascii() or not url.isprintable() or " " in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
