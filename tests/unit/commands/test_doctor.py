"""How `bulksms doctor` ends if no check failed."""

from bulksms.commands.doctor import verdict
from shared.health.finding import Finding
from shared.settings import SIMULATED

OK, SIMULATOR = Finding("queue", "ok", "nothing waits"), Finding("carriers", "notice", SIMULATED)
PAUSED = Finding("carrier main", "notice", "paused", "bulksms carriers resume main")


def test_it_works() -> None:
    assert verdict([OK, OK]) == "All is well."
    assert verdict([OK, SIMULATOR]) == f"All is well. {SIMULATED}"


def test_what_needs_a_look_is_not_all_well() -> None:
    assert verdict([OK, PAUSED]) == "No check failed. Look at 1 notice marked !."
    assert verdict([PAUSED, SIMULATOR, PAUSED]) == f"No check failed. Look at 2 notices marked !. {SIMULATED}"
