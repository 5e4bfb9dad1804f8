"""Passwords, hashed with Argon2id.

The parameters are those that the OWASP Password Storage Cheat Sheet recommends as a minimum: 19 MiB of memory, two
iterations, one lane. One hash takes some 20 ms of a core.
"""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 200
"""Characters of a password."""
HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
OF_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$360D1VIwTZtAHNCny4fQHg$GzXHMP3J/LIp3YZSwCHTXvIbgCH2I3/62rsayt29+sI"
"""Compared with when there is no such person, so that the response takes as long. Hashed with today's parameters."""


def hash_password(password: str) -> str:
    """The stored form of a password."""
    return HASHER.hash(password)


def verify(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one. Takes as long if None is stored, and is then false."""
    try:
        return HASHER.verify(OF_NOBODY if stored is None else stored, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Whether the password was hashed with other parameters than today's."""
    return HASHER.check_needs_rehash(stored)


def password_problem(password: str, email: str) -> str | None:
    """What is wrong with a new password, or None."""
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        return f"A password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters."
    if password.lower() == email or len(set(password)) < 5:
        return "Choose a password that is harder to guess."
    return None
