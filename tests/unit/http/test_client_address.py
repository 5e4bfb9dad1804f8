"""Where a request comes from, and which addresses belong together."""

import pytest

from api.http.client_address import address_of
from shared.address_block import address_block
from shared.api_key import is_within, networks
from shared.settings import SettingsError, from_environment

PROXIES = networks(["10.0.0.0/8", "2001:db8::/32"])


def seen(peer: str, forwarded: str | None = None, trusted: object = PROXIES) -> str:
    environ = {"REMOTE_ADDR": peer} | ({} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded})
    return address_of(environ, trusted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("198.51.100.7", "1.2.3.4", "198.51.100.7"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", " , ,", "10.0.0.1"),
        ("10.0.0.1", "1.2.3.4, 198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("10.0.0.1", "10.0.0.9, 10.0.0.2", "10.0.0.9"),
        ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("2001:db8::1", "2001:db9::5", "2001:db9::5"),
        ("", "1.2.3.4", ""),
    ],
)
def test_only_the_header_of_a_trusted_proxy_counts(peer: str, forwarded: str | None, address: str) -> None:
    assert seen(peer, forwarded) == address


def test_no_proxy_is_trusted_by_default() -> None:
    assert seen("10.0.0.1", "198.51.100.7", trusted=()) == "10.0.0.1"


@pytest.mark.parametrize(
    ("address", "within"),
    [("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("11.0.0.1", False), ("2001:db8::9", True), ("x", False)],
)
def test_an_address_is_within_a_network_or_not(address: str, within: bool) -> None:
    assert is_within(address, PROXIES) is within


def test_one_client_has_one_address_or_a_whole_64() -> None:
    assert address_block("192.0.2.1") == address_block("::ffff:192.0.2.1") == "192.0.2.1"
    assert address_block("2001:db8:1:2:3::4") == address_block("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert address_block("not an address") == "not an address"


def test_the_setting_names_what_is_wrong() -> None:
    env = {"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "x" * 32}
    assert from_environment({**env, "TRUSTED_PROXIES": "10.0.0.0/8, ::1"}).trusted_proxies == networks(
        ["10.0.0.0/8", "::1"]
    )
    with pytest.raises(SettingsError, match=r"TRUSTED_PROXIES: .*10\.0\.0\.1/8"):
        from_environment({**env, "TRUSTED_PROXIES": "10.0.0.1/8"})


def test_only_a_bounded_number_of_proxies_is_followed() -> None:
    """Of a chain that is longer than any, what its beginning says does not count."""
    assert seen("10.0.0.1", "198.51.100.7," + ",".join(["10.0.0.2"] * 5_000)) == "10.0.0.2"
