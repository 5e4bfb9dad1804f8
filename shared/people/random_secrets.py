"""Random secrets of sessions, invitations and links. Only their hashes are stored.

    session       smsp_ and 43 characters (256 random bits)
    invitation    smsv_ and 43 characters
    sign-in link  smsl_ and 43 characters

A secret of 256 random bits cannot be guessed from its hash, so a plain SHA-256 is enough, and no change of SECRET_KEY
ends a session.
"""

import hashlib
import secrets

SESSION, INVITATION, LINK = "smsp_", "smsv_", "smsl_"
SECRET_BYTES = 32


def new_secret(prefix: str) -> str:
    """A random secret of the kind that the prefix names."""
    return prefix + secrets.token_urlsafe(SECRET_BYTES)


def hash_of(secret: str) -> bytes:
    """The stored form of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
