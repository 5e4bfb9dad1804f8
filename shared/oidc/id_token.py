"""Verifies ID tokens (OpenID Connect Core 1.0 §3.1.3.7)."""

from collections.abc import Mapping
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Signatures by a private key of the provider. `none`, and secrets that clients share (HS256), prove nothing here."""
LEEWAY = 60
"""Seconds by which the provider's clock may differ."""
MAX_SUBJECT_LENGTH = 255
"""Characters (OpenID Connect Core 1.0 §2)."""


class WrongIdToken(Exception):
    """The ID token is not one for us. The text says why."""


class KeyNotKnown(WrongIdToken):
    """The signature is by none of the keys. The provider may have new ones."""


def key_set(document: Mapping[str, Any]) -> KeySet:
    """The keys of a JSON Web Key Set. Those of other kinds than ours are left out (RFC 7517 §5)."""
    found = []
    listed = document.get("keys")
    for each in listed if isinstance(listed, list) else []:
        try:
            found.append(JWKRegistry.import_key(each))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return KeySet(found)


def verified_claims(id_token: str, keys: KeySet, *, issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """The claims of an ID token whose signature, issuer, audience, times and nonce are right.

    Raises KeyNotKnown, or WrongIdToken.
    """
    try:
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        token = jwt.decode(id_token, keys, registry=registry)
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise KeyNotKnown(f"signature: {type(error).__name__}") from None
    claims = CodeIDToken(
        token.claims,
        token.header,
        {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}},
        {"nonce": nonce, "client_id": client_id},
    )
    try:
        claims.validate(leeway=LEEWAY)
    except (JoseError, ValueError, TypeError) as error:
        raise WrongIdToken(f"claims: {error}"[:200]) from None
    subject = token.claims["sub"]
    if not (0 < len(subject) <= MAX_SUBJECT_LENGTH and subject.isascii() and subject.isprintable()):
        raise WrongIdToken("claims: the subject is not 1 to 255 ASCII characters")
    return dict(token.claims)
