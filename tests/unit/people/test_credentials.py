"""Passwords, e-mail addresses, random secrets and the scopes of roles."""

import pytest
from argon2 import extract_parameters

from shared.observability.logs import scrub
from shared.people.passwords import OF_NOBODY, hash_password, is_outdated, password_problem, verify
from shared.people.persons import normalized_email
from shared.people.random_secrets import INVITATION, LINK, SESSION, hash_of, new_secret
from shared.people.roles import ROLE_SCOPES
from shared.scopes import DEFAULT_SCOPES, SCOPES
from tests.harness.authorization import CUSTOMERS


def test_a_password_is_hashed_as_owasp_recommends() -> None:
    stored = hash_password("a long enough password")
    parameters = extract_parameters(stored)
    assert stored.startswith("$argon2id$")
    assert (parameters.memory_cost, parameters.time_cost, parameters.parallelism) == (19 * 1024, 2, 1)
    assert verify(stored, "a long enough password") and not verify(stored, "another password")
    assert stored != hash_password("a long enough password")
    assert not is_outdated(stored) and is_outdated(
        "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A"
    )


@pytest.mark.parametrize("stored", [None, "", "not a hash"])
def test_without_a_stored_password_no_password_is_right(stored: str | None) -> None:
    assert not verify(stored, "the password of nobody")
    assert verify(OF_NOBODY, "the password of nobody") and not is_outdated(OF_NOBODY), "it would take another time"


@pytest.mark.parametrize(
    "password", ["", "elevenchars", "correct horse battery " * 10, "aaaaaaaaaaaaaaaa", "ANN.OTIENO@example.com"]
)
def test_weak_passwords(password: str) -> None:
    assert password_problem(password, "ann.otieno@example.com") is not None


@pytest.mark.parametrize(
    ("given", "email"),
    [
        (" Ann@Example.COM ", "ann@example.com"),
        ("a+b@x-y.example", "a+b@x-y.example"),
        ("ann", None),
        ("ann@localhost", None),
        ("ann@@example.com", None),
        ("an n@example.com", None),
        ("<b>ann</b>@example.com", None),
        ('"ann"@example.com', None),
        ("\u0430nn@example.com", None),
        ("ann@example.com\n.x", None),
        ("a" * 65 + "@example.com", None),
        ("a@" + "x" * 250 + ".example", None),
    ],
)
def test_email_addresses(given: str, email: str | None) -> None:
    assert normalized_email(given) == email


@pytest.mark.parametrize("prefix", [SESSION, INVITATION, LINK])
def test_secrets_have_256_random_bits_and_no_log_shows_them(prefix: str) -> None:
    secret = new_secret(prefix)
    assert secret.startswith(prefix) and len(secret) == len(prefix) + 43
    assert secret != new_secret(prefix) and len(hash_of(secret)) == 32
    assert secret[10:] not in scrub(f"GET /invitations/{secret} failed")


def test_no_role_has_more_than_the_next_one() -> None:
    assert set(ROLE_SCOPES["viewer"]) < set(ROLE_SCOPES["sender"]) < set(ROLE_SCOPES["owner"]) == set(SCOPES)
    assert all(scope.endswith(":read") for scope in ROLE_SCOPES["viewer"])
    assert not {"keys:read", "people:read"} & set(ROLE_SCOPES["sender"])
    assert set(ROLE_SCOPES["sender"]) - set(ROLE_SCOPES["viewer"]) == {"sms:send", "groups:write", "suppressions:write"}
    assert "people:read" not in DEFAULT_SCOPES


def test_a_role_has_the_scopes_of_the_routes_that_it_may_use() -> None:
    for route in (each for each in CUSTOMERS.values() if each.needs_scopes):
        assert route.roles == {role for role, scopes in ROLE_SCOPES.items() if set(route.scopes) <= set(scopes)}, route
