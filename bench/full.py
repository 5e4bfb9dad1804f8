"""5,000 messages, ten of them to phones whose queue is full at the carrier, beside the same without such phones."""

import json
import time
from datetime import UTC, datetime, timedelta
from statistics import median

from bench.measure import MESSAGES, warm_up
from bench.result import Case, Result
from bench.stand import OPEN, PATIENCE, SENDER, TEXT, Stand, Stuck, wait_until
from shared.audit.check import audit

PHONES, FULL = 5_000, 10
"""Phones of a send, and how many of them are full."""
PREFIX = 254_799_900_000
"""The full phones, which the SMSC knows by their first digits."""
WINDOW, ROUND_TRIP = 100, 0.05
VALIDITY = 60
"""Seconds; then the messages to full phones expire."""
POLL_SECONDS = 0.005
TIMES = 15
"""Repetitions of both, in turn."""


def run(result: Result) -> None:
    """Measure both, and check that the messages to full phones have expired by themselves."""
    times = 3 if result.short else TIMES
    result.note = f"Medians of {times} repetitions of each case, in turn."
    with Stand(receipts=False, window=WINDOW, round_trip=ROUND_TRIP, full=str(PREFIX)[:7]) as stand:
        result.smsc = stand.smsc.kind
        warm_up(stand)
        rates = [(_rate(stand, 0), _rate(stand, FULL)) for _ in range(times)]
        wait_until(lambda: not stand.scalar(OPEN), VALIDITY + PATIENCE, "the end of the messages to full phones")
        without, beside = (median(each) for each in zip(*rates, strict=True))
        figures = {"submitted/s": beside, "of without": median(full / plain for plain, full in rates)}
        result.add(Case("without full phones", {MESSAGES: PHONES, "submitted/s": without}))
        result.add(Case(f"with {FULL} full phones", {MESSAGES: PHONES, **figures}))
        result.void += [f"audit: {breach.rule}: {breach.detail}" for breach in audit(stand.engine, full=True)]
        if (expired := stand.scalar("SELECT sum(expired) FROM send")) != times * FULL:
            result.void.append(f"{expired:,} messages expired, and not {times * FULL:,}")
        if duplicates := stand.smsc.counts()["duplicates"]:
            result.void.append(f"{duplicates:,} messages were submitted twice")


def _rate(stand: Stand, full: int) -> float:
    """Send to all phones. Returns messages per second until the last one that is not to a full phone."""
    phones = list(stand.phones(PHONES - full))
    for number in range(full):
        phones.insert(number * PHONES // full, PREFIX + number)
    expires_at = (datetime.now(UTC) + timedelta(seconds=VALIDITY)).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"sender_id": SENDER, "phones": list(map(str, phones)), "message": TEXT, "expires_at": expires_at}
    expected, begun = stand.smsc.counts()["submits"] + PHONES - full, time.monotonic()
    stand.post("/sms/send-bulk", json.dumps(body).encode())
    while stand.smsc.counts()["submits"] < expected:
        if time.monotonic() > begun + PATIENCE:
            raise Stuck("The messages to the other phones were not submitted.")
        time.sleep(POLL_SECONDS)
    return (PHONES - full) / (time.monotonic() - begun)
