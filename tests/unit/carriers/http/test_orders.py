"""Which requests messages become."""

from shared.carriers.http import HttpConfig
from shared.carriers.smpp.raw_part import RawPart
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.http.driver import HttpCarrier

CONFIG = HttpConfig.from_mapping(
    "web", {"request": {"url": "http://127.0.0.1:9/", "json": {"to": "{phone}"}}, "response": {"id": "id"}}
)


def test_a_part_that_came_over_smpp_is_refused_without_a_request() -> None:
    carrier = HttpCarrier(CONFIG)
    carrier.open(KeptInbox())
    try:
        [outcome] = carrier.submit([message_group("shown", ["254711000000"], part=RawPart(b"\0", 4))])
    finally:
        carrier.close()
    assert (outcome.response, outcome.error) == (ResponseKind.REJECTED, "part_needs_smpp")
