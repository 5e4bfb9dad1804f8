"""Who waits for the next group of a commit."""

from typing import cast

from api.commit.group_commit import MAX_GROUP, AccountQueue, QueuedDraft

SOMEBODY = cast(QueuedDraft, object())


def test_a_group_is_full_when_the_expected_number_waits() -> None:
    queue = AccountQueue([SOMEBODY])
    assert queue.take() == [SOMEBODY]
    assert not queue.expect(2)
    queue.add(SOMEBODY)
    assert not queue.full.is_set()
    queue.add(SOMEBODY)
    assert queue.full.is_set()
    assert queue.take() == [SOMEBODY] * 2


def test_a_send_that_came_during_the_commit_counts() -> None:
    queue = AccountQueue()
    queue.add(SOMEBODY)
    assert queue.expect(1)
    assert not queue.expect(2)


def test_half_of_a_large_number_is_taken_and_the_rest_is_checked_meanwhile() -> None:
    queue = AccountQueue([SOMEBODY] * 100)
    assert [len(queue.take()) for _ in range(3)] == [50, 50, 0]


def test_a_group_is_bounded() -> None:
    queue = AccountQueue([SOMEBODY] * 10 * MAX_GROUP)
    assert len(queue.take()) == MAX_GROUP
