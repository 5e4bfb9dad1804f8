"""What follows from what is known about a database that was started anew."""

import pytest

from shared.guard.verdict import PATIENCE_SECONDS, SETTLE_SECONDS, STALE, Evidence, judge

RESTARTED = Evidence(
    mark=100,
    first=False,
    copied=False,
    promoted=False,
    synchronous=False,
    file_noted=False,
    witnessed=False,
    waited=0.0,
    missing=0,
    known=0,
    lost=0,
)
PROMOTED = RESTARTED._replace(promoted=True, known=100)


def outcomes(found: Evidence) -> list[str]:
    """At once, when processes have settled, and when patience is over."""
    return [judge(found._replace(waited=waited)).outcome for waited in (0.0, SETTLE_SECONDS, PATIENCE_SECONDS)]


def test_it_works() -> None:
    assert judge(RESTARTED).outcome == "confirm"


@pytest.mark.parametrize(
    "known",
    [
        RESTARTED._replace(copied=True),
        RESTARTED._replace(known=101),
        RESTARTED._replace(lost=1),
        RESTARTED._replace(first=True, known=101),
        RESTARTED._replace(first=True, lost=1),
    ],
)
@pytest.mark.parametrize("promoted", [True, False])
@pytest.mark.parametrize("synchronous", [True, False])
def test_a_witnessed_loss_holds_in_every_case(known: Evidence, promoted: bool, synchronous: bool) -> None:
    found = known._replace(promoted=promoted, synchronous=synchronous, witnessed=True)
    assert outcomes(found) == ["hold"] * 3
    assert judge(found).reason


@pytest.mark.parametrize("synchronous", [True, False])
def test_a_promoted_standby_that_every_worker_finds_complete_goes_on(synchronous: bool) -> None:
    assert outcomes(PROMOTED._replace(synchronous=synchronous)) == ["wait", "confirm", "confirm"]


def test_an_asynchronous_standby_is_held_if_a_worker_stays_missing() -> None:
    assert outcomes(PROMOTED._replace(missing=1)) == ["wait", "wait", "hold"]


def test_a_synchronous_standby_is_confirmed_even_if_a_worker_stays_missing() -> None:
    assert outcomes(PROMOTED._replace(missing=1, synchronous=True)) == ["wait", "wait", "confirm"]


@pytest.mark.parametrize("synchronous", [True, False])
def test_a_recovered_backup_without_a_witness_is_held(synchronous: bool) -> None:
    found = PROMOTED._replace(known=0, synchronous=synchronous)
    assert outcomes(found) == ["wait", "wait", "hold"]
    assert outcomes(found._replace(witnessed=True)) == ["wait", "confirm", "confirm"], "another process knew its mark"


def test_a_note_that_was_in_a_file_is_required() -> None:
    found = RESTARTED._replace(file_noted=True)
    assert outcomes(found) == ["wait", "wait", "hold"]
    assert outcomes(found._replace(known=100)) == ["confirm"] * 3
    assert outcomes(found._replace(known=100 - STALE)) == ["confirm"] * 3
    assert outcomes(found._replace(known=100 - STALE - 1)) == ["wait", "wait", "hold"], "notes of long ago"
