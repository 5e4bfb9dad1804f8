"""How many calls of people who are not signed in are under way."""

from contextlib import ExitStack

import pytest
from bulksms_client.errors import ApiError

from console.before_sign_in import MOST_CALLS, MOST_CALLS_OF_ADDRESS, Bound


def refused(bound: Bound, address: str) -> bool:
    try:
        with bound.call(address):
            return False
    except ApiError as error:
        assert (error.status, error.code) == (429, "rate_limited")
        return True


def test_an_address_has_its_share_and_no_more() -> None:
    bound = Bound()
    with ExitStack() as calls:
        for _ in range(MOST_CALLS_OF_ADDRESS):
            calls.enter_context(bound.call("192.0.2.1"))
        assert refused(bound, "192.0.2.1") and not refused(bound, "192.0.2.2")
    assert not refused(bound, "192.0.2.1")


def test_all_addresses_together_are_bound() -> None:
    bound = Bound()
    with ExitStack() as calls:
        for number in range(MOST_CALLS):
            calls.enter_context(bound.call(f"192.0.2.{number}"))
        assert refused(bound, "198.51.100.1")
    assert not refused(bound, "198.51.100.1")


def test_a_call_that_fails_is_over() -> None:
    bound = Bound(most=1, most_of_address=1)
    with pytest.raises(ApiError, match="invalid_link"), bound.call("192.0.2.1"):
        raise ApiError(401, {"code": "invalid_link"})
    assert not refused(bound, "192.0.2.1")
