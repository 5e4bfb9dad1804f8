"""How API keys look, and how their secrets are kept."""

import re

import pytest

from shared.api_key import checksum, hash_secret, make_key, matches, networks, same

PEPPER = "a-secret-of-the-installation-for-tests"
SECRET = re.compile(r"smss_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})")


def test_it_works() -> None:
    key, test_key = make_key(), make_key(test=True)
    assert re.fullmatch(r"smsk_live_[0-9A-Za-z]{12}", key.api_key)
    assert re.fullmatch(r"smsk_test_[0-9A-Za-z]{12}", test_key.api_key)
    assert key.api_secret != test_key.api_secret


def test_a_scanner_can_tell_a_secret_from_what_only_looks_like_one() -> None:
    secret = make_key().api_secret
    found = SECRET.fullmatch(secret)
    assert found is not None
    assert checksum(found[1]) == found[2]
    swapped = found[1][1:] + found[1][0]
    assert swapped == found[1] or checksum(swapped) != found[2]


def test_the_stored_hash_needs_the_secret_key_of_the_installation() -> None:
    secret = make_key().api_secret
    kept = hash_secret(secret, PEPPER)
    assert len(kept) == 36 and secret.encode() not in kept
    assert same(kept, hash_secret(secret, PEPPER))
    assert not same(kept, hash_secret(secret, PEPPER + "x"))
    assert matches(kept, secret, ["another", PEPPER]) and matches(kept[4:], secret, [PEPPER])
    assert not matches(kept, secret, ["another"]) and not matches(kept, secret + "x", [PEPPER])
    assert not same(kept, hash_secret("é😀", PEPPER))


def test_networks_are_written_without_bits_of_a_host() -> None:
    assert [str(network) for network in networks(["192.0.2.0/24", "2001:db8::1"])] == [
        "192.0.2.0/24",
        "2001:db8::1/128",
    ]
    with pytest.raises(ValueError, match=r"192\.0\.2\.1/24"):
        networks(["192.0.2.1/24"])
