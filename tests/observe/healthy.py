"""Healthy traffic for an hour, under the rules of deploy/observe as they are: no alert may fire.

Single sends, passwords, lists and groups are accepted and submitted over SMPP, receipts come, webhooks are posted,
imports and audits run. One line is printed each minute; an alert ends the run with exit code 1.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.harness.receiver import receiver
from tests.hostile.jobs import import_file
from tests.observe.prometheus import RULES
from tests.observe.watched import Watched, phones, send, send_one, watch

SCRAPE_SECONDS = 15
SINGLE_SENDS_OF_MINUTE = 120
RECIPIENTS = 1_000
"""Of the list and of the group of each minute."""
SETTLED_MINUTES = 3
"""What starts may be reported for so long; the minutes of health are counted from then on."""


def numbers(first: int) -> Iterator[int]:
    """Phone numbers, none of them twice."""
    while True:
        yield first
        first += 1


def send_for_a_minute(watched: Watched, group: str, singles: Iterator[int], minute: int) -> set[str]:
    """The traffic of a minute; the alerts that fired in it."""
    until = time.monotonic() + 60
    firing: set[str] = set()
    send(watched.service, phones(RECIPIENTS, 255_720_000_000 + RECIPIENTS * minute))
    watched.service.post("/sms/send-group", sender_id="ACME", group_id=group, message=f"Minute {minute}")
    if minute % 10 == 0:
        import_file(watched.service, group, b"phone\n%d\n" % (255_740_000_000 + minute))
    for number in range(SINGLE_SENDS_OF_MINUTE):
        category = "authentication" if number % 2 else "transactional"
        send_one(watched.service, str(next(singles)), category)
        if number % 10 == 0:
            firing |= watched.prometheus.firing()
        time.sleep(max(0.0, (until - time.monotonic()) / (SINGLE_SENDS_OF_MINUTE - number)))
    return firing | watched.prometheus.firing()


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    minutes = parser.parse_args().minutes
    folder = Path(tempfile.mkdtemp(prefix="healthy-"))
    fired: set[str] = set()
    try:
        with watch(folder, RULES.read_text(), SCRAPE_SECONDS) as watched, receiver() as posts:
            watched.service.post("/webhooks", url=posts.url, events=["message.delivered", "send.completed"])
            group = watched.service.new_group(
                watched.service.scalar("SELECT id FROM account WHERE name = 'acme'"), RECIPIENTS
            )
            singles = numbers(255_711_000_000)
            for minute in range(SETTLED_MINUTES + minutes):
                firing = send_for_a_minute(watched, group, singles, minute)
                fired |= firing if minute >= SETTLED_MINUTES else set()
                submitted = watched.prometheus.value('sum(bulksms_messages_total{status="sent"})') or 0
                print(
                    f"{datetime.now(UTC):%H:%M} minute {minute + 1 - SETTLED_MINUTES}: {submitted:.0f} messages"
                    f" submitted, firing: {', '.join(sorted(firing)) or 'none'}",
                    flush=True,
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{minutes} minutes of healthy traffic; alerts that fired: {', '.join(sorted(fired)) or 'none'}")
    return 1 if fired else 0


if __name__ == "__main__":
    sys.exit(main())
