"""One-time passwords, as RFC 6238 has them."""

from base64 import b32encode
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from shared.people.second_factor import code_at, matching_step, new_totp_secret, uri_of

SECRET = b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ],
)
def test_the_codes_are_those_of_rfc_6238_appendix_b(seconds: int, code: str) -> None:
    assert matching_step(SECRET, code, seconds) == seconds // 30


@pytest.mark.parametrize(("late", "accepted"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_clocks_may_differ_by_one_step(late: int, accepted: bool) -> None:
    now = 2_000_000_000
    assert (matching_step(SECRET, code_at(SECRET, (now + late) // 30), now) is not None) == accepted


@pytest.mark.parametrize("code", ["", "28708", "2870822", "٢٨٧٠٨٢", "abcdef", "-87082", "\ud800"])
def test_an_invalid_code_does_not_match(code: str) -> None:
    assert matching_step(SECRET, code, 59) is None


def test_secrets_are_random_and_the_uri_names_them() -> None:
    secret = new_totp_secret()
    assert secret != new_totp_secret() and len(secret) == 32
    uri = urlsplit(uri_of(secret, "ann@example.com"))
    assert (uri.scheme, uri.netloc, unquote(uri.path)) == ("otpauth", "totp", "/Bulk SMS:ann@example.com")
    assert parse_qs(uri.query) == {"secret": [secret], "issuer": ["Bulk SMS"]}
