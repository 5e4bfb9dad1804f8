"""A send to a large group: the API accepts it in constant time, and workers expand it page by page."""

import json
import time

from bench.measure import MESSAGES, conclude, ends, measured
from bench.result import Case, Result
from bench.stand import SENDER, TEXT, Stand


def run(result: Result) -> None:
    """Measure a send to 1,000,000 contacts, with --short to 100,000."""
    count = 100_000 if result.short else 1_000_000
    with Stand(receipts=False) as stand:
        conclude(result, stand, (_case(stand, count) for _ in range(1)))


def _case(stand: Stand, count: int) -> Case:
    group = stand.group(count)
    before = stand.meter.memory()
    case = measured(stand, f"{count:,} contacts", lambda: send(stand, group, count), statistics=count <= 100_000)
    for name in ("api", "worker"):
        case.figures[f"{name} MiB before"], case.figures[f"{name} MiB peak"] = before[name], case.rss_mib[name]
    return case


def send(stand: Stand, group: str, count: int) -> dict[str, float]:
    """Post the group send, and wait for its end."""
    body = json.dumps({"sender_id": SENDER, "group_id": group, "message": TEXT}).encode()
    begun = time.monotonic()
    stand.post("/sms/send-group", body)
    return {MESSAGES: count, "answer ms": (time.monotonic() - begun) * 1000, **ends(stand, begun, count)}
