"""An OpenID Connect provider, as its client sees it: authorization code flow with PKCE (RFC 7636)."""

import hmac
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.discovery import get_well_known_url
from joserfc.jwk import KeySet

from shared.oidc.http import ProviderUnavailable, Response, fetch, run
from shared.oidc.id_token import KeyNotKnown, WrongIdToken, key_set, verified_claims
from shared.oidc_settings import OidcSettings, is_safe_url
from shared.people.persons import MAX_PERSON_NAME_LENGTH, normalized_email
from shared.settings import Settings

if TYPE_CHECKING:
    from aiohttp import ClientSession

CALLBACK = "/sign-in/oidc/callback"
"""The page of the console to which the provider sends browsers back."""
SCOPE = "openid email profile"
METADATA_SECONDS = 3600.0
"""For how long metadata and keys are kept. Keys are also fetched again for a signature that is by none of them."""
REST_SECONDS = 5.0
"""How long a provider whose metadata could not be read is not asked again."""
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
FORM = "application/x-www-form-urlencoded"


class CodeRefused(Exception):
    """The provider does not accept the code: it is wrong, was used before, or is too old."""


class Identity(NamedTuple):
    """Who the provider says that somebody is. Issuer and subject never change; e-mail address and name may."""

    issuer: str
    subject: str
    email: str | None
    """In lower case; None unless the provider has verified it."""
    name: str


class _Known(NamedTuple):
    """Metadata and keys, and the time on the monotonic clock until which they are used."""

    metadata: dict[str, Any]
    keys: KeySet
    until: float


class Provider:
    """The provider of the settings. Several threads may use it; each call blocks for at most SECONDS of `http`."""

    def __init__(self, settings: OidcSettings, redirect_uri: str) -> None:
        self.settings = settings
        self.redirect_uri = redirect_uri
        """Where it sends browsers back; it must be registered with the provider."""
        self._known: _Known | None = None
        self._failure = ("", 0.0)
        """Why the metadata could not be read, and until when it is not tried again."""

    def check(self) -> None:
        """Read metadata and keys again. Raises ProviderUnavailable."""
        run(self._read)

    def authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        """Where to send a browser to sign in. Raises ProviderUnavailable."""
        known = self._current() or run(self._discover)
        url: str = prepare_grant_uri(
            known.metadata["authorization_endpoint"],
            self.settings.client_id,
            "code",
            redirect_uri=self.redirect_uri,
            scope=SCOPE,
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return url

    def identity(self, code: str, nonce: str, verifier: str) -> Identity:
        """Who has signed in, for the code that the browser has brought.

        Raises CodeRefused, WrongIdToken or ProviderUnavailable.
        """

        async def exchange(session: "ClientSession") -> Identity:
            known = self._current() or await self._discover(session)
            tokens = await self._redeem(session, known, code, verifier)
            claims = await self._verify(session, known, str(tokens.get("id_token", "")), nonce)
            if "email" not in claims and known.metadata.get("userinfo_endpoint") and tokens.get("access_token"):
                claims = await _with_userinfo(session, known, str(tokens["access_token"]), claims)
            return _identity(claims)

        return run(exchange)

    def _current(self) -> _Known | None:
        known = self._known
        return known if known is not None and time.monotonic() < known.until else None

    async def _discover(self, session: "ClientSession") -> _Known:
        reason, until = self._failure
        if time.monotonic() < until:
            raise ProviderUnavailable(reason)
        try:
            return await self._read(session)
        except BaseException as error:  # also when `run` cancels it, because it takes too long
            self._failure = (str(error) or "it did not respond in time", time.monotonic() + REST_SECONDS)
            raise

    async def _read(self, session: "ClientSession") -> _Known:
        """Read metadata (OpenID Connect Discovery 1.0 §4) and keys."""
        url = get_well_known_url(self.settings.issuer, external=True)
        status, metadata = await fetch(session, "GET", url)
        if status != 200 or not metadata:
            raise ProviderUnavailable(f"{url} has no metadata: its response was {status}")
        named = metadata.get("issuer")
        if named != self.settings.issuer:
            raise ProviderUnavailable(f"it names itself {str(named)[:200]!r}: set OIDC_ISSUER to exactly that")
        missing = [name for name in ENDPOINTS if not is_safe_url(str(metadata.get(name)))]
        if missing:
            raise ProviderUnavailable(f"its metadata has no https:// URL as {', '.join(missing)}")
        keys = await _keys(session, metadata)
        self._known = known = _Known(metadata, keys, time.monotonic() + METADATA_SECONDS)
        return known

    async def _redeem(self, session: "ClientSession", known: _Known, code: str, verifier: str) -> dict[str, Any]:
        """The tokens for a code."""
        body = prepare_token_request(
            "authorization_code", code=code, redirect_uri=self.redirect_uri, code_verifier=verifier
        )
        url = known.metadata["token_endpoint"]
        auth = ClientAuth(self.settings.client_id, self.settings.client_secret, _auth_method(known.metadata))
        url, headers, body = auth.prepare("POST", url, {"Content-Type": FORM}, body)
        response = await fetch(session, "POST", url, headers, body)
        if response.status == 200 and response.document:
            return response.document
        if response.document.get("error") == "invalid_grant":
            raise CodeRefused("invalid_grant")
        raise ProviderUnavailable(_refusal(response))

    async def _verify(self, session: "ClientSession", known: _Known, id_token: str, nonce: str) -> dict[str, Any]:
        """The claims of the ID token. Fetches new keys if the token is signed by none of those known."""
        expected = {"issuer": self.settings.issuer, "client_id": self.settings.client_id, "nonce": nonce}
        try:
            return verified_claims(id_token, known.keys, **expected)
        except KeyNotKnown:
            keys = await _keys(session, known.metadata)
            claims = verified_claims(id_token, keys, **expected)
            self._known = known._replace(keys=keys)
            return claims


def provider_of(settings: Settings) -> Provider | None:
    """The provider of an installation, if it has one."""
    return Provider(settings.oidc, settings.console_url + CALLBACK) if settings.oidc is not None else None


async def _keys(session: "ClientSession", metadata: dict[str, Any]) -> KeySet:
    status, document = await fetch(session, "GET", metadata["jwks_uri"])
    keys = key_set(document)
    if status != 200 or not keys:
        raise ProviderUnavailable(f"{metadata['jwks_uri']} has no keys: its response was {status}")
    return keys


async def _with_userinfo(
    session: "ClientSession", known: _Known, access_token: str, claims: dict[str, Any]
) -> dict[str, Any]:
    """The claims, with those that the provider gives only there (OpenID Connect Core 1.0 §5.3)."""
    headers = {"Authorization": f"Bearer {access_token}"}
    response = await fetch(session, "GET", str(known.metadata["userinfo_endpoint"]), headers)
    if response.status != 200:
        raise ProviderUnavailable(f"its response about the person was {response.status}")
    subject = response.document.get("sub")
    if not isinstance(subject, str) or not hmac.compare_digest(subject.encode(), claims["sub"].encode()):
        raise WrongIdToken("userinfo is about somebody else")
    return {**response.document, **claims}


def _identity(claims: dict[str, Any]) -> Identity:
    email, name = claims.get("email"), claims.get("name")
    verified = any(_is_true(claims.get(claim)) for claim in ("email_verified", "xms_edov"))
    known_email = normalized_email(email) if isinstance(email, str) and verified else None
    shown = "".join(letter for letter in name if letter.isprintable()).strip() if isinstance(name, str) else ""
    return Identity(
        claims["iss"],
        claims["sub"],
        known_email,
        shown[:MAX_PERSON_NAME_LENGTH] or (known_email or "").partition("@")[0],
    )


def _is_true(value: Any) -> bool:
    """Whether a claim is true; some providers write it as text. Entra ID has `xms_edov` instead of `email_verified`."""
    return value is True or value == 1 or value in ("true", "1")


def _auth_method(metadata: dict[str, Any]) -> str:
    """How to send the secret. In the body it needs no encoding that providers disagree about (RFC 6749 §2.3.1)."""
    supported = metadata.get("token_endpoint_auth_methods_supported")
    in_body = isinstance(supported, list) and "client_secret_post" in supported
    return "client_secret_post" if in_body else "client_secret_basic"


def _refusal(response: Response) -> str:
    error = str(response.document.get("error", ""))[:60]
    if error in ("invalid_client", "unauthorized_client"):
        return f"it refuses OIDC_CLIENT_ID or OIDC_CLIENT_SECRET ({error})"
    return f"its response to a code was {response.status} {error}".strip()
