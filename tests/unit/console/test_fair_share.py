"""What sessions and accounts hold of the process."""

from console.load.fair_share import Share, client_of


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


def test_one_client_has_one_block_of_addresses() -> None:
    assert client_of("2001:db8:1:2:3::4") == client_of("2001:db8:1:2:ffff::1") != client_of("2001:db8:1:3::4")
    assert client_of("::ffff:192.0.2.1") == client_of("192.0.2.1") == "192.0.2.1"
    assert client_of("unknown") == "unknown"
