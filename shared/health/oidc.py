"""The finding of `bulksms doctor` about the OpenID Connect provider."""

from collections.abc import Iterator

from shared.health.finding import Finding
from shared.oidc.http import ProviderUnavailable
from shared.oidc.provider import provider_of
from shared.settings import Settings

REMEDY = "Check OIDC_ISSUER, and that this machine can reach it. Until then, people sign in with a password or a link."


def check_oidc(settings: Settings) -> Iterator[Finding]:
    """Yield a finding if people can sign in through a provider."""
    provider = provider_of(settings)
    if provider is None:
        return
    name = f"sign-in by {provider.settings.name}"
    try:
        provider.check()
    except ProviderUnavailable as reason:
        yield Finding(name, "wrong", f"{provider.settings.issuer}: {reason}", REMEDY)
    else:
        yield Finding(
            name, "ok", f"{provider.settings.issuer} answers; its client needs the redirect URI {provider.redirect_uri}"
        )
