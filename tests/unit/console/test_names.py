"""The console has a word for whatever the API names, and offers what the API takes."""

from api.resources.sends.bottleneck import REASONS
from console.pages import formats
from console.views import api_keys, sends, webhooks
from shared.lifecycle import LANES, MessageStatus, SendState
from shared.outbox import EventType
from shared.scopes import DEFAULT_SCOPES, SCOPES


def test_every_scope_has_a_text() -> None:
    assert set(formats.SCOPES) == set(SCOPES)
    assert set(api_keys.USUAL) <= set(DEFAULT_SCOPES)


def test_every_state_has_a_word_and_can_be_looked_for() -> None:
    assert set(sends.STATES) == set(map(str, SendState))
    assert set(sends.OUTCOMES) == set(map(str, MessageStatus))
    assert {*sends.STATES, *sends.OUTCOMES} <= set(formats.STATUSES)


def test_every_event_can_be_chosen() -> None:
    assert set(webhooks.EVENTS) == set(map(str, EventType)) - {"webhook.test"}


def test_every_category_and_limit_has_a_word() -> None:
    assert set(formats.CATEGORIES) == set(map(str, LANES))
    assert set(REASONS) <= set(formats.LIMITED_BY)
