"""The states of a message, a send and a batch, and the ways between them."""

from shared.lifecycle import (
    ALLOWED_TRANSITIONS,
    CHARGED_STATUSES,
    LANE_WEIGHTS,
    LANES,
    OPEN_SENDS,
    STORED_STATUSES,
    Category,
    MessageStatus,
    SendState,
    as_sql,
)

RANK = list(MessageStatus)
NEVER_LEFT = {(MessageStatus.SENDING, MessageStatus.QUEUED)}
"""The one way back: the message certainly never left."""
FINAL = {
    MessageStatus.REJECTED,
    MessageStatus.FAILED,
    MessageStatus.CANCELED,
    MessageStatus.EXPIRED,
    MessageStatus.DELIVERED,
}


def test_it_works() -> None:
    assert MessageStatus.DELIVERED in ALLOWED_TRANSITIONS[MessageStatus.SENT]
    assert MessageStatus.UNDELIVERED not in ALLOWED_TRANSITIONS[MessageStatus.DELIVERED]
    assert as_sql(ALLOWED_TRANSITIONS[MessageStatus.SENT]) == "'delivered', 'undelivered'"


def test_a_message_never_goes_back() -> None:
    back = {
        (before, after)
        for before in ALLOWED_TRANSITIONS
        for after in ALLOWED_TRANSITIONS[before]
        if RANK.index(after) <= RANK.index(before)
    }
    assert back == NEVER_LEFT


def test_every_status_can_be_reached() -> None:
    reached, new = set[MessageStatus](), {MessageStatus.SCHEDULED}
    while new:
        reached |= new
        new = {after for before in new for after in ALLOWED_TRANSITIONS[before]} - reached
    assert reached == set(MessageStatus)


def test_nothing_follows_a_final_status() -> None:
    assert {status for status in MessageStatus if not ALLOWED_TRANSITIONS[status]} == FINAL


def test_from_every_status_an_end_can_be_reached() -> None:
    ended = set(FINAL)
    while more := {status for status in MessageStatus if ALLOWED_TRANSITIONS[status] & ended} - ended:
        ended |= more
    assert ended == set(MessageStatus)


def test_a_message_that_was_with_a_carrier_is_never_submitted_again() -> None:
    submitted = MessageStatus.SENDING
    for status in STORED_STATUSES:
        reached, new = set[MessageStatus](), {status}
        while new:
            reached |= new
            new = {after for before in new for after in ALLOWED_TRANSITIONS[before]} - reached
        assert submitted not in reached, status


def test_the_stored_statuses_are_in_doubt_and_all_after_it() -> None:
    assert list(STORED_STATUSES) == RANK[RANK.index(MessageStatus.IN_DOUBT) :]


def test_what_is_charged_stays_charged_and_only_a_doubt_is_charged_later() -> None:
    for status in CHARGED_STATUSES:
        assert ALLOWED_TRANSITIONS[status] <= CHARGED_STATUSES
    uncharged_then_charged = {
        (before, after)
        for before in STORED_STATUSES
        for after in ALLOWED_TRANSITIONS[before]
        if before not in CHARGED_STATUSES and after in CHARGED_STATUSES
    }
    assert {before for before, _ in uncharged_then_charged} == {MessageStatus.IN_DOUBT}


def test_open_sends_are_those_that_have_not_ended() -> None:
    assert set(SendState) - OPEN_SENDS == {SendState.COMPLETED, SendState.CANCELED}


def test_every_category_has_a_lane_and_earlier_lanes_weigh_more() -> None:
    assert set(LANES) == set(Category)
    assert LANES == (Category.AUTHENTICATION, Category.TRANSACTIONAL, Category.MARKETING)
    assert len(LANES) == len(LANE_WEIGHTS)
    assert list(LANE_WEIGHTS) == sorted(LANE_WEIGHTS, reverse=True)
    assert min(LANE_WEIGHTS) == 1, "no lane is starved"
