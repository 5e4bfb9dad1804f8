"""The console's own lists, which are in the order of its pages, have everything that the API has."""

from console.views.sends import OUTCOMES
from console.views.webhooks import EVENTS
from shared.lifecycle import MessageStatus
from shared.outbox import EventType


def test_messages_can_be_filtered_by_every_status() -> None:
    assert sorted(OUTCOMES) == sorted(MessageStatus)


def test_a_webhook_can_have_every_event_but_its_test() -> None:
    assert sorted(EVENTS) == sorted(set(EventType) - {EventType.WEBHOOK_TEST})
