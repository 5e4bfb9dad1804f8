"""How many calls of people who are not signed in are under way."""

from contextlib import ExitStack

import pytest
from bulksms_client.errors import ApiError

from console.session import current
from console.session.before_sign_in import MOST_CALLS, MOST_CALLS_OF_ADDRESS, MOST_OF_REFUSED, bound
from console.session.call_limits import MANY_REFUSALS, SECONDS_EACH, CallLimits, RefusedCalls, client_of
from console.session.current import Api


def unforgotten() -> RefusedCalls:
    """Refusals while time stands still."""
    return RefusedCalls(lambda: 0.0)


def refused(bound: CallLimits, address: str) -> bool:
    try:
        with bound.call(address):
            return False
    except ApiError as error:
        assert (error.status, error.code) == (429, "rate_limited")
        return True


def test_an_address_has_its_share_and_no_more() -> None:
    places = bound(unforgotten())
    with ExitStack() as calls:
        for _ in range(MOST_CALLS_OF_ADDRESS):
            calls.enter_context(places.call("192.0.2.1"))
        assert refused(places, "192.0.2.1") and not refused(places, "192.0.2.2")
    assert not refused(places, "192.0.2.1")


def test_all_addresses_together_are_bound() -> None:
    places = bound(unforgotten())
    with ExitStack() as calls:
        for number in range(MOST_CALLS):
            calls.enter_context(places.call(f"192.0.2.{number}"))
        assert refused(places, "198.51.100.1")
    assert not refused(places, "198.51.100.1")


def refuse(places: CallLimits, address: str, code: str = "invalid_credentials") -> None:
    """Have the API refuse a call."""
    with pytest.raises(ApiError, match=code), places.call(address):
        raise ApiError(401, {"code": code})


def test_addresses_with_many_refusals_leave_places_for_others() -> None:
    """The API answers them late, so they could hold all places."""
    places, hostile = bound(unforgotten()), [f"192.0.2.{number}" for number in range(4)]
    for address in hostile:
        for _ in range(int(MANY_REFUSALS) + 1):
            refuse(places, address)
    with ExitStack() as calls:
        for address in hostile[:MOST_OF_REFUSED]:
            calls.enter_context(places.call(address))
            assert refused(places, address)
        assert refused(places, hostile[-1])
        assert not refused(places, "198.51.100.1")


def test_within_a_session_addresses_with_many_refusals_have_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six, and each of them three."""
    monkeypatch.setattr(current, "RefusedCalls", unforgotten)
    places, hostile = Api("http://127.0.0.1:9").bound, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
    for address in hostile:
        for _ in range(int(MANY_REFUSALS) + 1):
            refuse(places, address)
    with ExitStack() as calls:
        for address in hostile[:2]:
            for _ in range(3):
                calls.enter_context(places.call(address))
            assert refused(places, address)
        assert refused(places, hostile[-1])
        assert not refused(places, "198.51.100.1")


def test_refusals_are_forgotten() -> None:
    now = [0.0]
    refusals = RefusedCalls(lambda: now[0])
    for _ in range(100):
        refusals.note("192.0.2.1")
    assert refusals.has_many("192.0.2.1") and not refusals.has_many("192.0.2.2")
    now[0] += 2 * MANY_REFUSALS * SECONDS_EACH
    assert not refusals.has_many("192.0.2.1")


def test_the_oldest_address_is_forgotten_first() -> None:
    refusals = RefusedCalls(lambda: 0.0)
    for _ in range(int(MANY_REFUSALS)):
        refusals.note("192.0.2.1")
    for number in range(10_000):
        assert refusals.has_many("192.0.2.1")
        refusals.note(str(number))
    assert not refusals.has_many("192.0.2.1")


def test_one_client_has_one_block_of_addresses() -> None:
    assert client_of("2001:db8:1:2:3::4") == client_of("2001:db8:1:2:ffff::1") != client_of("2001:db8:1:3::4")
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1") == "192.0.2.1"
    assert client_of("unknown") == "unknown"
