"""How `bulksms doctor` ends if no check failed."""

from bulksms.commands.doctor import conclusion
from shared.health.finding import Finding
from shared.settings import SIMULATED

OK, SIMULATOR = Finding("queue", "ok", "nothing waits"), Finding("carriers", "notice", SIMULATED)
PAUSED = Finding("carrier main", "notice", "paused", "bulksms carrier resume main")


def test_it_works() -> None:
    assert conclusion([OK, OK]) == "All is well."
    assert conclusion([OK, SIMULATOR]) == f"All is well. {SIMULATED}"


def test_notices_are_counted_in_the_conclusion() -> None:
    assert conclusion([OK, PAUSED]) == "No check failed. Look at 1 notice marked !."
    assert conclusion([PAUSED, SIMULATOR, PAUSED]) == "No check failed. Look at 3 notices marked !."
