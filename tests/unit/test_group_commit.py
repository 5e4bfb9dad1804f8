"""Who waits for the next group of a commit."""

from typing import cast

from api.commit.group_commit import MOST_TOGETHER, Line, Waiting

SOMEBODY = cast(Waiting, object())


def test_it_is_full_when_as_many_wait_as_were_expected() -> None:
    line = Line([SOMEBODY])
    assert line.take() == [SOMEBODY]
    assert not line.expect(2)
    line.add(SOMEBODY)
    assert not line.full.is_set()
    line.add(SOMEBODY)
    assert line.full.is_set()
    assert line.take() == [SOMEBODY] * 2


def test_whoever_came_during_the_commit_counts() -> None:
    line = Line()
    line.add(SOMEBODY)
    assert line.expect(1)
    assert not line.expect(2)


def test_what_was_full_once_is_not_full_the_next_time() -> None:
    line = Line()
    line.expect(1)
    line.add(SOMEBODY)
    line.take()
    assert not line.expect(1)
    assert not line.full.is_set()


def test_a_group_is_bounded() -> None:
    line = Line([SOMEBODY] * (MOST_TOGETHER + 1))
    assert len(line.take()) == MOST_TOGETHER
    assert line.take() == [SOMEBODY]
    assert line.take() == []
