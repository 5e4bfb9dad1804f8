"""What sessions and accounts hold of the process."""

from console.load.fair_share import Share


def test_an_owner_has_its_share_and_no_more() -> None:
    share = Share()
    assert [share.hold("ann", 2) for _ in range(3)] == [True, True, False]
    assert share.hold("ben", 2)
    share.release("ann")
    assert share.hold("ann", 2)


def test_owners_who_hold_nothing_are_forgotten() -> None:
    share = Share()
    for number in range(100):
        assert share.hold(number, 1)
        share.release(number)
    assert len(share) == 0
