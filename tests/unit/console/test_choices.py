"""The console knows the service by its API only. Its own lists of states and events are the service's."""

from console.views import sends
from console.views.operator import accounts, sender_ids
from shared.lifecycle import ACCOUNT_STATES, SENDER_ID_STATES, MessageStatus, SendState


def test_sends_and_messages_can_be_filtered_by_every_status() -> None:
    assert sorted(sends.STATES) == sorted(SendState)
    assert sorted(sends.OUTCOMES) == sorted(MessageStatus)


def test_operators_can_filter_by_every_state() -> None:
    assert accounts.STATES == ACCOUNT_STATES
    assert sender_ids.STATES == SENDER_ID_STATES
