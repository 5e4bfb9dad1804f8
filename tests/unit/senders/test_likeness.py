"""Which sender IDs look like another account's."""

import pytest

from shared.senders.similarity import Name, alike, skeleton


def name(account: int, sender: str) -> Name:
    return Name(account, f"account {account}", sender, "pending")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("BE TA", "BETA"),
        ("BETA.", "beta"),
        ("AIpha", "ALPHA"),
        ("B0NUS", "BONUS"),
        ("rnobi", "MOBI"),
        ("BA-NK+", "BANK"),
    ],
)
def test_it_works(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


def test_names_that_read_differently_are_not_alike() -> None:
    assert len({skeleton(each) for each in ("ALPHA", "ALPHAS", "BETA", "BATE", "ACME")}) == 5


def test_the_names_of_one_account_may_be_alike() -> None:
    mine, too, theirs = name(1, "BETA"), name(1, "BETA."), name(2, "B ETA")
    assert alike([mine, too, name(3, "ACME")]) == {}
    assert alike([mine, too, theirs]) == {mine: [theirs], too: [theirs], theirs: [mine, too]}
