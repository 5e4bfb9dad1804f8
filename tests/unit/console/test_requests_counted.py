"""The console's requests in the metrics of its host."""

import pytest

from console.app import create_app
from console.settings import Settings
from shared.observability.metrics import PROCESS


@pytest.mark.parametrize(
    ("path", "page", "status"),
    [
        ("/healthz", "accounts.health", 200),
        ("/accounts/guessed/live/sends/", "sends.index", 302),
        ("/no/such/page", "", 404),
    ],
)
def test_responses_are_counted_by_page_and_status(path: str, page: str, status: int) -> None:
    def counted() -> tuple[float, float]:
        requests = PROCESS.get_sample_value("bulksms_console_requests_total", {"page": page, "status": str(status)})
        durations = PROCESS.get_sample_value("bulksms_console_request_duration_seconds_count", {"page": page})
        return requests or 0.0, durations or 0.0

    before = counted()
    client = create_app(Settings("a-secret-key-of-the-console-alone")).test_client()
    assert client.get(path).status_code == status
    assert counted() == (before[0] + 1, before[1] + 1)
